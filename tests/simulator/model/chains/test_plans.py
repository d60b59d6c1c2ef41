"""The plans of a chain that are tried: against all plans, in both engines, and the least memory that they need."""

from __future__ import annotations

import random
from math import ceil

import pytest

from simulator.model.chains.orders import chain_order
from simulator.model.layer.cheapest import cheapest_plan
from simulator.model.layer.goal import Goal, Room
from simulator.model.layer.least_room import can_run, needs
from simulator.model.layer.orders import Loops
from tests.helpers.random_chains import loops_of, random_chain, random_questions


def words(channels):
    return sorted({min(channels, 8 * i) for i in range(1, ceil(channels / 8) + 1)})


def every_plan(layer):
    """Yield the plans of every chunk, slice, piece and number of channels that stay, in the bands that are tried."""
    chain = layer.chain
    for band in chain.bands:
        for chunk in words(chain.middle):
            whole = Loops(chunk, chunk, chain.outputs, chain.outputs, 1, 0)
            for mode in ("ring", "whole") if chunk < chain.middle else ("ring",):
                yield chain_order("MT", mode, layer, band, whole)
            for opener in words(chunk):
                for outputs in words(chain.outputs):
                    for closer in words(outputs):
                        loops = Loops(opener, chunk, outputs, closer, 1, 0)
                        for kept in {*range(0, chain.middle, chunk), chain.middle}:
                            yield chain_order("TM", "ring", layer, band, loops._replace(kept=kept))
                        for inputs in words(chain.inputs):
                            yield chain_order("TS", "ring", layer, band, loops._replace(kept=inputs))
                        if (chunk, outputs) == (chain.middle, chain.outputs):
                            for kept in (0, chain.middle):
                                yield chain_order("TW", "ring", layer, band, loops._replace(kept=kept))


def size_of(plan):
    return plan.activation_bytes + plan.weight_bytes


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 150), marks=pytest.mark.slow)])
def test_no_plan_moves_less_than_those_that_are_tried(seeds):
    """The least EMA in some memories, and the least memory, are those of all plans; energy is within 5 %."""
    for seed in seeds:
        rng = random.Random(seed)
        network, links = random_chain(rng)
        layer = loops_of(network, links, 1)
        plans = list(every_plan(layer))
        sizes = sorted({size_of(plan) for plan in plans})
        assert sizes[0] == min(map(sum, needs(layer))), seed
        for size in rng.sample(sizes, min(6, len(sizes))):
            fitting = [plan for plan in plans if size_of(plan) <= size]
            found = cheapest_plan(layer, Room(size, None), Goal("ema", 100.0, 1.0, 1.0))
            assert found.ema_bytes == min(plan.ema_bytes for plan in fitting), (seed, size)
            found = cheapest_plan(layer, Room(size, None), Goal("energy", 100.0, 5.0, 5.0))
            assert energy(found) <= 1.05 * min(map(energy, fitting)), (seed, size)


def energy(plan):
    totals = plan.totals
    return 100 * plan.ema_bytes + 5 * (totals.global_buffer_bytes + totals.weight_buffer_bytes)


def test_least_room_is_exact():
    """Some plan fits where `can_run` says so, and only there."""
    for seed in range(60):
        for layer, room, goal in random_questions(seed):
            assert (cheapest_plan(layer, room, goal) is not None) == can_run(layer, room), (seed, room)
