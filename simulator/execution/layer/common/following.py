"""Element-wise layers that follow a dense layer, or a chain, in its loops: which they are, and where their results lie.

Results pass through them one after the other. They are stored in between where all channels of a position are needed
at once, or where a map is read elsewhere, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simulator.execution.count.layer_facts import (
    COMBINING,
    WEIGHTED,
    is_depthwise,
    of_own_channels,
    output_bits,
    row_bytes,
    tensor_of,
)
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import Lies
from simulator.execution.layer.common.plan import LayerPlan
from workloads.network.network import Network


class Operand(NamedTuple):
    """Another map that a following layer reads."""

    tensor: int
    reader: int
    is_gate: bool  #: broadcast over the map, and held whole
    comes: bool  #: whether it comes from DRAM; else it is on chip, whole


class Following(NamedTuple):
    """The layer whose results others follow, and these, in stages: what is stored is the result of a stage."""

    network: Network
    first: int
    stages: tuple[tuple[int, ...], ...]  #: layers after the first
    stored: tuple[int, ...]  #: the result of each stage but the last
    leaving: frozenset[int]  #: of those stored, what DRAM gets
    inner: frozenset[int]  #: what nobody else reads
    operands: tuple[Operand, ...]
    place: tuple[int, int] | None = None  #: a map that is read here for the last time, and the results that lie there

    @property
    def last(self) -> int:
        """The layer whose results the loops make."""
        return self.stages[-1][-1]

    @property
    def is_mixed(self) -> bool:
        """Whether all channels of a position are needed at once."""
        return any(mixes(self.network, v) for stage in self.stages for v in stage)

    @property
    def bits(self) -> int:
        """The most bits of a number that is stored where results lie."""
        return max(output_bits(self.network.layers[v]) for v in (*self.stored, self.last))

    def check(self, plan: LayerPlan) -> None:
        """Raise Miss if the loops of a plan do not have all channels of a position at once, and they are needed."""
        channels = self.network.layers[self.first].channels
        at_once = plan.slice if plan.order == "TM" else plan.chunk
        if self.is_mixed and plan.order not in ("TK", "TP"):
            if plan.order in ("KP", "TW", "TS", "MT") or at_once < channels:
                raise Miss(f"{at_once} of {channels} channels of a position at once: its norm needs all")


def mixes(network: Network, v: int) -> bool:
    """Return whether a layer needs all channels of a position."""
    return network.layers[v].op not in ("add", "mul")


def following_of(network: Network, layers: Sequence[int], lies: Lies, chained: int = 1) -> Following:
    """Return what these layers are as the epilogue of the first, or of a chain of so many; raises Miss otherwise."""
    first, inside = layers[chained - 1], {*layers}
    dense = network.layers[first]
    if chained == 1 and (dense.op not in WEIGHTED or dense.op == "recurrent" or is_depthwise(dense)):
        raise Miss(f"layer {dense.name!r} ({dense.op}) in the loops of a dense layer")
    stages: list[list[int]] = [[]]
    stored, leaving, inner, operands, before = [], set(), set(), list[Operand](), first
    for v in layers[chained:]:
        layer, own = network.layers[v], [u for u in network.operands[v] if u in inside]
        shape, made = ((t.height, t.width, t.channels) for t in (tensor_of(network, v), tensor_of(network, before)))
        if layer.op not in COMBINING or layer.mask or own != [before] or shape != made:
            raise Miss(f"layer {layer.name!r} does not follow {network.layers[before].name!r} in its loops")
        if mixes(network, v) and dense.groups > 1:
            raise Miss(f"layer {layer.name!r} needs the channels of all groups at once")
        is_read = network.is_output[before] or not inside.issuperset(network.consumers[before])
        if not is_read:
            inner.add(before)
        if is_read or mixes(network, v):
            stored.append(before)
            stages.append([])
        if is_read and (lies.written is None or before in lies.written):
            leaving.add(before)
        for i, u in enumerate(network.operands[v]):
            if u != before and network.tensors[u].channels != layer.channels:
                raise Miss(f"{network.tensors[u].name!r} is broadcast over channels")
            operands += [Operand(u, v, i in layer.whole, u not in lies.on_chip)] if u != before else []
        stages[-1].append(v)
        before = v
    found = Following(
        network, first, tuple(map(tuple, stages)), tuple(stored), frozenset(leaving), frozenset(inner), tuple(operands)
    )  # fmt: skip
    elsewhere = {u for v in layers[:chained] for u in network.operands[v]}
    return found._replace(place=_place_of(found, lies, elsewhere))


def _place_of(following: Following, lies: Lies, elsewhere: set[int]) -> tuple[int, int] | None:
    """Return the first map that is read for the last time, before anything is stored, and results as large, kept."""
    for operand in following.operands:
        if operand.is_gate or operand.reader not in following.stages[0] or operand.tensor in elsewhere:
            continue
        for made in (following.last, *following.stored):
            if (
                operand.tensor in lies.ending
                and made in lies.on_chip
                and as_large(following.network, operand.tensor, made)
            ):
                return operand.tensor, made
    return None


def as_large(network: Network, u: int, v: int) -> bool:
    """Return whether two maps are equal in shape and bits."""
    one, other = tensor_of(network, u), tensor_of(network, v)
    return (one.height, one.width, one.channels, one.bits) == (other.height, other.width, other.channels, other.bits)


def place_of_layer(network: Network, v: int, lies: Lies) -> tuple[int, int] | None:
    """Return the operand of an element-wise layer, or a scan, read for the last time, if the results lie there."""
    layer, operands, own = network.layers[v], network.operands[v], of_own_channels(network, v)
    for i, u in enumerate(operands if layer.op in COMBINING and layer.op != "lrn" else own):
        is_once = i not in layer.whole and operands.count(u) == 1
        if is_once and u in lies.ending and v in lies.on_chip and as_large(network, u, v):
            return u, v
    return None


def gate_bytes(network: Network, u: int, word: int) -> int:
    """Return the bytes that an operand takes that is broadcast."""
    tensor = tensor_of(network, u)
    return tensor.height * tensor.width * row_bytes(-(-tensor.channels // word) * word, tensor.bits)
