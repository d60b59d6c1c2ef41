"""The plan of a chain in the compiled engine: that of the readable one, to the byte."""

from __future__ import annotations

import pytest

from cocco.problem.problem import over_space
from cocco.problem.space import SharedBuffer
from cocco.search.kernel.choice import has_kernel
from simulator.model.layer.cheapest import cheapest_plan
from simulator.model.pricing import SubgraphModel
from tests.helpers.random_chains import random_questions
from workloads import Builder

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(100, 1000), marks=pytest.mark.slow)])
def test_both_engines_choose_the_same_plan(seeds):
    from cocco.search.kernel._model import LoopLayers

    for seed in seeds:
        for layer, room, goal in random_questions(seed):
            plan = cheapest_plan(layer, room, goal)
            found = LoopLayers([layer]).cheapest(
                0, *room, goal.metric, goal.dram, goal.activation, goal.weights, None, None, goal.static, goal.cycles,
                0.0, goal.widths, goal.operation, rate=goal.rate,
            )  # fmt: skip
            assert found == (None if plan is None else (*plan[:11], tuple(plan.totals))), (seed, room)


def test_both_engines_count_what_is_computed_again_before_they_choose_a_chain():
    """In 31,104 bytes the chain moves as little as the held block, with 10 million operations more."""
    from cocco.search.kernel._kernel import Kernel, Scratch

    b = Builder("block")
    x = b.conv("expand", b.input("x", 56, 56, 24), 144)
    b.conv("project", b.conv("depth", x, 144, 3, padding=1, groups=144), 24)
    problem = over_space(b.build(), SharedBuffer())
    price = SubgraphModel(problem.rules[0], (0, 1, 2)).price(31_104, 31_104)
    kernel = Kernel(problem)
    found = kernel.price(Scratch(kernel), (0, 1, 2), 31_104, 31_104)
    assert found[:5] == (
        price.ema_bytes, price.global_buffer_bytes, price.weight_buffer_bytes, price.crossbar_bytes, price.operations,
    )  # fmt: skip
