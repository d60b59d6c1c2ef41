"""Searches beside each other: the same bytes for any number of workers, for kills, and an answer after Ctrl-C."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import cocco
import workloads
from cocco.effort.work_units import Steps, taken_by
from cocco.exploration.searching import divided_search
from cocco.exploration.workers import jobs
from cocco.problem.problem import on_hardware
from cocco.search.genetic.population import Population
from simulator import Accelerator
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain
from tests.helpers.workers_here import workers_here

ASKED: dict[str, Any] = {"method": "ga", "keep": "none", "samples": 1200, "seed": 3}


@pytest.fixture(autouse=True)
def divided(monkeypatch):
    monkeypatch.setattr(divided_search, "LEAST_DIVIDED", 1000)


@pytest.fixture
def here(monkeypatch):
    return workers_here(monkeypatch)


class Kept:
    """A store that keeps answers as JSON, as a file does."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}

    def find(self, key: str) -> tuple[Any] | None:
        return (json.loads(self.answers[key]),) if key in self.answers else None

    def keep(self, key: str, answer: Any) -> None:
        self.answers[key] = json.dumps(answer)

    def is_due(self) -> bool:
        return False

    def state(self, key: str) -> None:
        return None

    def keep_state(self, key: str, plain: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        raise AssertionError("it is never due")


def same(one: cocco.Result, other: cocco.Result) -> bool:
    return one.to_json() == other.to_json() and one.points.equals(other.points) and one.history.equals(other.history)


@pytest.mark.parametrize("workers", first_of([9, 2, 3], 1))
@pytest.mark.parametrize("space", [cocco.SharedBuffer(), cocco.SeparateBuffers()])
def test_any_number_of_workers_gives_the_same_answer(workers, space, here):
    network = workloads.load("vgg16")
    one, many = (cocco.explore(network, space=space, workers=count, **ASKED) for count in (1, workers))
    assert same(one, many)
    assert max(here) == min(workers, divided_search.PARALLEL_SEARCHES)


def test_given_hardware_and_kept_tensors_are_divided_too(here):
    network, chip = workloads.load("vgg16"), Accelerator(global_buffer=2**19, weight_buffer=2**19)
    one, two = (
        cocco.partition(network, chip, workers=count, **ASKED | {"samples": 2400, "keep": "auto"}) for count in (1, 2)
    )
    assert same(one, two) and here


def test_samples_are_as_many_as_asked_and_numbered_in_order():
    found = cocco.explore(workloads.load("googlenet"), **ASKED)
    numbers = found.points["sample"]
    assert found.samples <= ASKED["samples"] and numbers.is_monotonic_increasing and numbers.is_unique
    assert numbers.iloc[-1] == found.samples
    assert list(found.history["generation"]) == list(range(len(found.history)))
    assert found.history["best_cost"].is_monotonic_decreasing
    assert found.cost <= found.points["cost"].min(), "what greedy and dp say is no sample"


def test_fewer_samples_are_one_search(monkeypatch):
    network = workloads.load("vgg16")
    small = ASKED | {"samples": 999}
    found = cocco.explore(network, **small)
    monkeypatch.setattr(divided_search, "search_part", None)
    assert same(cocco.explore(network, **small), found)


def test_the_search_from_the_best_of_all_starts_with_them():
    """Its first population is theirs, each genome once, the best first; it loses none that is best."""
    problem = on_hardware(chain(6), Accelerator(shared_buffer=4096))
    values = np.array([5.0, 4.0])
    made = Population(np.array([[0] * 6, [0, 1, 1, 1, 1, 1]]), np.zeros((2, 2), int), values, values)
    again = divided_search.best_of([made, made], 8)
    assert again.cost.tolist() == [4.0, 5.0] and again.labels.tolist() == [[0, 1, 1, 1, 1, 1], [0] * 6]
    assert divided_search.best_of([made, made], 1).cost.tolist() == [4.0]
    assert again.labels.shape[1] == problem.size


def test_what_was_found_before_a_kill_is_not_searched_again(monkeypatch):
    network, store = workloads.load("vgg16"), Kept()
    whole = cocco.explore(network, **ASKED)
    with taken_by(Steps(store)):
        assert same(cocco.explore(network, **ASKED), whole)

    def never(*_: object) -> None:
        raise AssertionError("it was there")

    monkeypatch.setattr(divided_search, "search_part", _named(never))
    with taken_by(Steps(store)):
        assert same(cocco.explore(network, **ASKED), whole)


def _named(function: Any) -> Any:
    function.__module__, function.__qualname__ = divided_search.__name__, "search_part"
    return function


@pytest.mark.parametrize("calls", [1, 2, 4, 6])
def test_ctrl_c_leaves_the_best_so_far(calls):
    told: list[int] = []

    def stop(done: int, total: int, best: float) -> None:
        told.append(done)
        if len(told) == calls:
            raise KeyboardInterrupt

    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.explore(workloads.load("vgg16"), progress=stop, **ASKED)
    result = stopped.value.result
    assert result.status == "stopped" and 0 < result.samples < 1200 and result.cost == result.points["cost"].min()


def test_ctrl_c_while_workers_search_leaves_a_founder(monkeypatch):
    def run(function: Any, asked: Any) -> list[Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs, "_jobs", lambda *_: run)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.explore(workloads.load("vgg16"), workers=2, **ASKED)
    assert stopped.value.result.status == "stopped" and stopped.value.result.plans


@pytest.mark.slow
def test_processes_give_the_same_answer():
    network = workloads.load("googlenet")
    one, two = (cocco.explore(network, workers=count, **ASKED | {"samples": 3000}) for count in (1, 2))
    assert same(one, two)
