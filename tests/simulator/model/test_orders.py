"""Loop orders, executed literally: the output, every count, and the bytes held are what the closed forms say."""

from __future__ import annotations

import doctest
import random

import pytest

from simulator.model import cheapest, loops
from simulator.model.cheapest import Room, plans_of
from simulator.model.loops import loop_layer
from tests.helpers.literal_loops import run
from tests.helpers.random_layers import random_layer


def check(network, plan, batch):
    """Execute a plan, compare all counts and the output; return whether the bytes held are reached.

    KP claims a ring beside the rows that stay, though some are the same.
    """
    chip, output, direct = run(network, plan, batch)
    assert (output == direct).all(), (network.layers[0], plan)
    counted = (chip.ema_weights, chip.ema_inputs, chip.ema_outputs, chip.gb, chip.wb)
    assert counted == plan[-5:], (network.layers[0], network.inputs, plan, counted)
    return (
        plan.order == "KP" or chip.activations.most == plan.activation_bytes and chip.weights.most == plan.weight_bytes
    )


def check_random(seed, most=6):
    """Execute some of the plans that fit in some memory; return how many claims were reached, of how many."""
    rng = random.Random(seed)
    network, batch = random_layer(rng), rng.choice((1, 1, 2, 3))
    layer = loop_layer(network, 0, batch)
    activation = rng.choice((100, 300, 1000, 3000, 10000, 100000))
    room = Room(activation, rng.choice((None, None, 80, 300, 1000, 10000)))
    plans = list(dict.fromkeys(plans_of(layer, room, rng.choice(("bands", "all")))))
    for plan in plans:
        assert room.holds(plan.activation_bytes, plan.weight_bytes), plan
    chosen = rng.sample(plans, min(most, len(plans)))
    orders = {plan.order: plan for plan in plans}
    chosen = list(dict.fromkeys([*orders.values(), *chosen]))
    return sum(check(network, plan, batch) for plan in chosen), len(chosen)


def test_random_layers_run_as_the_closed_forms_say():
    reached = [check_random(seed) for seed in range(300)]
    total = sum(count for _, count in reached)
    assert sum(exact for exact, _ in reached) > 0.9 * total


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_layers_run_as_the_closed_forms_say(part):
    for seed in range(1000 + 500 * part, 1500 + 500 * part):
        check_random(seed, 12)


@pytest.mark.parametrize("module", [loops, cheapest])
def test_the_examples_of_the_pages_run(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed
