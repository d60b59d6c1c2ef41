"""Runs the loops of a small mapping step by step and counts the words that move, with sets instead of formulas."""

from __future__ import annotations

from itertools import product
from typing import Any

from simulator.mapping import Architecture, LayerMapping, LayerShape

WALKS = {"W": "RSCKG", "I": "RSPQCNG", "O": "PQKNG"}
Loop = tuple[int, bool, str, int, int]  # level, spatial, dimension, factor, iterations of the dimension in one step


def loops_of(mapping: LayerMapping) -> list[Loop]:
    """Return all loops, innermost first."""
    found, inside = [], dict.fromkeys("RSPQCKNG", 1)
    for level, each in enumerate(mapping.levels):
        spatial = [(True, d, f) for d, f in each.spatial.items()]
        for is_spatial, d, f in [(False, d, f) for d, f in each.temporal] + spatial:
            found.append((level, is_spatial, d, f, inside[d]))
            inside[d] *= f
    return found


def element(shape: LayerShape, tensor: str, at: dict[str, int]) -> tuple[int, ...]:
    """Return which word of a tensor an iteration touches."""
    if tensor == "W":
        return at["R"], at["S"], at["C"], at["K"], at["G"]
    if tensor == "O":
        return at["P"], at["Q"], at["K"], at["N"], at["G"]
    column = at["P"] * shape.stride[0] + at["R"] * shape.dilation[0]
    return column, at["Q"] * shape.stride[1] + at["S"] * shape.dilation[1], at["C"], at["N"], at["G"]


def words_of(shape: LayerShape, tensor: str, inner: list[Loop]) -> int:
    """Return the distinct words that the loops inside a level touch: one box, so any place will do."""
    touched = set()
    for indices in product(*(range(f) for _, _, _, f, _ in inner)):
        at = dict.fromkeys("RSPQCKNG", 0)
        for (_, _, d, _, step), i in zip(inner, indices):
            at[d] += i * step
        touched.add(element(shape, tensor, at))
    if tensor != "I":
        return len(touched)
    columns, rows = {x for x, *_ in touched}, {y for _, y, *_ in touched}
    box = (max(columns) - min(columns) + 1) * (max(rows) - min(rows) + 1)  # a window with holes is moved as a box
    return box * len({word[2:] for word in touched})


def count(mapping: LayerMapping, shape: LayerShape, arch: Architecture) -> dict[str, dict[str, list[int]]]:
    """Return level -> tensor -> [read, written], counted while the loops run."""
    moved = {level.name: {tensor: [0, 0] for tensor in level.stores} for level in arch.levels}
    loops = loops_of(mapping)
    for tensor in "WIO":
        inner = -1
        for outer in arch.stored(tensor):
            _between(tensor, inner, outer, loops, shape, arch, moved)
            inner = outer
    return moved


def _between(
    tensor: str, inner: int, outer: int, loops: list[Loop], shape: LayerShape, arch: Architecture, moved: Any
) -> None:
    """Walk through time; at each step every instance of the inner level asks for the tile it has not got."""
    size = words_of(shape, tensor, [loop for loop in loops if loop[0] <= inner]) if inner >= 0 else 1
    outside = [loop for loop in loops if loop[0] > inner]
    times = [loop for loop in reversed(outside) if not loop[1]]
    places = [loop for loop in outside if loop[1]]
    has: dict[tuple[int, ...], tuple[int, ...]] = {}
    seen: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    names = (arch.levels[inner].name if inner >= 0 else None), arch.levels[outer].name

    def add(name: str | None, way: int, words: int) -> None:
        if name is not None:
            moved[name][tensor][way] += words

    def leave(tiles: dict[tuple[int, ...], tuple[int, ...]]) -> None:
        """Sums leave the instances; those of one tile below one outer instance are added on the way."""
        add(names[0], 0, size * len(tiles))
        merged = {(place_of(where), tile) for where, tile in tiles.items()}
        for place, tile in merged:
            add(names[1], 1, size)
            seen.setdefault(place, set()).add(tile)

    def place_of(where: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(i for i, loop in zip(where, places) if loop[0] > outer)

    for now in product(*(range(f) for _, _, _, f, _ in times)):
        asking: dict[tuple[int, ...], tuple[int, ...]] = {}
        for where in product(*(range(f) for _, _, _, f, _ in places)):
            at = dict.fromkeys(WALKS[tensor], 0)
            for (_, _, d, _, step), i in (*zip(times, now), *zip(places, where)):
                if d in at:
                    at[d] += i * step
            tile = tuple(at.values())
            if inner < 0 or has.get(where) != tile:
                asking[where] = tile
        if tensor == "O":
            leave({where: has[where] for where in asking if where in has})
            asked = {(place_of(where), tile) for where, tile in asking.items()}
            for place, tile in asked:
                if tile in seen.get(place, ()):
                    add(names[1], 0, size)
                    add(names[0], 1, size)
        else:
            add(names[1], 0, size * len({(place_of(where), tile) for where, tile in asking.items()}))
            add(names[0], 1, size * len(asking))
        has |= asking
    if tensor == "O":
        leave(has)
