"""The least of one thing under limits, against brute force; and what sharing a memory costs each network."""

from __future__ import annotations

from functools import cache

import pytest

import cocco
from cocco.effort.settings import Settings
from simulator import Technology
from simulator.evaluation import evaluate
from simulator.memory.sram import Sram
from simulator.memory.table import SramRow, SramTable
from tests.helpers.every_plan import everything
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import BRANCHES, SPACE, TWO, chain, criterion, dag, diamond

SPACES = {"shared": SPACE, "separate": TWO}
SETTINGS = Settings(population=30, elite=10)


@cache
def plans_of(space):
    """Return every combination in one of the spaces."""
    return everything([BRANCHES], SPACES[space])


def quantile(plans, name, share):
    """Return a value between the least and the largest of a criterion that some plans keep and others do not."""
    values = sorted(criterion(name, plan) for plan in plans)
    return values[int(share * (len(values) - 1))]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    ("what", "limited", "share"),
    [
        ("capacity", ("latency-sum",), 0.3), ("energy", ("capacity",), 0.5), ("ema", ("capacity",), 0.2),
        ("energy", ("capacity", "latency-sum"), 0.3), ("latency-sum", ("energy", "area"), 0.4),
        ("capacity", ("bandwidth",), 0.1),
    ],
)  # fmt: skip
def test_the_least_under_limits_is_what_brute_force_finds(what, limited, share, space):
    plans = plans_of(space)
    limits = {name: quantile(plans, name, share) * (1 + 1e-9) for name in limited}
    kept = [plan for plan in plans if all(criterion(name, plan) <= bound for name, bound in limits.items())]
    least = min(criterion(what, plan) for plan in kept)
    found = cocco.minimize(BRANCHES, what, limits, space=SPACES[space], samples=1500, settings=SETTINGS, keep="none")
    assert found.value == pytest.approx(least, rel=1e-12)
    assert found.best is not None and found.status in ("optimal", "feasible")
    for name, value in zip(found.objectives, found.best.values):
        assert value <= limits.get(name, value)
    if len(limited) == 1:
        assert found.status == "optimal" and found.lower_bound == found.value
    assert found.lower_bound is not None and found.lower_bound <= least * (1 + 1e-12)
    assert found.floors or "capacity" not in found.objectives
    for row in found.floors:
        floor = dict(zip(found.objectives, row))
        here = [plan for plan in plans if criterion("capacity", plan) == floor["capacity"]]
        for name, value in floor.items():
            assert value <= min(criterion(name, plan) for plan in here) * (1 + 1e-9)


@pytest.mark.parametrize("space", SPACES)
def test_a_limit_just_below_the_least_is_proved_infeasible_with_the_nearest(space):
    least = min(criterion("latency-sum", plan) for plan in plans_of(space))
    limits = {"latency-sum": 0.999 * least}
    found = cocco.minimize(BRANCHES, "capacity", limits, space=SPACES[space], samples=800, settings=SETTINGS)
    assert (found.status, found.best, found.value, found.lower_bound) == ("infeasible", None, None, None)
    nearest = dict(zip(found.objectives, found.nearest.values))
    assert nearest["latency-sum"] == least
    assert found.to_json()["nearest"]["latency_cycles"] == least


def test_a_capacity_below_all_candidates_is_proved_infeasible():
    found = cocco.minimize(BRANCHES, "energy", {"capacity": 1023}, space=SPACE, samples=100, settings=SETTINGS)
    assert found.status == "infeasible" and found.nearest.accelerator.shared_buffer == 1024


@pytest.mark.parametrize("what", ["capacity", "latency-sum"])
@pytest.mark.parametrize("space", SPACES)
def test_a_limit_that_is_met_exactly_is_proved_by_enumeration_where_the_search_does_not_find_it(what, space):
    """One sample finds nothing; the least traffic is the bound of memories that hold all: an excess of exactly 1."""
    least = min(criterion("ema", plan) for plan in plans_of(space))
    kept = [plan for plan in plans_of(space) if criterion("ema", plan) <= least]
    found = cocco.minimize(
        BRANCHES, what, {"ema": least}, space=SPACES[space], samples=1, settings=SETTINGS, keep="none"
    )
    assert (found.status, found.value) == ("optimal", min(criterion(what, plan) for plan in kept))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.5, 0.9])
