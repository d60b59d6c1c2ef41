"""The consumption-centric scheme: what each tensor of a subgraph holds and advances by (Cocco, Sec. 3.1, Fig. 5).

Rows and columns are independent; everything here is one axis. Stage 1 gives the outputs of the subgraph a tile;
stage 2 derives the tiles of producers from what their consumers request; stage 3 counts updates per elementary
operation.

The exact rule (our choice, docs/model.md) corrects the paper's `size` where branches of different depth meet.
Its schedule: update k of tensor u, for all integers k, ends at element step(u) k + lead(u), clipped to the map.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, NamedTuple

from simulator.model.subgraph.subgraph import Subgraph

TileRule = Literal["exact", "paper"]
TILE_RULES: tuple[TileRule, ...] = ("exact", "paper")


class Tile(NamedTuple):
    """What one tensor keeps on chip along one axis, in elements of its map, unclipped."""

    step: int  #: new elements per update; the paper's Delta
    size: int  #: elements held at once; the paper's chi
    lead: int  #: elements made ahead of step * updates, so that consumers find what they read (ours)
    updates: int  #: updates per elementary operation; the paper's upd_num


def derive_tiles(subgraph: Subgraph, axis: int, output_tile: int, rule: TileRule = "exact") -> dict[int, Tile] | None:
    """Return the tile of every tensor of S and in(S) along one axis, by tensor id.

    None if stage 3 has no solution: two paths between the same tensors differ in total stride.
    """
    rates = derive_rates(subgraph, axis)
    if rates is None:
        return None
    steps = derive_steps(subgraph, axis, output_tile)
    updates = count_updates(steps, rates)
    leads = derive_leads(subgraph, axis, steps, updates)
    sizes = _paper_sizes(subgraph, axis, steps) if rule == "paper" else _exact_sizes(subgraph, axis, steps, leads)
    return {u: Tile(steps[u], sizes[u], leads[u], updates[u]) for u in subgraph.tensors}


def derive_steps(subgraph: Subgraph, axis: int, output_tile: int) -> dict[int, int]:
    """Stage 2, Delta: the least common multiple of the consumers' requests; the output tile without consumers."""
    geometry = subgraph.geometry
    stride, upsample, extent = geometry.stride[axis], geometry.upsample[axis], geometry.extent[axis]
    steps: dict[int, int] = {}
    for u in _consumers_first(subgraph):
        readers = subgraph.readers[u]
        if not readers:
            steps[u] = output_tile
        elif any(reader.whole for reader in readers):
            steps[u] = extent[u]
        else:
            asked = [(steps[v] * stride[v], upsample[v]) for v, _, _ in readers]
            steps[u] = math.lcm(*[elements // math.gcd(elements, spread) for elements, spread in asked])
    return steps


def derive_rates(subgraph: Subgraph, axis: int) -> dict[int, tuple[int, int]] | None:
    """Return per tensor (component, elements advanced per common unit of time), or None where strides disagree.

    Components are the weakly connected ones once whole-tensor edges are cut; the rates of one are co-prime.
    """
    stride, upsample = subgraph.geometry.stride[axis], subgraph.geometry.upsample[axis]
    neighbours: dict[int, list[tuple[int, int, int]]] = {u: [] for u in subgraph.tensors}
    for u, readers in subgraph.readers.items():
        for v, local, _ in readers:
            if local:
                neighbours[u].append((v, upsample[v], stride[v]))
                neighbours[v].append((u, stride[v], upsample[v]))
    rates: dict[int, tuple[int, int]] = {}
    for component, root in enumerate(subgraph.tensors):
        if root in rates:
            continue
        found = _spread_rates(root, neighbours)
        if found is None:
            return None
        scale = math.lcm(*[rate.denominator for rate in found.values()])
        whole = {u: int(rate * scale) for u, rate in found.items()}
        common = math.gcd(*whole.values())
        rates.update((u, (component, rate // common)) for u, rate in whole.items())
    return rates


def _spread_rates(root: int, neighbours: dict[int, list[tuple[int, int, int]]]) -> dict[int, Fraction] | None:
    found = {root: Fraction(1)}
    stack = [root]
    while stack:
        u = stack.pop()
        for v, times, over in neighbours[u]:
            rate = found[u] * times / over if times != over else found[u]
            if v not in found:
                found[v] = rate
                stack.append(v)
            elif found[v] != rate:
                return None
    return found


def count_updates(steps: dict[int, int], rates: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Stage 3, upd_num: the smallest co-prime integers such that updates(u) step(u) is proportional to the rates."""
    length: dict[int, int] = {}  # of the elementary operation, per component, in units of the rates
    for u, (component, rate) in rates.items():
        length[component] = math.lcm(length.get(component, 1), steps[u] // math.gcd(steps[u], rate))
    return {u: rate * length[component] // steps[u] for u, (component, rate) in rates.items()}


def derive_leads(subgraph: Subgraph, axis: int, steps: dict[int, int], updates: dict[int, int]) -> dict[int, int]:
    """Return how far each tensor runs ahead so that every consumer finds its window (our exact rule).

    lead(u) = max over v of ceil((s_v lead(v) + F_v - s_v - pad(v)) / u_v), u_v its upsampling, and 0 for an output. A
    consumer v with lead > 0 starts q = ceil(lead(v) / step(v)) updates early. A tensor that some consumer needs whole
    is complete before any consumer of it starts, which takes a lead of extent * ceil(q updates(u) / updates(v)); it is
    held in full anyway.
    """
    geometry = subgraph.geometry
    reach, stride, padding = geometry.reach[axis], geometry.stride[axis], geometry.padding[axis]
    upsample = geometry.upsample[axis]
    leads: dict[int, int] = {}
    for u in _consumers_first(subgraph):
        wanted = []
        is_whole = any(reader.whole for reader in subgraph.readers[u])
        for v, local, _ in subgraph.readers[u]:
            if local:
                wanted.append(-(-(stride[v] * leads[v] + reach[v] - stride[v] - padding[v]) // upsample[v]))
            if is_whole:
                early = max(0, -(-leads[v] // steps[v]))
                wanted.append(steps[u] * -(-early * updates[u] // updates[v]))
        leads[u] = max(wanted, default=0)
    return leads


def _exact_sizes(subgraph: Subgraph, axis: int, steps: dict[int, int], leads: dict[int, int]) -> dict[int, int]:
    """size(u) = max(step, step + lead(u) - min over v of ceil((s_v lead(v) - pad(v)) / u_v)): by the slowest reader."""
    geometry = subgraph.geometry
    stride, padding, extent = geometry.stride[axis], geometry.padding[axis], geometry.extent[axis]
    upsample = geometry.upsample[axis]
    sizes = {}
    for u in subgraph.tensors:
        readers = subgraph.readers[u]
        if not readers:
            sizes[u] = steps[u]
        elif any(reader.whole for reader in readers):
            sizes[u] = extent[u]
        else:
            oldest = min([-(-(stride[v] * leads[v] - padding[v]) // upsample[v]) for v, _, _ in readers])
            sizes[u] = max(steps[u], steps[u] + leads[u] - oldest)
    return sizes


def _paper_sizes(subgraph: Subgraph, axis: int, steps: dict[int, int]) -> dict[int, int]:
    """Stage 2, chi: the largest window that a consumer needs for one update of u, f_v(step(u) / s_v).

    Over a spread map (ours): step(u) plus how much further the window reaches, ceil((F_v - s_v) / u_v).
    """
    geometry = subgraph.geometry
    reach, stride, extent = geometry.reach[axis], geometry.stride[axis], geometry.extent[axis]
    upsample = geometry.upsample[axis]
    sizes = {}
    for u in subgraph.tensors:
        readers = subgraph.readers[u]
        if any(reader.whole for reader in readers):
            sizes[u] = extent[u]
        else:
            windows = [steps[u] - (stride[v] - reach[v]) // upsample[v] for v, _, _ in readers]
            sizes[u] = max([steps[u], *windows])
    return sizes


def _consumers_first(subgraph: Subgraph) -> tuple[int, ...]:
    """Reverse topological order: the layers from the last to the first, then in(S)."""
    return subgraph.layers[::-1] + subgraph.inputs
