"""Pebble games: what crosses where numbers lie in a memory of so many words, and every operation needs its own there.

An operation is (inputs, result): a product of the inputs is added to the result. An input that is no result is loaded;
a result begins as nothing on chip, is stored if it leaves before its last use, and at the end if it is an output.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations

Number = Hashable
Operation = tuple[tuple[Number, ...], Number]


def moved(operations: Sequence[Operation], outputs: set[Number], memory: int) -> int:
    """Return the words loaded and stored by these operations in this order, if what is used last leaves first."""
    uses: dict[Number, list[int]] = {}
    for when, (inputs, result) in enumerate(operations):
        for number in (*inputs, result):
            uses.setdefault(number, []).append(when)
    results = {result for _, result in operations}
    for times in uses.values():
        times.reverse()
    on_chip: dict[Number, bool] = {}  # whether it differs from what DRAM has
    stored: set[Number] = set()
    words = 0

    def next_use(number: Number) -> float:
        return uses[number][-1] if uses[number] else float("inf")

    for inputs, result in operations:
        needed = {*inputs, result}
        for number in needed:
            if number not in on_chip:
                assert number not in results or number == result or number in stored, "made before it is read"
                words += number not in results or number in stored
                on_chip[number] = False
            uses[number].pop()
        on_chip[result] = True
        for number in [each for each in on_chip if not uses[each] and each not in outputs]:
            del on_chip[number]
        while len(on_chip) > memory - 3:  # room for the next three
            last = max(on_chip, key=next_use)
            if on_chip.pop(last):
                words += 1
                stored.add(last)
    return words + sum(on_chip[number] for number in on_chip if number in outputs)


def product(
    rows: range, columns: range, depth: range, blocks: tuple[int, int, int], names: str = "xwz", order: str = "ijk"
) -> Iterator[Operation]:
    """Yield the operations of a product in blocks, the block of results outermost, in it the depth."""
    x, w, z = names
    ranges = dict(zip("ijk", (rows, columns, depth)))
    steps = dict(zip("ijk", blocks))
    outer = [
        {order[0]: a, order[1]: b, order[2]: c}
        for a in ranges[order[0]][:: steps[order[0]]]
        for b in ranges[order[1]][:: steps[order[1]]]
        for c in ranges[order[2]][:: steps[order[2]]]
    ]
    for first in outer:
        i_s, j_s, k_s = (range(first[a], min(first[a] + steps[a], ranges[a].stop)) for a in "ijk")
        for k in k_s:
            for i in i_s:
                for j in j_s:
                    yield ((x, i, k), (w, k, j)), (z, i, j)


def least_moved(rows: int, columns: int, depth: int, memory: int) -> int:
    """Return the least words of a tiny product over all games: any order, any number made or moved again at any time.

    A sum is a set of the products in it; several of the same result may exist and be added.
    """
    inputs = [("x", i, k) for i in range(rows) for k in range(depth)]
    inputs += [("w", k, j) for k in range(depth) for j in range(columns)]
    every = [tuple(each) for size in range(1, depth + 1) for each in combinations(range(depth), size)]
    sums = [(i, j, done) for i in range(rows) for j in range(columns) for done in every]
    place = {number: 1 << n for n, number in enumerate([*inputs, *sums])}
    goal = sum(place[i, j, every[-1]] for i in range(rows) for j in range(columns))
    known, queue = {(0, 0): 0}, [(0, 0, 0)]
    while queue:
        words, chip, dram = heapq.heappop(queue)
        if words > known[chip, dram]:
            continue
        if dram & goal == goal:
            return words
        for after in {*_moves(chip, dram, place, inputs, sums, memory)}:
            cost, state = after[0], after[1:]
            if words + cost < known.get(state, words + cost + 1):
                known[state] = words + cost
                heapq.heappush(queue, (words + cost, *state))
    raise AssertionError("no game reaches the results")


def _moves(
    chip: int, dram: int, place: dict[Number, int], inputs: list[Number], sums: list[tuple[int, int, tuple[int, ...]]],
    memory: int,
) -> Iterable[tuple[int, int, int]]:  # fmt: skip
    has_room = chip.bit_count() < memory
    for number in inputs:
        if has_room and not chip & place[number]:
            yield 1, chip | place[number], dram
    for number in place:
        if chip & place[number]:
            yield 0, chip & ~place[number], dram
    for number in sums:
        bit, (i, j, done) = place[number], number
        if chip & bit and not dram & bit:
            yield 1, chip, dram | bit
        if dram & bit and not chip & bit and has_room:
            yield 1, chip | bit, dram
        for k in done:
            if chip & place["x", i, k] and chip & place["w", k, j]:
                rest = tuple(each for each in done if each != k)
                if not rest and has_room:
                    yield 0, chip | bit, dram
                if rest and chip & place[i, j, rest]:  # in place
                    yield 0, chip & ~place[i, j, rest] | bit, dram