def test_a_search_of_one_sample_is_never_proved_wrongly(share):
    """What enumeration proves under limits is what brute force finds; what it leaves open has a bound below that."""
    bound = quantile(plans_of("shared"), "latency-sum", share)
    least = min(criterion("capacity", plan) for plan in plans_of("shared") if criterion("latency-sum", plan) <= bound)
    found = cocco.minimize(
        BRANCHES, "capacity", {"latency-sum": bound}, space=SPACE, samples=1, settings=SETTINGS, keep="none"
    )
    assert found.status == "optimal" and found.value == least == found.lower_bound


@pytest.mark.parametrize("share", first_of([0.3, 0.02, 0.1, 0.6], 1))
@pytest.mark.parametrize(
    ("what", "limited"), [("energy", "latency-sum"), ("latency-sum", "ema"), ("bandwidth", "energy")]
)
def test_two_metrics_without_a_search_are_never_proved_wrongly(what, limited, share):
    """The optimum of one metric may break the limit on the other while another partition there keeps it."""
    bound = quantile(plans_of("shared"), limited, share) * (1 + 1e-9)
    least = min(criterion(what, plan) for plan in plans_of("shared") if criterion(limited, plan) <= bound)
    for seed in range(4):
        found = cocco.minimize(
            BRANCHES, what, {limited: bound}, space=SPACE, samples=1, seed=seed, settings=SETTINGS, keep="none"
        )
        assert found.status != "infeasible"
        assert found.lower_bound is not None and found.lower_bound <= least * (1 + 1e-12)
        if found.status == "optimal":
            assert found.value == pytest.approx(least, rel=1e-12)


def test_a_limit_on_capacity_that_is_a_candidate_is_kept_by_it():
    found = cocco.minimize(
        BRANCHES, "ema", {"capacity": 4096.0}, space=SPACE, samples=200, settings=SETTINGS, keep="none"
    )
    kept = [plan for plan in plans_of("shared") if plan.machine.shared_buffer <= 4096]
    assert found.best is not None and found.value == min(criterion("ema", plan) for plan in kept)
    assert found.best.accelerator.shared_buffer <= 4096


def test_a_limit_of_area_on_separate_buffers_is_that_of_their_tables():
    """Area by table: of 1,024 and 2,048 bytes 5 and 1 mm2 in the one buffer, 2 and 9 in the other; each has its own."""
    rows = ((1024, 5.0, 2.0), (2048, 1.0, 9.0))
    tables = [SramTable("t", tuple(SramRow(row[0], 1.0, 1.0, 0.0, row[i]) for row in rows)) for i in (1, 2)]
    technology = Technology(activation_sram=Sram(tables[0]), weight_sram=Sram(tables[1]))
    space = cocco.SeparateBuffers(cocco.Range(1024, 2048, 1024), cocco.Range(1024, 2048, 1024))
    question = {"space": space, "technology": technology, "samples": 20, "keep": "none"}
    for least, allowed in ((3.0, 3.0), (3.0, 6.9), (3.0, 10.0), (None, 2.9)):
        found = cocco.minimize(chain(4), "area", {"area": allowed, "ema": 10**9}, **question)
        assert found.value == least and found.status == ("infeasible" if least is None else "optimal")
    found = cocco.minimize(chain(4), "capacity", {"area": 7.0, "ema": 10**9}, **question)
    assert found.value == 2048.0 and found.best.accelerator.area_mm2 == 7.0
    found = cocco.minimize(chain(4), "capacity", {"area": 6.9, "ema": 10**9}, **question)
    assert (found.best.accelerator.global_buffer, found.best.accelerator.weight_buffer) == (2048, 1024)


def test_one_limit_on_the_memory_alone_takes_the_least_energy_there():
    found = cocco.minimize(BRANCHES, "capacity", {"area": 1.0}, space=SPACE, samples=300, settings=SETTINGS)
    smallest = [plan for plan in plans_of("shared") if plan.machine.shared_buffer == 1024]
    assert found.value == 1024 and found.best is not None
    assert found.best.evaluations[0].energy_pj == min(plan.evaluations[0].energy_pj for plan in smallest)


@pytest.mark.parametrize(
    ("what", "limits", "words"),
    [
        ("speed", {"capacity": 1}, "what to minimize must be among capacity, .*, got 'speed'"),
        ("energy", {}, "limits must map criteria to their largest values, got {}"),
        ("energy", {"speed": 1}, "limits must be among capacity, .*, got 'speed'"),
        ("energy", {"capacity": -1}, "the limit of capacity must be a finite number above 0, got -1"),
        ("energy", {"capacity": float("nan")}, "the limit of capacity must be a finite number above 0, got nan"),
        ("energy", {"capacity": "1MB"}, "the limit of capacity must be a finite number above 0, got '1MB'"),
    ],
)
def test_malformed_limits_are_named(what, limits, words):
    with pytest.raises(ValueError, match=words):
        cocco.minimize(chain(3), what, limits, space=SPACE)


