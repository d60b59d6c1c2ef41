"""A search tells its stages, and Ctrl-C in any of them leaves the best so far with its bound."""

from __future__ import annotations

import logging
import math
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

import cocco
import workloads
from cocco.effort.stages import Stage, tell, watched_by, without_bounds
from cocco.effort.status import Interrupted, Unfinished
from cocco.exploration import answer as kept
from cocco.problem.problem import on_hardware
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator import Accelerator, evaluate
from tests.helpers.random_problems import random_net

SPACE = cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 256 * 2**10)
CHIP = Accelerator(shared_buffer=4096)


def explored(keep: str, **more: Any) -> cocco.Result:
    return cocco.explore(workloads.load("vgg16"), space=SPACE, samples=300, metric="ema", alpha=0.05, keep=keep, **more)


@cache
def told(keep: str) -> tuple[list[Stage], cocco.Result]:
    """What a search tells, and its answer."""
    heard: list[Stage] = []
    return heard, explored(keep, stages=heard.append)


def stages_of(keep: str) -> list[Stage]:
    return told(keep)[0]


@pytest.fixture(scope="module", autouse=True)
def no_proof():
    """Let every exact search over all layers give up at once."""
    with patch.object(kept, "KEPT_STEPS", 64):
        yield


def test_stages_are_told_in_their_order():
    names = list(dict.fromkeys(stage.name for stage in stages_of("none")))
    assert names[:4] == ["founders", "greedy and dp", "annealing", "proof"], "too few samples to polish"


def test_stages_are_logged(caplog: pytest.LogCaptureFixture):
    """Whoever listens or not; the library prints nothing."""
    with caplog.at_level(logging.DEBUG, logger="cocco"):
        tell("proof", 3, 46, "memories")
    assert caplog.messages == ["proof 3 of 46 memories"]


def test_stages_with_kept_tensors_are_told_in_their_order():
    names = list(dict.fromkeys(stage.name for stage in stages_of("auto")))
    assert names[:4] == ["proof", "founders", "greedy and dp", "kept tensors"] and names[-1] == "other sizes"


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_the_gap_only_falls_and_its_bound_holds(keep):
    least = explored("auto", method="exact")
    assert least.status == "optimal"
    heard = stages_of(keep)
    gaps = [stage.gap for stage in heard if stage.gap is not None]
    assert gaps and gaps == sorted(gaps, reverse=True)
    if keep == "auto":
        assert all(stage.bound <= least.cost * (1 + 1e-9) for stage in heard)
    assert all(0 <= stage.done <= stage.total or not stage.total for stage in heard)


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_telling_changes_no_answer(keep):
    assert told(keep)[1].to_json() == explored(keep).to_json()


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_ctrl_c_in_every_stage_leaves_an_answer_with_its_bound(keep):
    """The listener presses Ctrl-C the first and the last time that it hears each stage."""
    heard, whole = told(keep)
    for name in dict.fromkeys(stage.name for stage in heard):
        places = [i for i, stage in enumerate(heard) if stage.name == name]
        for place in {places[0], places[-1]}:
            left = [place]

            def press(_: Stage, left: list[int] = left) -> None:
                left[0] -= 1
                if left[0] == -1:
                    raise KeyboardInterrupt

            with pytest.raises(Interrupted) as stopped:
                explored(keep, stages=press)
            result = stopped.value.result
            assert result.status in ("stopped", "optimal", "feasible"), (name, place)
            assert result.lower_bound is not None and 0 < result.lower_bound <= whole.cost * (1 + 1e-9), (name, place)
            assert math.isfinite(result.cost) and result.cost >= whole.lower_bound * (1 - 1e-9)
            network = workloads.load("vgg16")
            assert evaluate(network, result.plan, result.accelerator).fits, (name, place)


@pytest.mark.parametrize("seed", range(4))
def test_ctrl_c_in_greedy_and_dp_leaves_a_partition(seed, monkeypatch):
    """Pressed at every price in turn: what is left is valid, and at the end all of it."""
    problem = on_hardware(random_net(seed), CHIP, metric="ema", keep="none")
    order = depth_order(problem)
    for build in (lambda costs: greedy(problem, costs), lambda costs: dynamic(problem, costs, order)):
        asked = 0
        while True:
            costs, calls = SubgraphCosts(problem), [0]
            price = costs.costs

            def press(group: Any, price: Any = price, calls: list[int] = calls, asked: int = asked) -> float:
                calls[0] += 1
                if calls[0] > asked:
                    raise KeyboardInterrupt
                return float(price(group))

            monkeypatch.setattr(costs, "costs", press)
            try:
                build(costs)
            except Unfinished as stop:
                (plan,) = problem.partitions(_groups(stop.labels))  # raises where it is none
                assert sorted(v for group in plan.subgraphs for v in group) == list(range(problem.size))
            except KeyboardInterrupt:
                pairs = sum(len(set(problem.near(v))) for v in range(problem.size)) // 2
                assert asked < 3 * pairs  # before there is anything: the first look at all pairs
            else:
                break
            asked += 1
        assert asked > 0


def test_bounds_of_another_question_are_not_told():
    heard: list[Stage] = []
    with watched_by(heard.append):
        with without_bounds():
            tell("proof", best=10.0, bound=9.0)
        tell("proof", bound=5.0)
    assert [(stage.best, stage.bound) for stage in heard] == [(10.0, 0.0), (10.0, 5.0)]
    assert heard[1].gap == 0.5 and heard[0].gap is None


def test_a_question_inside_another_starts_anew():
    heard: list[Stage] = []
    with watched_by(heard.append):
        tell("proof", best=10.0, bound=9.0)
        with watched_by(None):
            tell("proof", best=20.0)
    tell("proof", best=1.0)  # nobody listens
    assert [(stage.best, stage.bound) for stage in heard] == [(10.0, 9.0), (20.0, 0.0)]


def _groups(labels: list[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for v, label in enumerate(labels):
        groups.setdefault(label, []).append(v)
    return list(groups.values())
