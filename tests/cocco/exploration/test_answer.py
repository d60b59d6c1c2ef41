"""Partitions with kept tensors: proven, saved, evaluated and executed as they were found."""

from __future__ import annotations

import json

import pytest

import cocco
import workloads
from cocco.bounds import cheapest as bounds_cheapest
from cocco.problem.problem import on_hardware
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution import verify
from tests.helpers.command_line import answer, assert_malformed
from tests.helpers.command_line import cocco as run
from tests.helpers.parts import first_of

pytestmark = pytest.mark.usefixtures("undrawn")

CHIP = Accelerator(shared_buffer=896 * KiB)


def test_what_resnet50_keeps_is_proved_saved_and_executed(tmp_path):
    """25.86 MB in 896 KB, where no plan without kept tensors moves less than 32.43. Regression values."""
    network = workloads.load("resnet50")
    plain = cocco.partition(network, CHIP, metric="ema", method="exact", keep="none")
    found = cocco.partition(network, CHIP, metric="ema", method="exact", keep="auto")
    assert (plain.cost, found.cost) == (32_432_296, 25_855_144)
    assert (found.status, found.lower_bound, found.gap) == ("optimal", found.cost, 0.0)
    assert found.plan.keep and not plain.plan.keep
    found.plan.save(tmp_path / "plan.json")
    again = Partition.load(tmp_path / "plan.json", network)
    assert again == found.plan and evaluate(network, again, CHIP) == found.evaluation
    assert verify(network, again, CHIP).verified


@pytest.mark.parametrize("capacity", first_of([512, 128, 2048], 1))
@pytest.mark.parametrize("metric", ["ema", "energy", "latency-sum"])
def test_nothing_is_worse_with_kept_tensors(metric, capacity):
    chip = Accelerator(shared_buffer=capacity * KiB)
    network = workloads.load("vgg16")
    plain, kept = (cocco.partition(network, chip, metric=metric, samples=300, keep=keep) for keep in ("none", "auto"))
    assert kept.status == "optimal" and kept.cost <= plain.cost


def test_where_the_search_gives_up_the_answer_is_no_worse_and_claims_no_more_than_its_bound(monkeypatch):
    network = workloads.load("vgg16")
    plain = cocco.partition(network, CHIP, samples=300, keep="none")
    monkeypatch.setattr("cocco.exploration.answer.HARDWARE_STEPS", 64)
    found = cocco.partition(network, CHIP, samples=300, keep="auto")
    assert found.cost <= plain.cost
    assert found.status == "feasible" and found.lower_bound is not None and found.lower_bound < found.cost
    optimum = cocco.partition(network, CHIP, method="exact", keep="auto")
    assert optimum.status == "optimal" and found.lower_bound <= optimum.cost <= found.cost


def test_a_search_that_lies_is_noticed(monkeypatch):
    network = workloads.load("vgg16")
    found = bounds_cheapest.cheapest_plans(on_hardware(network, CHIP, metric="ema"))
    monkeypatch.setattr(
        "cocco.exploration.memories.solved.cheapest_plans", lambda *_, **__: found._replace(cost=found.cost - 1)
    )
    with pytest.raises(RuntimeError, match="please report this with the network"):
        cocco.partition(network, CHIP, samples=300, keep="auto", metric="ema")


def test_the_command_line_finds_saves_and_evaluates_them(tmp_path):
    asked = ("partition", "vgg16", "--shared-buffer", "2MB", "--samples", 300, "--keep", "auto")
    found = answer(run(*asked, "-o", "plan.json", "--json", folder=tmp_path))
    assert found["keep"] and found["totals"]["kept_saved_bytes"] > 0
    assert json.loads((tmp_path / "plan.json").read_text())["keep"]
    again = answer(
        run(
            "evaluate",
            "vgg16",
            "--partition",
            "plan.json",
            "--shared-buffer",
            "2MB",
            "--verify",
            "--json",
            folder=tmp_path,
        )
    )
    assert again["totals"] == found["totals"] and again["verified"] is True
    assert "kept on chip" in run(*asked, folder=tmp_path).stdout


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="keep must be one of auto, none, got 'all'"):
        cocco.partition(workloads.load("vgg16"), CHIP, keep="all")
    assert_malformed(run("partition", "vgg16", "--keep", "all"), "--keep")


def test_the_command_line_proves_memories_fronts_and_limits(tmp_path):
    """Each as its own process, and its files; --plain is the paper's, which keeps nothing."""
    space = ("--range", "512KB:1024KB:256KB", "--samples", 300)
    found = answer(run("explore", "vgg16", *space, "--keep", "auto", "--json", "-o", "run", folder=tmp_path))
    assert found["status"] == "optimal" and found["keep"] and found["method"] == "exact"
    assert json.loads((tmp_path / "run/result.json").read_text())["settings"]["keep"] == "auto"
    assert json.loads((tmp_path / "run/partition.json").read_text())["keep"]
    plain = answer(run("explore", "vgg16", *space, "--plain", "--json"))
    assert "keep" not in plain and plain["cost"] > found["cost"]
    front = answer(run("pareto", "vgg16", *space, "--keep", "auto", "--json", "-o", "front", folder=tmp_path))
    assert front["status"] == "optimal" and front["front"][-1]["keep"]
    limits = ("--minimize", "capacity", "--limit", "ema=143000000", "--keep", "auto")
    limited = answer(run("explore", "vgg16", *space, *limits, "--json"))
    assert limited["status"] == "optimal" and limited["keep"]