def test_what_each_network_pays_is_the_difference_to_its_own_optimum():
    """Enumerated here: Formula 2 of each network alone, with its weight."""
    networks, weights = [chain(6), dag([[], [0], [0], [1, 2]], "other", kernel=3)], [3.0, 0.5]
    question = {"space": SPACE, "alpha": 0.003, "weights": weights, "samples": 800, "settings": SETTINGS}
    result = cocco.explore(networks, **question, keep="none")
    paid = cocco.compromise(result, networks, **question)  # keep is that of the result
    common = result.accelerator.shared_buffer
    for each, network, weight, plan in zip(paid, networks, weights, result.plans):
        alone = everything([network], SPACE)
        least = min(p.machine.shared_buffer + 0.003 * weight * p.evaluations[0].energy_pj for p in alone)
        judged = evaluate(network, plan, result.accelerator).energy_pj
        assert (each.network, each.weight, each.common_value) == (network.name, weight, judged)
        assert each.own_cost == pytest.approx(least, rel=1e-12)
        assert each.common_cost == pytest.approx(common + 0.003 * weight * judged, rel=1e-12)
        assert each.paid == each.common_cost - each.own_cost >= 0
    assert max(each.paid for each in paid) > 0


def test_what_a_network_has_alone_may_keep_tensors_as_the_result_does():
    networks, question = [chain(6), diamond()], {"space": SPACE, "metric": "ema", "alpha": 0.5, "samples": 100}
    for keep in ("auto", "none"):
        result = cocco.explore(networks, **question, keep=keep)
        paid = cocco.compromise(result, networks, **question)
        assert result.keep == keep
        for each, network in zip(paid, networks):
            assert each.own_cost == cocco.explore(network, **question, keep=keep).cost
    assert cocco.explore(networks[0], **question).cost < cocco.explore(networks[0], **question, keep="none").cost


def test_compromise_wants_the_networks_of_the_result():
    result = cocco.explore([chain(3), diamond()], space=SPACE, samples=60)
    with pytest.raises(ValueError, match="networks must be those of a result of explore, chain, diamond; got others"):
        cocco.compromise(result, [diamond(), chain(3)], space=SPACE, samples=60)


@pytest.mark.parametrize("where", ["searched", "_focus", "proven"])
def test_ctrl_c_raises_with_the_best_so_far(monkeypatch, where):
    """In the first search (its progress), on a single memory, or in the proof: each time there is an answer."""

    def stop(*_):
        raise KeyboardInterrupt

    if where != "searched":
        monkeypatch.setattr(f"cocco.exploration.sums.{where}", stop)
    question = {"space": SPACE, "samples": 300, "progress": stop if where == "searched" else None}
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.minimize(chain(4), "energy", {"capacity": 10_000}, **question)
    found = stopped.value.result
    assert found.status == "stopped" and found.best is not None and found.lower_bound is None


def test_limits_and_points_have_the_shape_of_a_result():
    """As of explore: `.status`, `.plan`, `.evaluation`, `.accelerator`; without a plan an error that says so."""
    found = cocco.minimize(BRANCHES, "capacity", {"energy": 1e12}, space=SPACE, samples=100)
    assert found.status == "optimal" and found.value == found.accelerator.buffer_bytes
    again = evaluate(BRANCHES, found.plan, found.accelerator)
    assert again.energy_pj == found.evaluation.energy_pj
    point = cocco.pareto(BRANCHES, space=SPACE, samples=100).found[0]
    assert (point.plan, point.evaluation) == (point.plans[0], point.evaluations[0])
    nothing = cocco.minimize(BRANCHES, "capacity", {"energy": 1.0}, space=SPACE, samples=100)
    with pytest.raises(ValueError, match="nothing that was found keeps the limits .infeasible."):
        _ = nothing.plan
    both = cocco.minimize([BRANCHES, chain(3)], "capacity", {"energy": 1e12}, space=SPACE, samples=100)
    with pytest.raises(ValueError, match="2 networks has no single evaluation; use evaluations"):
        _ = both.evaluation
