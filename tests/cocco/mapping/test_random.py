"""The baselines without a model: valid, counted, repeatable, and no better than what is proven."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocco.mapping import map_layer
from cocco.mapping.sampling.random_search import hill_climb, random_search
from cocco.mapping.sampling.sampling import Draw, Sampler
from simulator.mapping import SIMBA, LayerShape, evaluate

SHAPE = LayerShape(3, 3, 14, 14, 64, 64)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.tuples(*[st.integers(1, 12)] * 7), st.integers(1, 3))
def test_the_quick_test_says_what_the_judge_says(seed: int, extents: tuple[int, ...], stride: int):
    shape = LayerShape(*extents, stride=(stride, 1))
    sampler, rng = Sampler(shape, SIMBA), np.random.default_rng(seed)
    slots, order = sampler.draw(rng, 40)
    for fits, one, places in zip(sampler.fits(slots).tolist(), slots, order):
        cost = evaluate(sampler.mapping(Draw(one, places)), shape, SIMBA)
        assert cost.valid == fits, cost.violations


def test_the_best_of_five_is_that_of_its_draws_and_repeats():
    found = map_layer(SHAPE, method="random", seed=3)
    assert (found.status, found.valid, found.objective) == ("feasible", 5, None)
    assert found.evaluations > 5 and found == map_layer(SHAPE, method="random", seed=3)
    assert found.mapping is not None and found.cost == evaluate(found.mapping, SHAPE, SIMBA)
    more = random_search(SHAPE, SIMBA, valid=60, seed=3)
    assert more.cost is not None and found.cost is not None and more.cost.cycles <= found.cost.cycles
    assert [point[2] for point in more.curve] == sorted({point[2] for point in more.curve}, reverse=True)
    assert more.curve[-1][2] == more.cost.cycles and more.curve[0][1] == 1


def test_a_search_stops_at_its_target_or_its_draws():
    found = random_search(SHAPE, SIMBA, valid=10**6, seed=1, target_cycles=10**6)
    assert found.cost is not None and found.cost.cycles <= 10**6
    short = random_search(SHAPE, SIMBA, valid=10**6, max_draws=3_000)
    assert short.evaluations == 3_000 and 0 < short.valid < 3_000
    none = random_search(LayerShape(1, 1, 112, 112, 512, 512), SIMBA, max_draws=3)
    assert none.evaluations == 3 and none.status in ("gave_up", "feasible")


def test_hill_climbing_is_better_than_five_draws():
    climbed, drawn = hill_climb(SHAPE, SIMBA, 300, seed=0), random_search(SHAPE, SIMBA, seed=0)
    assert climbed.cost is not None and drawn.cost is not None
    assert climbed.cost.cycles < drawn.cost.cycles
    assert climbed == hill_climb(SHAPE, SIMBA, 300, seed=0) and climbed.evaluations >= 300
    assert climbed.cost.cycles >= climbed.cost.bound_cycles


@pytest.mark.parametrize("method", ["random", "climb"])
def test_a_layer_of_one_word_has_one_mapping(method: str):
    found = map_layer(LayerShape(1, 1, 1, 1, 1, 1), method=method, samples=3)
    assert found.cost is not None and found.cost.compute_cycles == 1
