"""A schedule of whole tensors, priced as a plan of tiles."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import graph_of
from experiments.common.least_traffic import plan_of
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.schedule.operators import operators_of


@pytest.mark.parametrize("budget", ["minimum", "peak"])
@pytest.mark.parametrize("name", ["resnet50", "googlenet", "densenet121", "vit_b16", "randwire_a"])
def test_a_schedule_of_whole_tensors_is_a_plan_that_moves_as_much(name: str, budget: str):
    """In the very same memory; concatenations, which are no copies there, and rounding make no difference here."""
    loaded = workloads.load(name)
    budgets = budgets_of(graph_of(operators_of(loaded, parameters=True)))
    size = -(-budgets.bytes_of(budget) // 8) * 8
    found = cocco.schedule(loaded, size, parameters=True)
    assert found.schedule is not None and found.offchip_bytes is not None
    priced = evaluate(loaded, plan_of(loaded, found.schedule), Accelerator(shared_buffer=size))
    assert priced.ema_bytes == found.compulsory_bytes + found.offchip_bytes


def test_a_plan_reads_an_input_again_that_its_schedule_spills():
    """GPT's tokens, 393,216 bytes: in COSMA's model a model input has no copy on the host, in a plan it has."""
    loaded = workloads.load("gpt")
    found = cocco.schedule(loaded, 6_291_456, parameters=True)
    assert found.schedule is not None and found.offchip_bytes is not None
    assert [each.tensor for each in found.schedule.segments if each.leaves == "spilled"].count("tokens") == 1
    priced = evaluate(loaded, plan_of(loaded, found.schedule), Accelerator(shared_buffer=6_291_456))
    assert priced.ema_bytes == found.compulsory_bytes + found.offchip_bytes - 393_216
