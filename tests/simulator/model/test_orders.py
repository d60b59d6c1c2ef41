"""Loop orders, executed: the output, every count, and the bytes held are what the closed forms say."""

from __future__ import annotations

from simulator.execution.layer import count_layer, run_layer
from tests.helpers.layer_plans import claim_of, loops_of, some_plans
from tests.helpers.parts import over_seeds
from tests.helpers.random_layers import random_layer, random_norm

HELD = ("activation_bytes", "weight_bytes")
LOOSE = ("KP", "TP", "BC", "CT", "RS")  #: orders whose claims of bytes on chip may be more than is ever held


def check(network, plan, batch):
    """Run a plan with values and count it: both are equal, and the closed forms are; return whether the claim is tight.

    KP claims a whole ring beside the rows that stay, though some are the same; TP the weights of a whole chunk, though
    fewer outputs are left; BC the longest slice, though no whole words of the inputs are as long, and the ring of a
    row, though a block ends before it is full; CT results of an input that is several operands, though it is smaller;
    RS a row of an input of which no window meets any.
    """
    claimed = claim_of(plan)
    found = run_layer(network, 0, loops_of(plan), (plan.activation_bytes, plan.weight_bytes), batch)
    assert found == count_layer(network, 0, loops_of(plan), batch), (network.layers[0], network.inputs, plan)
    for name in (*claimed._fields[:7], "global_written_bytes"):
        if name not in HELD or plan.order not in LOOSE:
            assert getattr(found, name) == getattr(claimed, name), (name, network.layers[0], network.inputs, plan)
    return found[:2] == claimed[:2]


def check_random(seed, most=6, make=random_layer):
    """Execute some of the plans that fit in some memory; return how many claims are tight, of how many; without KP."""
    network, batch, plans = some_plans(seed, most, make)
    tight = [check(network, plan, batch) for plan in plans]
    counted = [is_tight for plan, is_tight in zip(plans, tight) if plan.order != "KP"]
    return sum(counted), len(counted)


def test_random_layers_run_as_the_closed_forms_say():
    reached = [check_random(seed) for seed in range(150)]
    total = sum(count for _, count in reached)
    assert sum(exact for exact, _ in reached) > 0.97 * total


def test_random_softmax_and_norms_run_as_the_closed_forms_say():
    """Claims of two passes are tight, as all of them are here."""
    orders = {plan.order for seed in range(100) for plan in some_plans(seed, 6, random_norm)[2]}
    assert orders == {"CT", "TC", "TCC"}
    for seed in range(100):
        exact, count = check_random(seed, 6, random_norm)
        assert exact == count, seed


test_many_random_layers_run_as_the_closed_forms_say = over_seeds(lambda seed: check_random(seed, 12), 0, 5_000, 500)
