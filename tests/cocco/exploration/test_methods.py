"""Every method answers the same questions, judged by the simulator; exact ones say what they proved."""

from __future__ import annotations

from typing import get_args

import pytest

import cocco
import workloads
from cocco import bounds
from cocco.effort.budgets import EFFORT, QUICK_SAMPLES
from cocco.exploration import methods
from cocco.exploration.methods import HARDWARE_METHODS, SPACE_METHODS
from cocco.problem.names import HardwareMethod, SpaceMethod
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, KiB, evaluate
from tests.helpers.least_memory import least_shared
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_net
from tests.helpers.search_graphs import chain, diamond

MEDIUM = Accelerator(global_buffer=1024 * KiB, weight_buffer=1152 * KiB)
ENGINES = ("reference", "fast") if has_kernel() else ("reference",)


@pytest.mark.parametrize("method", HARDWARE_METHODS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("metric", "column"), [("ema", "ema_bytes"), ("energy", "energy_pj")])
def test_methods_on_given_hardware_are_judged_and_bounded(method, engine, metric, column):
    machine = Accelerator(shared_buffer=2000)
    result = cocco.partition(diamond(), machine, method=method, metric=metric, samples=60, engine=engine, keep="none")
    assert result.cost == getattr(evaluate(diamond(), result.plan, machine), column)
    assert result.lower_bound <= result.cost and result.status in ("optimal", "feasible")


@pytest.mark.parametrize("method", SPACE_METHODS)
def test_methods_that_choose_a_memory_agree_with_each_other(method):
    space = cocco.SharedBuffer(1024, 4096, 512)
    best = cocco.explore(chain(4), space=space, alpha=0.01, metric="energy", method="exact", keep="none")
    result = cocco.explore(chain(4), space=space, alpha=0.01, metric="energy", method=method, samples=400, keep="none")
    assert best.status == "optimal" and best.gap == 0
    assert result.cost >= best.cost
    assert result.cost == pytest.approx(
        result.accelerator.buffer_bytes + 0.01 * evaluate(chain(4), result.plan, result.accelerator).energy_pj
    )


def test_auto_proves_the_memory_that_the_search_found():
    """Every candidate is enumerated or ruled out by its bound: no answer is below, whatever method searches."""
    for seed in range(5):
        network = random_net(seed)
        least = least_shared(network)
        space = cocco.SharedBuffer(least, least + 8192, 256)
        result = cocco.explore(network, space=space, alpha=0.01, samples=60, seed=seed, keep="none")
        if result.status != "optimal":
            continue
        assert result.lower_bound == result.cost
        for other in ("ga", "sa", "random"):
            assert (
                cocco.explore(network, space=space, alpha=0.01, method=other, samples=300, keep="none").cost
                >= result.cost
            )


@pytest.mark.parametrize(
    ("name", "size", "ema"),
    first_of([
        ("vgg16", 128, 165_807_784), ("resnet50", 512, 34_389_160), ("googlenet", 128, 11_278_664),
        ("gpt", 128, 585_520_128), ("vgg16", 1024, 143_780_520), ("vgg16", 512, 145_386_152),
        ("resnet50", 1024, 30_676_136), ("resnet50", 128, 45_055_144), ("googlenet", 512, 8_663_240),
        ("gpt", 512, 297_848_832),
    ], 4),
)  # fmt: skip
def test_published_optima_of_the_model_are_proven(name, size, ema):
    """Weights have 9/8 of it; 1024 + 1152 KB are those of an independent enumeration, which knows no nests."""
    machine = Accelerator(global_buffer=size * KiB, weight_buffer=size * KiB * 9 // 8, plans="paper")
    result = cocco.partition(workloads.load(name), machine, method="exact", metric="ema", keep="none")
    assert (result.status, result.cost, result.gap) == ("optimal", ema, 0)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "dp", "idp"])
def test_both_engines_give_the_same_answer(method):
    for seed in range(6):
        network = random_net(seed)
        machine = Accelerator(shared_buffer=least_shared(network) + 300 * seed)
        first, second = (
            cocco.partition(network, machine, method=method, metric="energy", samples=80, engine=engine, keep="none")
            for engine in ENGINES
        )
        assert first.to_json() == second.to_json()


def test_exact_gives_up_with_an_answer_and_a_bound(monkeypatch):
    """Two steps are not enough for a chain of 6: the best of greedy and dp, and the bound, remain."""
    monkeypatch.setattr("cocco.exploration.methods.MAX_STEPS", 2)
    result = cocco.partition(chain(6), Accelerator(shared_buffer=3000), method="exact", metric="ema", keep="none")
    assert result.status == "gave_up" and result.lower_bound < result.cost
    assert result.cost == evaluate(chain(6), result.plan, result.accelerator).ema_bytes


def test_a_search_is_never_worse_than_its_seeds(monkeypatch):
    """Where enumeration gives up, the search starts from greedy and dp, and their work is counted."""
    monkeypatch.setattr("cocco.exploration.methods.PLAIN_STEPS", 2)
    network = workloads.load("googlenet")
    result = cocco.partition(network, MEDIUM, samples=400, keep="none")
    seeds = [cocco.partition(network, MEDIUM, method=method, keep="none").cost for method in ("greedy", "dp")]
    assert result.method == "ga" and result.cost <= min(seeds)
    assert 300 < result.samples <= 400


