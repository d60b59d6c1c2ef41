"""From a Network to the operators of a schedule: one for each node of its graph (granularity: docs/scheduling.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from simulator.schedule.schedule import MAX_TENSOR_BYTES, Operator, check_operators
from workloads.errors import shown
from workloads.network.network import Network, check_network
from workloads.network.rewriting import concats

Concat = Literal["copy", "dissolved"]
CONCATS: tuple[Concat, ...] = ("copy", "dissolved")


def operators_of(
    network: Network, parameters: bool = False, concat: Concat = "copy", batch: int = 1
) -> tuple[Operator, ...]:
    """Return the operators of a network in its own order: the model inputs, then the layers as they were written.

    Parameters
    ----------
    network : Network
        Also one with windows over time, which the model of tiles gives no price.
    parameters : bool
        Weights lie in the scratchpad at the step of their layer; else they are no part of the question.
    concat : {"copy", "dissolved"}
        "copy": every concatenation that the network dissolved is an operator again, its parts and its result resident
        at once (our choice: a whole tensor is contiguous). "dissolved": its readers read the parts.
    batch : int
        Samples at once; each makes its own tensors, all share the weights (COSMA's transformer has 32).

    Returns
    -------
    tuple of Operator

    Raises
    ------
    NetworkError
        No layer can be the reader of a concatenation.
    ValueError
        There is no such `concat`, or the batch is no whole number.

    Examples
    --------
    >>> import workloads
    >>> from simulator.schedule import operators_of
    >>> operators = operators_of(workloads.load("googlenet"), parameters=True)
    >>> operators[1].name, operators[1].inputs, operators[1].size, operators[1].parameters
    ('conv1', ('image',), 802816, 9408)
    """
    check_network(network)
    if concat not in CONCATS:
        raise ValueError(f"concat must be one of {', '.join(CONCATS)}, got {concat!r}")
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= MAX_TENSOR_BYTES:
        raise ValueError(f"batch must be a whole number from 1 to {MAX_TENSOR_BYTES}, got {shown(batch)}")
    network = network.in_batch(batch)
    copied = network.concats if concat == "copy" else ()
    reads = concats.sources(network) if copied else {layer.name: layer.inputs for layer in network.layers}
    sizes = {tensor.name: batch * tensor.size_bytes for tensor in network.tensors}
    found = [Operator(tensor.name, (), sizes[tensor.name], is_input=True) for tensor in network.inputs]
    waiting = list(copied)
    for position, layer in enumerate(network.layers):
        while waiting and waiting[0].position <= position:
            found.append(_copy(waiting.pop(0).name, reads, sizes))
        weights = layer.weight_bytes if parameters else 0
        found.append(Operator(layer.name, _once(reads[layer.name]), sizes[layer.name], weights))
    found += [_copy(each.name, reads, sizes) for each in waiting]
    check_operators(found)
    return tuple(found)


def _copy(name: str, reads: dict[str, tuple[str, ...]], sizes: dict[str, int]) -> Operator:
    sizes[name] = sum(sizes[part] for part in reads[name])
    return Operator(name, _once(reads[name]), sizes[name])


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
