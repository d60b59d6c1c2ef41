"""The plan of a chain in the compiled engine: that of the readable one, to the byte."""

from __future__ import annotations

import pytest

from cocco.search.kernel.choice import has_kernel
from simulator.model.layer.cheapest import cheapest_plan
from tests.helpers.random_chains import random_questions

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(100, 1000), marks=pytest.mark.slow)])
def test_both_engines_choose_the_same_plan(seeds):
    from cocco.search.kernel._model import LoopLayers

    for seed in seeds:
        for layer, room, goal in random_questions(seed):
            plan = cheapest_plan(layer, room, goal)
            found = LoopLayers([layer]).cheapest(
                0, *room, goal.metric, goal.dram, goal.activation, goal.weights, None, None, goal.static, goal.slots,
                0.0, goal.widths, goal.operation,
            )  # fmt: skip
            assert found == (None if plan is None else (*plan[:11], tuple(plan.totals))), (seed, room)
