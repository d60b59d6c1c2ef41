"""Criteria as numbers: what bandwidth means on several cores."""

from __future__ import annotations

import random

from cocco.problem.plane import Plane
from cocco.problem.problem import on_hardware
from simulator import Accelerator
from simulator.evaluation import evaluate
from tests.helpers.random_cores import random_channels
from tests.helpers.random_cores_plans import random_cores_plan
from tests.helpers.random_kept import random_kept_plan


def test_the_bandwidth_that_is_said_is_enough_for_every_plan():
    """EMA over the cycles that a plan computes is no more than the criterion, and as much on one core."""
    above = met = 0
    for seed in range(150):
        network, plan, chip = random_cores_plan(seed)
        found = evaluate(network, plan, chip)
        if found.fits:
            said = Plane(on_hardware(network, chip), ["bandwidth"]).judged([found])[0]
            need = found.ema_bytes / found.compute_cycles
            assert said >= need * (1 - 1e-12)
            above, met = above + (said > need * 1.01), met + 1
    assert met > 30 and above > 5


def test_on_one_core_it_is_what_the_plan_needs():
    for seed in range(30):
        network, rng = random_channels(seed), random.Random(seed)
        chip = Accelerator(shared_buffer=10**5, batch=rng.choice((1, 3)))
        found = evaluate(network, random_kept_plan(network, seed), chip)
        if found.fits:
            said = Plane(on_hardware(network, chip), ["bandwidth"]).judged([found])[0]
            assert abs(said - found.ema_bytes / found.compute_cycles) <= 1e-9 * said
