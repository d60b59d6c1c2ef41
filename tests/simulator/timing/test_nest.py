"""Loops inside loops: what so many steps move together is the sum of what each moves."""

from __future__ import annotations

import random
from itertools import product
from math import prod

from simulator.model.layer.loops import Axis, in_flight, meet
from simulator.timing.layer.nest import Nest
from simulator.timing.layer.passes import block_rows, rows_poured, tiles_pass
from tests.helpers.parts import each_seed


@each_seed(100, 200)
def test_the_sizes_of_a_nest_are_those_of_its_steps(seed):
    rng = random.Random(seed)
    counts = [rng.choice((1, 2, 3, 5)) for _ in range(rng.randint(1, 4))]
    nest = Nest({str(i): count for i, count in enumerate(counts)})
    every = {i: [rng.randint(0, 4) for _ in range(count)] for i, count in enumerate(counts) if rng.random() < 0.7}
    together = rng.randint(1, 4)
    found = nest.moved([nest.term({str(i): sizes for i, sizes in every.items()}, 7)], together)
    moved = [7 * prod(every[i][d] for i, d in enumerate(at) if i in every) for at in product(*map(range, counts))]
    assert found == [sum(moved[i : i + together]) for i in range(0, len(moved), together)]


@each_seed(100, 200)
def test_tiles_and_rows_are_those_that_the_closed_forms_count(seed):
    rng = random.Random(seed)
    axis = Axis(
        rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 3),
        rng.randint(-1, 3), rng.randint(1, 3),
    )  # fmt: skip
    tile = rng.randint(1, axis.windows)
    found, counted = tiles_pass(axis, tile), meet(axis, tile)
    assert (len(found.met), sum(found.met), max(found.met), sum(found.new)) == counted[:4]
    assert sum(found.outputs) == axis.windows
    poured = rows_poured(axis)
    assert sum(poured.added) == meet(axis, 1).visits and sum(poured.finished) == axis.windows
    assert sum(poured.added) - sum(1 for i in range(axis.windows) if axis.met(i)) == in_flight(axis)[1]
    blocks = block_rows(axis, tile)
    assert [sum(each) for each in blocks] == list(found.met) and [len(each) for each in blocks] == list(found.outputs)
