"""Formulas 1 and 2 by hand, and objectives that are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cocco.problem.objective import Objective
from simulator.accelerator import Accelerator
from simulator.model.cost import Totals

TOTALS = Totals(1000, 200, 300, 0, 4000, 32000)
MACHINE = Accelerator(global_buffer=2**20, weight_buffer=2**20)


def test_formula_1_of_one_network():
    """Energy at 1 MiB: 100 * 1000 + 1.0 * (200 + 300) + 0.31 * 4000 = 101740 pJ; latency 32000 / 16 = 2000."""
    assert Objective("ema", None, (1.0,)).value([TOTALS], MACHINE) == 1000
    assert Objective("energy", None, (1.0,)).value([TOTALS], MACHINE) == pytest.approx(101740, rel=1e-12)
    assert Objective("latency-sum", None, (1.0,)).value([TOTALS], MACHINE) == 2000


def test_networks_are_added_with_their_weights():
    assert Objective("ema", None, (2.0, 0.5)).value([TOTALS, TOTALS], MACHINE) == 2500


def test_formula_2_adds_the_buffers():
    """2 MiB + 0.5 * 1000."""
    objective = Objective("ema", 0.5, (1.0,))
    assert objective.cost(1000.0, MACHINE) == 2 * 2**20 + 500
    assert Objective("ema", None, (1.0,)).cost(1000.0, MACHINE) == 1000


def test_the_buffers_of_all_cores_may_count():
    chip, one, both = replace(MACHINE, cores=4), Objective("ema", 0.5, (1.0,)), Objective("ema", 0.5, (1.0,), "all")
    assert both.cost(1000.0, chip) - one.cost(1000.0, chip) == 3 * chip.buffer_bytes
    assert both.cost(1000.0, MACHINE) == one.cost(1000.0, MACHINE)
    with pytest.raises(ValueError, match="count must be one of one, all, got 'two'"):
        Objective("ema", 0.5, (1.0,), "two")


@pytest.mark.parametrize("alpha", [-0.1, float("nan"), float("inf"), "1", True, 10**400])
def test_alpha_is_finite_and_not_negative(alpha):
    with pytest.raises(ValueError, match="alpha must be a finite number of at least 0, got"):
        Objective("ema", alpha, (1.0,))


@pytest.mark.parametrize("weight", [0, -1.0, float("nan"), float("inf"), "1", None])
def test_weights_are_finite_and_positive(weight):
    with pytest.raises(ValueError, match="weights must be finite numbers above 0, got"):
        Objective("ema", 0.1, (1.0, weight))


def test_the_metric_is_known():
    with pytest.raises(ValueError, match="metric must be one of ema, energy, latency-sum, latency, got 'speed'"):
        Objective("speed", None, (1.0,))


def test_factors_that_would_outgrow_a_float_are_refused():
    with pytest.raises(ValueError, match="alpha must be at most"):
        Objective("ema", 1e308, (1.0,))
    with pytest.raises(ValueError, match="weights must be at most"):
        Objective("ema", None, (1e300,))


def test_what_does_not_run_costs_infinitely_much_also_where_energy_is_worth_nothing():
    assert Objective("energy", 0.0, (1.0,)).cost(float("inf"), Accelerator(shared_buffer=64)) == float("inf")
    assert Objective("energy", 0.0, (1.0,)).cost(7.0, Accelerator(shared_buffer=64)) == 64.0


def test_other_metrics_are_added_at_their_worth():
    """1000 bytes + 0.5 * 2000 cycles, twice for a weight of 2."""
    objective = Objective("ema", None, (2.0,), also=(("latency-sum", 0.5),))
    assert objective.value([TOTALS], MACHINE) == 4000
    assert objective.metrics == ("ema", "latency-sum")
