"""Repair by ejection: a buffer without a place takes one from others; buffers that were hard to place go last.

It is meant for a few long buffers that fill the memory (tensors kept over many steps) along with a handful that live
one step. There the canonical order detects a conflict late, far away in time, while a repair stays where the conflict
is. Ejections with counted penalties are from Nagata and Bräysy (Oper. Res. Lett. 2009) for vehicle routing; the noise
is from WalkSAT. Using them here is our choice. It proves nothing. `_ejection.pxi` is the compiled twin of `repair`.
"""

from __future__ import annotations

import numpy as np

from cocco.allocation.answer import Outcome
from cocco.allocation.heuristics.greedy import greedy
from cocco.allocation.problem import AllocationProblem, Ints

FIRST_LOOKS = 1_000  #: per buffer, of the first run; our choice
RUN_GROWTH = 4  #: of that from one pair of runs to the next; our choice
NOISE = 16  #: one move in so many takes any place; our choice, of 8 to 128
FIXED = 1 << 40  #: the penalty of a buffer that must not move, above all that can be counted
MULTIPLIER, INCREMENT, WORD = 6364136223846793005, 1442695040888963407, 1 << 64  #: Knuth, MMIX: random numbers


def eject(problem: AllocationProblem, capacity: int, limit: int, engine: str) -> tuple[Outcome, int]:
    """Return addresses within a capacity (granules), or "gave_up" after `limit` looks at neighbours; and the looks.

    Runs that place the last ejected buffer next alternate with runs that place any: each solves what the other cannot.
    `nodes` of the outcome are the moves.
    """
    start = greedy(problem, "size*lifetime^2", "low")
    start[(start + problem.size > capacity) & (problem.fixed < 0)] = -1
    moves, looks, seed, most = 0, 0, 0, FIRST_LOOKS * len(problem.size)
    while looks < limit:
        for takes_last in (True, False):
            run = (problem, capacity, start, takes_last, seed, min(most, limit - looks))
            solved, moved, looked, address = _run(engine, *run)
            moves, looks, seed = moves + moved, looks + max(looked, 1), seed + 1
            if solved:
                found: Ints = np.array(address, dtype=np.int64)
                name = f"ejection at {capacity * problem.granule}"
                return Outcome("feasible", found, moves, problem.bound - 1, name), looks
            if looks >= limit:
                break
        most *= RUN_GROWTH
    return Outcome("gave_up", None, moves), looks


def _run(
    engine: str, problem: AllocationProblem, capacity: int, start: Ints, takes_last: bool, seed: int, limit: int
) -> tuple[bool, int, int, list[int]]:
    """Run `repair` on one of the engines."""
    if engine == "fast":
        from cocco.allocation.compiled import _search

        return _search.repair(problem, capacity, start, takes_last, seed, limit)
    return repair(problem, capacity, start, takes_last, seed, limit)


def repair(
    problem: AllocationProblem, capacity: int, start: Ints, takes_last: bool, seed: int, limit: int
) -> tuple[bool, int, int, list[int]]:
    """Return whether all have a place, the moves, the looks (one a move and one a neighbour), and the addresses.

    start: addresses that collide nowhere, -1 for buffers without one. Where a neighbour ends or i would end below it,
    a place of i begins to cost more or less; the cheapest is taken, ties and one move in NOISE by chance.
    """
    size, alignment, fixed = (each.tolist() for each in (problem.size, problem.alignment, problem.fixed))
    near = [problem.neighbours[a:b].tolist() for a, b in zip(problem.starts, problem.starts[1:])]
    address = start.tolist()
    penalty = [FIXED if offset >= 0 else 1 for offset in fixed]
    pool = [i for i, at in enumerate(address) if at < 0]
    random, moves, looks = 2 * seed + 1, 0, 0
    while pool and looks < limit:
        k = len(pool) - 1
        if not takes_last:
            random = (random * MULTIPLIER + INCREMENT) % WORD
            k = (random >> 33) % len(pool)
        i, pool[k] = pool[k], pool[-1]
        pool.pop()
        moves += 1
        looks += 1 + len(near[i])
        random = (random * MULTIPLIER + INCREMENT) % WORD
        is_wild = (random >> 33) % NOISE == 0
        best, ties, at = FIXED, 0, -1
        for y, cost in _places(i, capacity, near[i], address, penalty, size, alignment[i]):
            cost = min(cost, 1) if is_wild and cost < FIXED else cost
            if cost < best:
                best, ties, at = cost, 1, y
            elif cost == best and at >= 0:
                ties += 1
                random = (random * MULTIPLIER + INCREMENT) % WORD
                if (random >> 33) % ties == 0:
                    at = y
        if at < 0:  # fixed buffers leave no place at all
            pool.append(i)
            break
        if best:
            penalty[i] += 1
            for j in near[i]:
                if address[j] >= 0 and address[j] < at + size[i] and at < address[j] + size[j]:
                    address[j] = -1
                    pool.append(j)
        address[i] = at
    return not pool, moves, looks, address


def _places(
    i: int, capacity: int, near: list[int], address: list[int], penalty: list[int], size: list[int], alignment: int
) -> list[tuple[int, int]]:
    """Return the places of i that touch something, ascending, each with the penalties of what is in the way."""
    highest = capacity - size[i]
    events = [(0, 1, 0), (highest // alignment * alignment, 1, 0)]  #: (address, 0 ends, 1 place, 2 begins, penalty)
    for j in near:
        if address[j] < 0:
            continue
        top, below = address[j] + size[j], address[j] - size[i]
        events += [(top, 0, -penalty[j]), (below, 2, penalty[j])]
        above = -(-top // alignment) * alignment
        if above <= highest:
            events.append((above, 1, 0))
        if below > 0:
            events.append((below // alignment * alignment, 1, 0))
    places: list[tuple[int, int]] = []
    cost = 0
    for y, kind, change in sorted(events):
        cost += change
        if kind == 1 and (not places or places[-1][0] != y):
            places.append((y, cost))
    return places
