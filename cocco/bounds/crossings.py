"""What crosses to DRAM for one subgraph, tensor by tensor, where nothing is kept on chip and where it may be.

Where tensors may be kept, what every plan moves once (model inputs in, model outputs out) is no part of it. A tensor
that a subgraph reads and that is not kept is loaded; one that it makes for a later one and that is not kept is
written. Kept ones cross nothing in that step and lie there whole. So a plan moves at least what its subgraphs do at the
least over what each of them may keep by itself: that a tensor kept by its maker and loaded by its reader is no plan
only makes the sum lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.problem.problem import Problem

MOST_SUMS = 4096  #: of what a layer alone may keep, before fractions are taken; our choice


class Tensors(NamedTuple):
    """The tensors of a problem: layers of the union, then the model inputs of each network."""

    comes: list[int]  #: bytes of one sample that cross where a subgraph loads it
    goes: list[int]  #: and where a subgraph that makes it writes it
    readers: list[list[int]]
    read: list[list[int]]  #: per layer the tensors that it reads, each once
    outputs: frozenset[int]  #: written whoever reads them
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
    comes, goes = list(sizes), list(sizes)
    if may_keep:
        comes[len(layers) :] = [0] * len(inputs)
        goes = [0 if u in outputs else size for u, size in enumerate(sizes)]
    whole = [size for *_, size in layers + inputs] if may_keep else []
    return Tensors(comes, goes, [readers for _, readers, _ in layers + inputs], read, outputs, whole)


def crossings(tensors: Tensors, group: Sequence[int]) -> int:
    """Return the bytes of in(S) and out(S), of one sample, with nothing kept."""
    return sum([cost for _, cost in _crossing(tensors, group)])


def crossings_alone(tensors: Tensors, v: int, room: int) -> int:
    """Return what crosses at least for a layer by itself, in whatever loop order; room: bytes that may be kept."""
    touched = _crossing(tensors, (v,))
    total = sum([cost for _, cost in touched])
    return total - _most_saved([(tensors.whole[u], cost) for u, cost in touched], room) if tensors.whole else total


def _crossing(tensors: Tensors, group: Sequence[int]) -> list[tuple[int, int]]:
    """Return the tensors of in(S) and out(S), and what each moves."""
    inside = set(group)
    found = [(u, tensors.comes[u]) for u in sorted({u for v in group for u in tensors.read[v]} - inside)]
    for v in group:
        if v in tensors.outputs or any(w not in inside for w in tensors.readers[v]):
            found.append((v, tensors.goes[v]))
    return found


def _most_saved(items: Sequence[tuple[int, int]], room: int) -> int:
    """Return no less than what those of these (bytes, savings) save that fit together.

    Examples
    --------
    >>> _most_saved([(4, 4), (4, 4), (6, 7)], 10)
    11
    """
    found = {0: 0}
    for size, saved in items:
        for taken, so_far in list(found.items()):
            if taken + size <= room:
                found[taken + size] = max(found.get(taken + size, 0), so_far + saved)
        if len(found) > MOST_SUMS:
            return _fractions_saved(items, room)
    return max(found.values())


def _fractions_saved(items: Sequence[tuple[int, int]], room: int) -> int:
    """Return the same where the last one may fit in part."""
    total, left = 0, room
    for size, saved in sorted(items, key=lambda item: -item[1] / max(1, item[0])):
        if size > left:
            return total + -(-saved * left // size)
        total, left = total + saved, left - size
    return total
