"""What crosses DRAM for one subgraph, tensor by tensor, if nothing is kept on chip and if tensors may be.

What every plan moves once is excluded: model outputs, and model inputs if tensors may be kept. A tensor that a
subgraph reads and that is not kept is loaded; one that it makes for a later subgraph and that is not kept is written. A
kept tensor does not cross in that step and lies on chip whole. What couples the steps of a plan is in tolls.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.problem.problem import Problem


class Tensors(NamedTuple):
    """The tensors of a problem: layers of the union, then the model inputs of each network."""

    comes: list[int]  #: bytes of one sample that cross where a subgraph loads it
    goes: list[int]  #: and where a subgraph that makes it writes it
    readers: list[list[int]]
    read: list[list[int]]  #: per layer the tensors that it reads, each once
    whole: list[int]  #: bytes of a core that it takes while it is kept; empty: nothing may be kept


def tensors_of(problem: Problem, may_keep: bool = False) -> Tensors:
    """Return the sizes for one sample, readers and operands, in the order of SubgraphCosts."""
    layers: list[tuple[int, list[int], int]] = []
    inputs: list[tuple[int, list[int], int]] = []
    for network, rules, offset in zip(problem.networks, problem.rules, problem.offsets):
        for u, tensor in enumerate(network.tensors):
            row = tensor.size_bytes, [offset + v for v in network.consumers[u]], rules.whole_bytes(u)
            (layers if u < len(network.layers) else inputs).append(row)
    read: list[list[int]] = [[] for _ in layers]
    for u, (_, readers, _) in enumerate(layers + inputs):
        for v in readers:
            read[v].append(u)
    outputs = frozenset(offset + v for net, offset in zip(problem.networks, problem.offsets) for v in net.outputs)
    sizes = [size for size, *_ in layers + inputs]
    comes, goes = list(sizes), [0 if u in outputs else size for u, size in enumerate(sizes)]
    if may_keep:
        comes[len(layers) :] = [0] * len(inputs)
    whole = [size for *_, size in layers + inputs] if may_keep else []
    return Tensors(comes, goes, [readers for _, readers, _ in layers + inputs], read, whole)


def crossings(tensors: Tensors, group: Sequence[int]) -> int:
    """Return the bytes of in(S) and out(S), of one sample, with nothing kept, without what every plan moves once."""
    inside = set(group)
    read = {u for v in group for u in tensors.read[v]} - inside
    made = [v for v in group if any(w not in inside for w in tensors.readers[v])]
    return sum([tensors.comes[u] for u in read]) + sum([tensors.goes[v] for v in made])
