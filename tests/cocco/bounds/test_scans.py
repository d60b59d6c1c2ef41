"""Proofs with scans, held with others or with results where an operand lay: against all plans, with both engines."""

from __future__ import annotations

import random

import pytest

from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.patterns import tables
from cocco.problem.problem import Problem, on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator
from tests.helpers.kept_proofs import check_kept
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.place_networks import hands_over
from workloads import Builder

ENGINES = ("reference", "fast") if has_kernel() else ("reference",)


@pytest.fixture(autouse=True)
def small_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of any size."""
    monkeypatch.setattr(tables, "LEAST_LAYERS", 1)
    monkeypatch.setattr(tables, "MOST_FREE", 0)


def scan_problem(seed: int) -> Problem:
    """Return a scan of what one or two layers make, perhaps a gate, and a layer that reads it; in a few maps' room."""
    rng, b = random.Random(seed), Builder("scans")
    rows, width, size = rng.randint(2, 12), rng.choice((8, 12, 16)), rng.choice((1, 2, 4))
    x = b.input("x", rows, 1, rng.choice((8, 16)))
    u = b.conv("u", x, width, (2, 1)) if rng.random() < 0.3 else b.fc("u", x, width)
    rows = b.shape(u)[0]
    both = b.input("both", rows, 1, size)
    gates = [b.fc("step", u, width)] if rng.random() < 0.5 else []
    y = b.scan("y", [u, *gates, both, both], size)
    if rng.random() < 0.5:
        y = b.mul("gated", [y, rng.choice((u, b.input("gate", rows, 1, width)))])
    b.fc("out", y, 8)
    whole, batch = 16 * rows, rng.choice((1, 1, 2))
    room = int(batch * whole * rng.uniform(1, 3)) + rng.randint(0, 600)
    machine = Accelerator(shared_buffer=room, batch=batch)
    if rng.random() < 0.3:
        machine = Accelerator(global_buffer=room, weight_buffer=rng.randint(64, 600), batch=batch)
    return on_hardware(b.build(), machine, metric=("ema", "energy", "latency-sum")[seed % 3], keep="auto")


def check(seed: int) -> tuple[int, bool, bool]:
    problem = scan_problem(seed)
    plans = check_kept(problem, ENGINES, seed)
    index = problem.networks[0].index["y"]
    held = [each for one in cheapest_plans(problem).partitions or () for each in one.subgraphs if index in each]
    return plans, hands_over(problem), any(len(each) > 1 for each in held)


@few_seeds(20, 40)
def test_no_false_optimum_with_scans(seeds):
    plans, used, held = zip(*[check(seed) for seed in seeds])
    assert sum(plans) > 20 * len(seeds) and any(used) and any(held)


test_no_false_optimum_in_hundreds = over_seeds(check, 40, 340)
