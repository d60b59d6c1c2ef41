"""The ways in which several cores run one layer in a loop order: channels dealt, samples dealt, or one core alone.

In a layer that reduces over channels, each core makes its own words of outputs, or its own groups or heads; in other
layers it has its own channels of every tensor. Samples are dealt as evenly as possible, and weights come once for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from simulator.model.layer.loop_layer import LoopLayer, Shared, Team
from simulator.model.schemes.dealing import Deal
from simulator.model.schemes.moved import CoreScheme
from workloads.network.layers.layer import Layer


class LoopWay(NamedTuple):
    """The part of a layer run by the core that has the most of it."""

    scheme: CoreScheme
    loops: LoopLayer
    parts: tuple[Layer, ...]  #: what it computes: of a nest, all layers
    samples: int


def loop_ways(parts: tuple[Layer, ...], loops: LoopLayer, deal: Deal) -> tuple[LoopWay, ...]:
    """Return the ways in which the cores can run a layer in a loop order; the last, or only one, is one core alone.

    parts: the layer; on one core also the layers of a nest.

    On several cores none of its tensors may be kept on chip, because kept tensors have their channels dealt.

    Examples
    --------
    >>> import workloads
    >>> from simulator.model.layer.loops import loop_layer
    >>> vgg16 = workloads.load("vgg16")
    >>> ways = loop_ways(vgg16.layers[1:2], loop_layer(vgg16, 1), Deal(3, 8))
    >>> [(way.scheme, way.loops.outputs, way.loops.team.alike) for way in ways]
    [('channels', 24, 2), ('alone', 64, 1)]
    """
    samples = loops.batch * loops.repeat
    if deal.cores == 1:
        return (LoopWay("", loops, parts, samples),)
    (layer,), found = parts, []
    shares = Counter(_dealt_channels(loops, deal, layer.mask is not None))
    if sum(shares.values()) > 1:
        shared: Shared = "inputs" if loops.kind in REDUCING and _part_count(loops) == 1 else ""
        most = _team(shares, deal.cores, shared)
        found.append(LoopWay("channels", most, (_part_of(layer, loops, most),), samples))
    if samples > 1:
        teams = min(samples, deal.cores)
        sizes = Counter((team + 1) * samples // teams - team * samples // teams for team in range(teams))
        dealt = Counter({_with_samples(loops, size): count for size, count in sizes.items()})
        most = _team(dealt, deal.cores, "weights" if loops.batch > 1 else "")
        found.append(LoopWay("held", most, parts, max(sizes)))
    found.append(LoopWay("alone", loops._replace(team=Team(deal.cores, 1, (), "all")), parts, samples))
    return tuple(found)


REDUCING = ("dense", "transposed", "product")  #: reduce over channels, so that every output needs all inputs


def _team(parts: Counter[LoopLayer], cores: int, shared: Shared) -> LoopLayer:
    """Return the largest part, with the others as its team."""
    (most, alike), *others = sorted(parts.items(), key=lambda part: _size(part[0]), reverse=True)
    parts_of_others = tuple(part._replace(team=Team(1, count)) for part, count in others)
    return most._replace(team=Team(cores, alike, parts_of_others, shared))


def _size(loops: LoopLayer) -> tuple[int, int, int]:
    return loops.outputs, loops.batch * loops.repeat, loops.most_bits


def _with_samples(loops: LoopLayer, samples: int) -> LoopLayer:
    return loops._replace(batch=samples) if loops.batch > 1 else loops._replace(repeat=samples)


def _part_count(loops: LoopLayer) -> int:
    """Return the groups of a convolution, or the heads of a product."""
    return sum(count for _, count in loops.part.units)


def _dealt_channels(loops: LoopLayer, deal: Deal, is_masked: bool) -> Iterator[LoopLayer]:
    """Yield the channels of each core that has some of this layer; nothing where they are not dealt.

    One head with a mask is not dealt: cores with different keys would compute different shares.
    """
    if loops.kind in REDUCING or loops.kind == "attention":
        count = _part_count(loops)
        if count > 1:
            yield from _dealt_groups(loops, count, deal.cores)
        if count > 1 or loops.kind == "attention" or is_masked:
            return
        for first, stop in _dealt_words(loops, deal):
            made = stop - first
            weights = loops.weights * made // loops.outputs
            yield loops._replace(part=loops.part._replace(outputs=made), outputs=made, weights=weights)
    elif loops.kind == "apart" and len(loops.operands) == len(loops.producers):
        found = [_with_channels(loops, *each) for each in _dealt_words(loops, deal)]
        if sum(loops.producers) == loops.outputs and not (loops.weights and any(each.outputs == 1 for each in found)):
            yield from found  # one channel with weights is a convolution that reduces over it
    elif loops.kind == "join":
        if {*loops.producers, *(each.channels for each in loops.whole)} == {loops.outputs}:
            for first, stop in _dealt_words(loops, deal):
                whole = tuple(each._replace(channels=stop - first) for each in loops.whole)
                producers = (stop - first,) * len(loops.producers)
                yield loops._replace(producers=producers, whole=whole, outputs=stop - first)


def _dealt_words(loops: LoopLayer, deal: Deal) -> list[tuple[int, int]]:
    return [deal.channels(loops.outputs, core) for core in deal.working(loops.outputs)]


def _dealt_groups(loops: LoopLayer, count: int, cores: int) -> Iterator[LoopLayer]:
    """Yield each core's share of this many groups or heads, all of one input each."""
    if len(loops.producers) > 1 or len(loops.part.units) > 1:
        return
    ends = [-(-count * core // cores) for core in range(cores + 1)]
    ((words, _),) = loops.part.units
    for mine in (stop - first for first, stop in pairwise(ends) if stop > first):
        yield loops._replace(
            producers=(loops.producers[0] * mine // count,),
            part=loops.part._replace(units=((words, mine),)),
            outputs=loops.outputs * mine // count,
            weights=loops.weights * mine // count,
            unmet_bytes=loops.unmet_bytes * mine // count,
        )


def _with_channels(loops: LoopLayer, first: int, stop: int) -> LoopLayer:
    """Return these channels of a layer that keeps channels apart; channels count through all inputs in turn."""
    producers, before = [], 0
    for channels in loops.producers:
        producers.append(max(0, min(stop, before + channels) - max(first, before)))
        before += channels
    met = tuple(channels for channels in producers if channels)
    bits = tuple(each for each, channels in zip(loops.bits.producers, producers) if channels)
    found = loops._replace(
        producers=met,
        operands=tuple(range(len(met))),
        outputs=stop - first,
        weights=loops.weights * (stop - first) // loops.outputs,
        bits=loops.bits._replace(producers=bits),
    )
    return found._replace(unmet_bytes=loops.unmet_bytes * found.window_bytes // loops.window_bytes)


def _part_of(layer: Layer, loops: LoopLayer, most: LoopLayer) -> Layer:
    """Return what the core with the most channels computes, to count its cycles."""

    def share(size: int) -> int:
        return size * most.outputs // loops.outputs

    if layer.blocks > 1:  # heads of each block, of its positions
        b = layer.blocks
        layer = replace(
            layer, height=layer.height * layer.width // b, width=1, channels=layer.channels * b,
            in_channels=layer.in_channels * b, groups=layer.groups * b, operand_heads=0,
        )  # fmt: skip
    if loops.kind in REDUCING and _part_count(loops) == 1:
        return replace(layer, channels=share(layer.channels))
    groups = share(layer.groups) if layer.groups > 1 else 1
    return replace(layer, channels=share(layer.channels), in_channels=share(layer.in_channels), groups=groups)