def test_unknown_methods_are_named():
    names = "auto, ga, paper, exact, greedy, dp, idp, sa"
    with pytest.raises(ValueError, match=f"method must be one of {names}, got 'magic'"):
        cocco.partition(chain(2), MEDIUM, method="magic")
    with pytest.raises(ValueError, match="got 'greedy'"):
        cocco.explore(chain(2), method="greedy")


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "dp", "idp"])
def test_ctrl_c_before_there_is_an_answer_keeps_layer_by_layer(method, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    for name in ("prove", "greedy", "depth_order"):
        monkeypatch.setattr(f"cocco.exploration.methods.{name}", stop)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.partition(chain(4), MEDIUM, method=method, keep="none")
    assert stopped.value.result.status == "stopped" and len(stopped.value.result.plan) == 4


def test_ctrl_c_in_an_enumeration_leaves_the_partition_of_greedy(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cocco.exploration.memories.solved.solve", stop)
    machine = Accelerator(shared_buffer=3000)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.partition(chain(6), machine, method="exact", keep="none")
    result = stopped.value.result
    assert (result.status, result.method) == ("stopped", "exact")
    assert result.cost == cocco.partition(chain(6), machine, method="greedy", keep="none").cost


@pytest.mark.parametrize(
    ("certified", "bound", "status"),
    [(0.5, None, "feasible"), (0.999, 0.999, "feasible"), (1.0, 1.0, "optimal")],
)
def test_a_certificate_raises_the_bound_and_proves_only_what_it_reaches(monkeypatch, certified, bound, status):
    """Shares of the cost; a bound below what is forced anyway changes nothing (2752 of 3776 bytes of a chain)."""
    machine = Accelerator(global_buffer=65536, weight_buffer=1152)
    plain = cocco.partition(chain(3), machine, method="greedy", metric="ema", keep="none")
    assert (plain.lower_bound, plain.cost) == (2752, 3776)
    monkeypatch.setattr(bounds, "check_solvers", lambda: None)
    proof = bounds.Certificate(certified * plain.cost, "partition", 1, 1, 1.0)
    monkeypatch.setattr(bounds, "certify", lambda *_: proof)
    found = cocco.partition(chain(3), machine, method="greedy", metric="ema", prove=True, keep="none")
    assert (found.status, found.lower_bound) == (status, plain.lower_bound if bound is None else bound * plain.cost)


def test_the_methods_are_those_that_can_be_named():
    assert [*HARDWARE_METHODS] == [*get_args(HardwareMethod)] and [*SPACE_METHODS] == [*get_args(SpaceMethod)]


def test_exact_gives_up_where_one_memory_is_left_open(monkeypatch):
    """Never "feasible": the user asked for a proof."""
    space, seen = cocco.SharedBuffer(1024, 9216, 1024), set()
    for budget in (0, 200, 400, 800, 1600, 10**6):
        monkeypatch.setattr(methods, "MAX_STEPS", budget)
        found = cocco.explore(chain(4), space=space, alpha=3.0, metric="ema", method="exact", samples=20, keep="none")
        seen.add((found.status, found.method))
    assert seen == {("gave_up", "exact"), ("optimal", "exact")}


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_a_proof_by_solvers_takes_what_the_effort_says(monkeypatch, keep):
    """Deterministic time of the solvers: an eighth of it, all, eight times; and nothing of it is measured."""
    asked, certify = [], bounds.certify

    def told(problem, labels, effort, best):
        asked.append(effort)
        return certify(problem, labels, 0.01, best)

    monkeypatch.setattr("cocco.bounds.certify", told)
    monkeypatch.setattr("cocco.exploration.answer.MAX_STEPS", 64)
    for level in ("quick", "normal", "thorough"):
        cocco.partition(workloads.load("vgg16"), MEDIUM, method="ga", effort=level, samples=60, keep=keep, prove=True)
    assert asked == [EFFORT / 8, EFFORT, EFFORT * 8]


@pytest.mark.parametrize("keep", ["none", "auto"])
@pytest.mark.parametrize("is_chosen", [False, True])
@pytest.mark.parametrize("name", first_of(["vgg16", "resnet50"], 1))
def test_what_no_proof_decides_asks_the_quick_certificate(monkeypatch, name, keep, is_chosen):
    """Where the solvers are there: one unit for `QUICK_SAMPLES` samples, and what it proves is the lower bound."""
    asked = []

    def certified(problem, labels, effort, best):
        asked.append((problem.keep, effort))
        return bounds.Certificate(0.9995 * best, "partition", 1, 1, 1.0)

    monkeypatch.setattr(bounds, "has_solvers", lambda: True)
    monkeypatch.setattr("cocco.bounds.certify", certified)
    for limit in ("PLAIN_STEPS", "PLAIN_PER_LAYER"):
        monkeypatch.setattr(methods, limit, 1)
    for limit in ("KEPT_STEPS", "HARDWARE_STEPS"):
        monkeypatch.setattr("cocco.exploration.answer." + limit, 1)
    network, budget = workloads.load(name), {"samples": 60, "keep": keep, "metric": "ema"}
    if is_chosen:
        space = cocco.SharedBuffer(256 * KiB, 512 * KiB, 128 * KiB)
        found = cocco.explore(network, space=space, alpha=0.002, ranges=False, **budget)
    else:
        found = cocco.partition(network, Accelerator(shared_buffer=512 * KiB), **budget)
    assert asked == [(keep, 60 / QUICK_SAMPLES)] and found.gap <= 0.0005 + 1e-9


def test_a_network_of_more_than_192_tensors_has_the_price_of_its_plan():
    """Sets of four machine words, and patterns, in the compiled search; the readable one finds the same plan."""
    network = workloads.load("llama3_8b", length=512, layers=13)
    found = cocco.partition(network, Accelerator(shared_buffer=12 * 1024 * KiB), metric="energy")
    assert (found.status, len(network.tensors)) == ("optimal", 196)
    assert found.cost == pytest.approx(772_408_396_253.7267, rel=1e-12)
