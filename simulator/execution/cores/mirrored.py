"""A team whose cores each have a band of columns and sweep it in mirrored directions: even ones up, odd ones down.

So two cores start at every second border between bands and meet at the others, and a window that reaches over a border
finds what it reads in MAIN of the core beyond. Borders lie at multiples of the rates of the tensors: in a tensor read
with stride 2, twice as far out as in its reader. Windows occur in both directions, each with its own padding, so every
core has the larger lead and holds the longer span of the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from simulator.execution.cores.share import Share
from simulator.execution.cores.team import Sweep, Team
from simulator.execution.count.layer_facts import bits_of
from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.pace import Pace, derive_pace, derive_steps
from simulator.execution.count.part import COLUMNS, ROWS, Part
from simulator.execution.count.scheme import Cells, Scheme


class BothWays(Part):
    """A part whose windows reach as far along the columns as in either direction of a sweep."""

    def first(self, layer: int, axis: int, output: int) -> int:
        """Return the first element that the window of this output meets in either direction."""
        first = super().first(layer, axis, output)
        return first if axis == ROWS else min(first, self._mirrored(layer, output)[0])

    def end(self, layer: int, axis: int, outputs: int) -> int:
        """Return the element after the last that these outputs meet in either direction."""
        end = super().end(layer, axis, outputs)
        return end if axis == ROWS else max(end, self._mirrored(layer, outputs - 1)[1])

    def _mirrored(self, layer: int, output: int) -> Span:
        """Return what an output meets, with both counted down from a border that lies at 0 in all maps."""
        first, end = (super().first(layer, COLUMNS, -1 - output), super().end(layer, COLUMNS, -output))
        return -end, -first


def mirror_team(part: Part, tile: tuple[int, int], word: int, samples: int, cores: int, counts: Sequence[int]) -> Team:
    """Return cores that share the columns; raises Miss if they cannot because a tensor is needed whole."""
    if part.needed_whole:
        raise Miss("columns are not shared where a tensor is needed whole")
    both = BothWays(part.network, part.layers, part.lies)
    pace = derive_pace(both, COLUMNS, derive_steps(part, COLUMNS, tile[COLUMNS]))
    units = _units(part, cores)
    shares = _shares(part, units, cores, counts)
    height = part.extent[ROWS]
    band = {u: max(share.extent(u) for share in shares) for u in part.tensors}
    across = {u: min(pace.span(u), band[u]) for u in part.tensors}
    is_alone = across == band
    rows = derive_pace(part, ROWS, derive_steps(part, ROWS, tile[ROWS]))
    rows = rows if is_alone else rows.merged()
    down = {u: min(rows.span(u) if part.readers[u] else tile[ROWS], height[u]) for u in part.tensors}
    is_single = not is_alone and all(down[u] == height[u] for u in part.tensors)
    cells = {}
    for u in part.tensors:
        kept = 0 if is_single or across[u] == band[u] else min(rows.kept(u), height[u])
        channels = -(-counts[u] // word) * word
        cells[u] = Cells(down[u], across[u], kept, band[u], channels, samples, bits_of(part.network, u))
    scheme = Scheme(part, rows, pace, cells, tile, is_alone, is_single)
    sweeps = _whole_bands(part, shares) if is_alone else _sweeps(pace, shares, units, across)
    return Team(scheme, shares, tuple(sweeps), (cells,) * cores)


def _units(part: Part, cores: int) -> dict[int, int]:
    """Return the columns of each tensor from one border to the next, in proportion in all maps that windows join."""
    units: dict[int, int] = {}
    for u in part.tensors:
        if u not in units:
            units |= _joined_units(part, cores, u)
    return units


def _joined_units(part: Part, cores: int, first: int) -> dict[int, int]:
    """Return the same of the maps that windows join with one."""
    position, queue = {first: Fraction(1)}, [first]
    for u in queue:  # along windows, in both directions
        near = [(each.layer, _ratio(part, each.layer)) for each in part.readers[u]]
        near += [(each.tensor, 1 / _ratio(part, u)) for each in part.operands.get(u, ())]
        for other, ratio in near:
            if other not in position:
                position[other] = position[u] * ratio
                queue.append(other)
    scale = math.lcm(*[each.denominator for each in position.values()])
    rates = {u: int(each * scale) for u, each in position.items()}
    common = math.gcd(*rates.values())
    rates = {u: rate // common for u, rate in rates.items()}
    longest = max(-(-part.extent[COLUMNS][u] // rate) for u, rate in rates.items())
    return {u: rate * -(-longest // cores) for u, rate in rates.items()}


def _ratio(part: Part, layer: int) -> Fraction:
    """Return the columns of a layer for each column that it reads."""
    of = part.network.layers[layer]
    return Fraction(of.upsample[COLUMNS], of.stride[COLUMNS])


def _shares(part: Part, units: dict[int, int], cores: int, counts: Sequence[int]) -> tuple[Share, ...]:
    width = part.extent[COLUMNS]
    channels = {u: range(counts[u]) for u in part.tensors}
    found = []
    for core in range(cores):
        columns = {u: (min(core * unit, width[u]), min((core + 1) * unit, width[u])) for u, unit in units.items()}
        found.append(Share(channels, columns, core % 2 == 1))
    return tuple(found)


def _whole_bands(part: Part, shares: tuple[Share, ...]) -> Iterable[Sweep]:
    return (Sweep(u, tuple((0, share.extent(u)) for share in shares)) for u in part.tensors)


def _sweeps(pace: Pace, shares: tuple[Share, ...], units: dict[int, int], room: dict[int, int]) -> list[Sweep]:
    """Return all updates in order, with the same start for all cores: the first takes all before it if that fits."""
    part = pace.part
    ends = {u: pace.steps[u] + pace.ahead[u] for u in part.tensors}
    held = [u for u in part.tensors if part.readers[u]]
    is_full = all(min(ends[u], max(share.extent(u) for share in shares)) <= room[u] for u in held)
    times = math.lcm(*pace.updates.values())
    timed = []
    for rank, u in enumerate(part.tensors):
        done = [0] * len(shares)
        update = 1 if is_full else min(1, -(pace.ahead[u] // pace.steps[u]))
        while any(before < share.extent(u) for before, share in zip(done, shares)):
            stops = [_frontier(pace, u, update, share, units[u]) for share in shares]
            pieces = tuple((before, max(before, stop)) for before, stop in zip(done, stops))
            if any(first < stop for first, stop in pieces):
                timed.append(((update - 1) * times // pace.updates[u], rank, Sweep(u, pieces)))
            done = [stop for _, stop in pieces]
            update += 1
    return [sweep for _, _, sweep in sorted(timed, key=lambda item: item[:2])]


def _frontier(pace: Pace, u: int, update: int, share: Share, unit: int) -> int:
    """Return how many of its columns a core has made; a core that starts beyond the end of the map is late."""
    first, stop = share.columns[u]
    late = -(-stop // unit) * unit - stop if share.is_mirrored and stop > first else 0
    return min(max(pace.steps[u] * update + pace.ahead[u] - late, 0), share.extent(u))
