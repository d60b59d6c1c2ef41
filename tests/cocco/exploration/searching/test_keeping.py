"""The search with kept tensors where no proof finishes: never worse than without, the same each time, Ctrl-C."""

from __future__ import annotations

from itertools import product

import pytest

import cocco
import workloads
from cocco.effort.status import Interrupted
from cocco.exploration import answer as kept
from cocco.exploration.searching import keeping as kept_search
from simulator import evaluate
from tests.helpers.parts import first_of
from tests.helpers.small_spaces import question_of, small_space

SPACE = cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 256 * 2**10)
ASKED = {"space": SPACE, "samples": 600, "metric": "ema", "alpha": 0.05}


@pytest.fixture
def no_proof(monkeypatch):
    """Let every exact search over all layers give up at once."""
    monkeypatch.setattr(kept, "KEPT_STEPS", 64)


def test_it_is_no_worse_than_without_and_the_same_each_time(no_proof):
    network = workloads.load("vgg16")
    plain = cocco.explore(network, **ASKED, keep="none")
    found, again = (cocco.explore(network, **ASKED, keep="auto") for _ in range(2))
    assert found.cost < plain.cost and found.status == "feasible"
    assert found.lower_bound is not None and found.lower_bound < found.cost
    assert (found.plans, found.cost, found.samples) == (again.plans, again.cost, again.samples)
    assert evaluate(network, found.plan, found.accelerator) == found.evaluation
    assert found.to_json()["keep"] and found.to_json()["partition"]


@pytest.mark.parametrize(
    ("samples", "method"), first_of([(300, "ga"), (4, "sa"), *product([1, 4, 300, 2, 3, 20], ["ga", "sa"])], 2)
)
def test_two_searches_take_the_samples_of_one(method, samples):
    """The points are those of both, numbered on, and the bar hears of all."""
    told: list[tuple[int, int]] = []
    asked = ASKED | {"samples": samples, "method": method}
    found = cocco.explore(workloads.load("vgg16"), **asked, progress=lambda done, most, _: told.append((done, most)))
    points, history = found.points, found.history
    assert found.samples == samples == points["sample"].iloc[-1] == history["samples"].iloc[-1] == told[-1][0]
    assert {most for _, most in told} == {samples} and [done for done, _ in told] == history["samples"].tolist()
    assert points["sample"].is_monotonic_increasing and points["sample"].is_unique
    assert history["generation"].tolist() == list(range(len(history))) == sorted(set(points["generation"]))
    assert points["best_cost"].tolist() == points["cost"].cummin().tolist()
    assert history["best_cost"].tolist() == points.groupby("generation")["best_cost"].last().tolist()
    first = cocco.explore(
        workloads.load("vgg16"), **asked | {"samples": samples - samples // kept.SECOND_SEARCH_SHARE}, keep="none"
    )
    pairs = zip(first.points["cost"], points["cost"])
    assert samples == 300 or all(one == other for one, other in pairs), "the first search is that without kept tensors"
    assert (len(first.points) < len(points)) == (samples >= kept.SECOND_SEARCH_SHARE)


@pytest.mark.parametrize("method", first_of(["ga", "sa", "random", "grid"], 2))
def test_every_method_is_improved(method):
    plain, found = (
        cocco.explore(workloads.load("vgg16"), **ASKED, method=method, keep=keep) for keep in ("none", "auto")
    )
    assert found.cost <= plain.cost and (found.method, found.status) == (method, "feasible")


@pytest.mark.parametrize("method", first_of(["dp", "ga", "greedy", "idp", "sa"], 2))
def test_every_method_on_given_hardware_is_improved(method):
    chip = cocco.explore(workloads.load("vgg16"), **ASKED).accelerator
    asked = {"method": method, "samples": 300, "metric": "ema"}
    plain, found = (cocco.partition(workloads.load("vgg16"), chip, **asked, keep=keep) for keep in ("none", "auto"))
    assert found.cost <= plain.cost and found.method == method


@pytest.mark.parametrize("seeds", first_of([range(400, 402), range(402, 412)], 1))
def test_random_spaces_are_no_worse_without_a_proof(seeds, no_proof):
    for seed in seeds:
        problem = small_space(seed)
        if problem is None:
            continue
        asked = question_of(problem) | {"metric": problem.objective.metric, "samples": 60}
        plain, found = (cocco.explore(**asked, keep=keep) for keep in ("none", "auto"))
        assert found.cost <= plain.cost * (1 + 1e-12), seed


@pytest.mark.parametrize("where", ["genetic_search", "improve_plans", "first_plans"])
def test_ctrl_c_leaves_the_best_so_far(no_proof, monkeypatch, where):
    network, calls = workloads.load("vgg16"), []
    plain = cocco.explore(network, **ASKED, keep="none")

    def press(*_, **__):
        calls.append(where)
        raise KeyboardInterrupt

    monkeypatch.setattr(kept if where == "genetic_search" else kept_search, where, press)
    with pytest.raises(Interrupted) as stopped:
        cocco.explore(network, **ASKED, keep="auto")
    assert calls and stopped.value.result.status == "stopped" and stopped.value.result.cost <= plain.cost
