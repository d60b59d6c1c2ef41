"""The stages of an attention with its projections move and compute what its plan says, each thing in its turn."""

from __future__ import annotations

import random

import workloads
from simulator.model.layer.cheapest import Room, plans_of
from simulator.model.nests.heads import projected_attentions
from simulator.technology import Technology
from simulator.timing.loops import loop_course, moves_of
from tests.helpers.parts import each_seed
from tests.helpers.random_heads import random_question


@each_seed(30, 60)
def test_steps_move_what_a_plan_does(seed):
    """Bytes before they are scaled to the plan's, and as many MACs as its layers have."""
    rng = random.Random(seed)
    network, nest, layer, batch, _ = random_question(rng)
    macs = batch * sum(network.layers[v].macs for v in nest.layers)
    plans = plans_of(layer, Room(int(10 ** rng.uniform(2.3, 4.3)), rng.choice((None, 300, 3000))), "bands")
    for plan in rng.sample(plans, min(4, len(plans))):
        moves, moved = moves_of(layer, plan), plan.totals
        arriving = layer.repeat * layer.stays.arriving_bytes
        expected = moved.ema_input_bytes - arriving, moved.ema_weight_bytes, moved.ema_output_bytes, macs
        for terms, total in zip((moves.inputs, moves.weights, moves.outputs, moves.work), expected):
            assert sum(term.total for term in terms) == total
        course = loop_course(layer, plan, 5, 10_000, 1_000)
        assert sum(stage.input_bytes for stage in course.stages) == moved.ema_input_bytes
        assert sum(stage.output_bytes for stage in course.stages) == moved.ema_output_bytes


def test_weights_of_a_head_come_with_its_first_tile():
    """GPT, 12 heads in tiles of 128 rows: x in the first of 48 stages, three projections in every fourth."""
    network = workloads.load("gpt")
    layer = next(iter(projected_attentions(network))).loops(network, 1, Technology(), None)
    plans = plans_of(layer, Room(1 << 20, None), "bands")
    plan = next(each for each in plans if each.mode == "whole" and each.tile == (128, 1) and each.inner == 64)
    course = loop_course(layer, plan, 5, 480_000, 1_000)
    assert [stage.input_bytes for stage in course.stages] == [393_216] + [0] * 47
    assert [sum(size for _, size in stage.weights) for stage in course.stages] == [3 * 49_152, 0, 0, 0] * 12
    assert {stage.output_bytes for stage in course.stages} == {128 * 64}
