"""The metric by which a plan is chosen travels with it: files, prices, the judge; and memories that no layer fits."""

from __future__ import annotations

import json

import pytest

import cocco
import workloads
from cocco.exploration.limits import minimize
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.metrics import METRIC_NAMES
from tests.helpers.command_line import answer
from tests.helpers.command_line import cocco as command
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import BRANCHES, SPACE

pytestmark = pytest.mark.usefixtures("undrawn")

TIGHT = Accelerator(global_buffer=64 * KiB, weight_buffer=72 * KiB)  #: where tiles and loop orders differ by metric
COLUMN = {"ema": "ema_bytes", "energy": "energy_pj", "latency-sum": "latency_cycles"}


@pytest.mark.parametrize("metric", METRIC_NAMES)
def test_a_plan_saved_and_loaded_costs_what_the_search_said(metric, tmp_path):
    network = workloads.load("vgg16")
    found = cocco.partition(network, TIGHT, metric=metric, method="greedy")
    assert found.plan.metric == found.evaluation.metric == metric
    found.plan.save(tmp_path / "plan.json")
    assert ("metric" in json.loads((tmp_path / "plan.json").read_text())) == (metric != "energy")
    loaded = Partition.load(tmp_path / "plan.json", network)
    assert loaded == found.plan == cocco.load_partition(tmp_path / "plan.json", network)
    assert getattr(evaluate(network, loaded, TIGHT), COLUMN[metric]) == found.cost


def test_each_metric_is_least_where_it_is_asked_for():
    """Layer by layer there is nothing to choose but tiles and loop orders."""
    network = workloads.load("resnet50")
    by = {metric: evaluate(network, Partition.layerwise(network, metric), TIGHT) for metric in METRIC_NAMES}
    for metric, column in COLUMN.items():
        assert getattr(by[metric], column) == min(getattr(each, column) for each in by.values())
    assert by["ema"].ema_bytes < by["energy"].ema_bytes and by["energy"].energy_pj < by["ema"].energy_pj


@pytest.mark.parametrize("metric", first_of(["ema", "latency-sum", "energy"], 1))
def test_evaluate_prints_of_a_file_what_partition_printed(metric, tmp_path):
    """Without a word of the metric on its command line."""
    machine = ("--global-buffer", "64KB", "--weight-buffer", "72KB", "--json")
    searched = ("partition", "vgg16", "--method", "greedy", "--metric", metric, "-o", "plan.json", *machine)
    first = answer(command(*searched, folder=tmp_path))
    second = answer(command("evaluate", "vgg16", "--partition", "plan.json", *machine, folder=tmp_path))
    assert second["metric"] == first["metric"] == metric
    assert second["totals"] == first["totals"] and second["subgraphs"] == first["subgraphs"]
    assert second["totals"][COLUMN[metric]] == first["cost"]


@pytest.mark.parametrize("objectives", [("capacity", "ema"), ("capacity", "latency-sum", "energy"), ("ema", "energy")])
def test_every_point_of_a_front_is_one_plan(objectives):
    """Tiles and loop orders of all its numbers are those of the first metric, and the file of the plan says so."""
    front = cocco.pareto(BRANCHES, space=SPACE, objectives=objectives, samples=400)
    (first, *_) = [name for name in objectives if name in METRIC_NAMES]
    for point in front.found:
        (plan,) = point.plans
        priced = evaluate(BRANCHES, plan, point.accelerator)
        assert plan.metric == first
        expected = [
            point.accelerator.buffer_bytes if name == "capacity" else getattr(priced, COLUMN[name])
            for name in front.objectives
        ]
        assert list(point.values) == expected


def test_the_best_under_limits_is_one_plan():
    found = minimize(BRANCHES, "energy", {"latency-sum": 2000, "capacity": 6000}, space=SPACE, samples=400)
    assert found.best is not None
    (plan,) = found.best.plans
    priced = evaluate(BRANCHES, plan, found.best.accelerator)
    assert (plan.metric, priced.energy_pj) == ("energy", found.value) and priced.latency_cycles <= 2000
