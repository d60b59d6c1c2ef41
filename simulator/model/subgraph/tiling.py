"""The consumption-centric scheme: what each tensor of a subgraph holds and advances by (Cocco, Sec. 3.1, Fig. 5).

Rows and columns are independent; everything here is one axis. Stage 1 gives the outputs of the subgraph a tile;
stage 2 derives the tiles of producers from what their consumers request; stage 3 counts updates per elementary
operation.

The exact rule (our choice, docs/model.md) corrects the paper's `size` where branches of different depth meet.
Its schedule: update k of tensor u, for all integers k, ends at element step(u) k + lead(u), clipped to the map.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from simulator.integers import FAR, FITS, LIMIT, OVERFLOW, SHORT, ceil_div, gcd, lcm, product
from simulator.model.subgraph.subgraph import Subgraph

TileRule = Literal["exact", "paper"]
TILE_RULES: tuple[TileRule, ...] = ("exact", "paper")


class Tile(NamedTuple):
    """What one tensor keeps on chip along one axis, in elements of its map, unclipped."""

    step: int  #: new elements per update; the paper's Delta
    size: int  #: elements held at once; the paper's chi
    lead: int  #: elements made ahead of step * updates, so that consumers find what they read (ours)
    updates: int  #: updates per elementary operation; the paper's upd_num


class AxisRates:
    """How many elements each tensor advances per common unit of time along one axis.

    Components are the weakly connected ones once whole-tensor edges are cut, each named by one of its tensors; the
    rates of one are co-prime.
    """

    def __init__(self) -> None:
        self.component: dict[int, int] = {}
        self.rate: dict[int, int] = {}


class Steps:
    """Steps and updates of each tensor for one output tile, and the elementary operation of each component."""

    def __init__(self) -> None:
        self.step: dict[int, int] = {}
        self.updates: dict[int, int] = {}
        self.length: dict[int, int] = {}  #: in units of the rates


def derive_tiles(
    subgraph: Subgraph, axis: int, output_tile: int, rule: TileRule = "exact", both_ways: bool = False
) -> dict[int, Tile] | None:
    """Return the tile of every tensor of S and in(S) along one axis, by tensor id.

    None if stage 3 has no solution: two paths between the same tensors differ in total stride.
    both_ways: leads and sizes suffice for sweeps in either direction (simulator/model/schemes/bands.py).
    """
    rates, tiles = rates_of(subgraph, axis), dict[int, Tile]()
    if rates is None:
        return None
    lay_tiles(subgraph, axis, output_tile, rule == "exact", both_ways, rates, Steps(), tiles)
    return tiles


def rates_of(subgraph: Subgraph, axis: int) -> AxisRates | None:
    """Return the rates along one axis, derived once; None where strides disagree."""
    if axis not in subgraph.derived:
        rates = AxisRates()
        subgraph.derived[axis] = rates if derive_rates(subgraph, axis, rates) == FITS else None
    found: AxisRates | None = subgraph.derived[axis]
    return found


def lay_tiles(
    subgraph: Subgraph,
    axis: int,
    output_tile: int,
    is_exact: bool,
    both_ways: bool,
    rates: AxisRates,
    steps: Steps,
    tiles: dict[int, Tile],
) -> int:
    """Put in the tile of every tensor: stages 2 and 3, consumers first."""
    status = derive_steps(subgraph, axis, output_tile, steps)
    if status == FITS:
        status = count_updates(subgraph, rates, steps)
    if status != FITS:
        return status
    for u in subgraph.consumers_first[: subgraph.tensor_count]:
        lead = derive_lead(subgraph, axis, u, both_ways, steps, tiles)
        if lead > FAR or lead < -FAR:
            return OVERFLOW
        if subgraph.is_whole[u]:
            size = subgraph.geometry.extent[axis][u]
        elif is_exact:
            size = exact_size(subgraph, axis, u, steps.step[u], lead, both_ways, tiles)
        else:
            size = paper_size(subgraph, axis, u, steps.step[u])
        tiles[u] = Tile(steps.step[u], size, lead, steps.updates[u])
    return FITS


def derive_steps(subgraph: Subgraph, axis: int, output_tile: int, steps: Steps) -> int:
    """Stage 2, Delta: the least common multiple of the consumers' requests; the output tile without consumers."""
    geometry = subgraph.geometry
    stride, upsample = geometry.stride[axis], geometry.upsample[axis]
    for u in subgraph.consumers_first[: subgraph.tensor_count]:
        step = 1 if subgraph.reader_count[u] else output_tile
        if subgraph.is_whole[u]:
            step = geometry.extent[axis][u]
        else:
            for reader in subgraph.readers[u][: subgraph.reader_count[u]]:
                elements = product(steps.step[reader.layer], stride[reader.layer])
                step = lcm(step, elements // gcd(elements, upsample[reader.layer]))
        if step > FAR:
            return OVERFLOW
        steps.step[u] = step
    return FITS


def derive_rates(subgraph: Subgraph, axis: int, rates: AxisRates) -> int:
    """Stage 3: rate(u) u_v = rate(v) s_v for every reader v through a window; SHORT where strides disagree.

    A reader in another component joins the two: each is multiplied by what it lacks.
    """
    component, rate = rates.component, rates.rate
    stride, upsample = subgraph.geometry.stride[axis], subgraph.geometry.upsample[axis]
    done = 0
    for u in subgraph.consumers_first[: subgraph.tensor_count]:
        component[u], rate[u] = u, 1
        done += 1
        for reader in subgraph.readers[u][: subgraph.reader_count[u]]:
            if not reader.local:
                continue
            v = reader.layer
            mine, other = product(rate[u], upsample[v]), product(rate[v], stride[v])
            if mine > LIMIT or other > LIMIT:
                return OVERFLOW
            joined, into = component[u], component[v]
            if joined == into:
                if mine != other:
                    return SHORT
                continue
            common = gcd(mine, other)
            for w in subgraph.consumers_first[:done]:
                if component[w] == into:
                    rate[w] = product(rate[w], mine // common)
                elif component[w] == joined:
                    component[w], rate[w] = into, product(rate[w], other // common)
    return FITS


def count_updates(subgraph: Subgraph, rates: AxisRates, steps: Steps) -> int:
    """Stage 3, upd_num: the smallest co-prime integers such that updates(u) step(u) is proportional to the rates."""
    component, rate, step, length = rates.component, rates.rate, steps.step, steps.length
    for u in subgraph.tensors[: subgraph.tensor_count]:
        length[component[u]] = 1
    for u in subgraph.tensors[: subgraph.tensor_count]:
        length[component[u]] = lcm(length[component[u]], step[u] // gcd(step[u], rate[u]))
    for u in subgraph.tensors[: subgraph.tensor_count]:
        elements = product(rate[u], length[component[u]])
        if elements > LIMIT:
            return OVERFLOW
        steps.updates[u] = elements // step[u]
    return FITS


def derive_lead(subgraph: Subgraph, axis: int, u: int, both_ways: bool, steps: Steps, tiles: dict[int, Tile]) -> int:
    """Return how far a tensor runs ahead so that every consumer finds its window (our exact rule).

    lead(u) = max over v of ceil((s_v lead(v) + F_v - s_v - pad(v)) / u_v), u_v its upsampling, and 0 for an output. A
    consumer v with lead > 0 starts q = ceil(lead(v) / step(v)) updates early. A tensor that some consumer needs whole
    is complete before any consumer of it starts, which takes a lead of extent * ceil(q updates(u) / updates(v)); it is
    held in full anyway. Both ways: of both paddings the one that asks for more.
    """
    geometry = subgraph.geometry
    reach, stride, upsample = geometry.reach[axis], geometry.stride[axis], geometry.upsample[axis]
    lead, known = 0, 0
    for reader in subgraph.readers[u][: subgraph.reader_count[u]]:
        v = reader.layer
        if reader.local:
            padding = geometry.padding[axis][v]
            if both_ways:
                padding = min(padding, mirrored(reach[v], stride[v], padding, upsample[v]))
            wanted = ceil_div(stride[v] * tiles[v].lead + reach[v] - stride[v] - padding, upsample[v])
            lead = max(lead, wanted) if known or subgraph.is_whole[u] else wanted
            known += 1
        if subgraph.is_whole[u] and tiles[v].lead > 0:
            early = product(ceil_div(tiles[v].lead, tiles[v].step), steps.updates[u])
            if early > FAR:
                return early
            lead = max(lead, product(steps.step[u], ceil_div(early, tiles[v].updates)))
    return lead


def exact_size(
    subgraph: Subgraph, axis: int, u: int, step: int, lead: int, both_ways: bool, tiles: dict[int, Tile]
) -> int:
    """size(u) = max(step, step + lead(u) - min over v of ceil((s_v lead(v) - pad(v)) / u_v)): by the slowest reader."""
    geometry, oldest = subgraph.geometry, lead
    stride, upsample = geometry.stride[axis], geometry.upsample[axis]
    for reader in subgraph.readers[u][: subgraph.reader_count[u]]:
        v = reader.layer
        padding = geometry.padding[axis][v]
        if both_ways:
            padding = max(padding, mirrored(geometry.reach[axis][v], stride[v], padding, upsample[v]))
        oldest = min(oldest, ceil_div(stride[v] * tiles[v].lead - padding, upsample[v]))
    return step + lead - oldest


def paper_size(subgraph: Subgraph, axis: int, u: int, step: int) -> int:
    """Stage 2, chi: the largest window that a consumer needs for one update of u, f_v(step(u) / s_v).

    Over a spread map (ours): step(u) plus how much further the window reaches, ceil((F_v - s_v) / u_v).
    """
    geometry, further = subgraph.geometry, 0
    reach, stride, upsample = geometry.reach[axis], geometry.stride[axis], geometry.upsample[axis]
    for reader in subgraph.readers[u][: subgraph.reader_count[u]]:
        v = reader.layer
        further = max(further, ceil_div(reach[v] - stride[v], upsample[v]))
    return step + further


def mirrored(reach: int, stride: int, padding: int, upsample: int) -> int:
    """Return the padding of a window whose elements and outputs are counted down from a border that both maps share."""
    return reach + upsample - 1 - stride - padding
