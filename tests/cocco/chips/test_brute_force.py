"""The search over machines equals trying every machine, memory and partition, with limits and rates too."""

from __future__ import annotations

import math
from itertools import product

import pytest

import cocco
from cocco.chips.axes import Axes, Chip
from cocco.chips.question import static_mw
from simulator import Machine, Technology
from simulator.chip.logic import NVDLA
from tests.helpers.parts import first_of
from tests.helpers.random_chips import Case


def asked(case: Case, **question) -> cocco.ChipsAnswer:
    return cocco.explore_chips(
        case.networks, case.axes, machine=case.machine, space=case.space, keep="none", samples=200, **question
    )


def check(found: cocco.ChipsAnswer, least: float) -> None:
    if least == math.inf:
        assert found.chip is None and found.status in ("infeasible", "gave_up")
        return
    assert found.lower_bound <= least * (1 + 1e-9)
    if found.status == "optimal":
        assert found.cost == pytest.approx(least, rel=1e-9)
    else:
        assert found.status in ("feasible", "gave_up") and found.cost >= least * (1 - 1e-9)


def energy_and_area(seed: int, given: Case | None = None) -> cocco.ChipsAnswer:
    case = given or Case(seed)
    worth = case.rng.choice((0.0, 1e3, 1e6)) + 1.0
    costs = [
        sum(each.energy_pj for each in found) / accelerator.batch + worth * accelerator.chip_area.total
        for chip in case.chips for accelerator, found in case.everything(chip)
    ]  # fmt: skip
    found = asked(case, exchange=f"{worth}pJ/mm2")
    check(found, min(costs, default=math.inf))
    assert found.status in ("optimal", "infeasible")
    for row, chip in ((row, chip) for row in found.machines for chip in case.chips if _is_of(row, chip)):
        own = [
            sum(each.energy_pj for each in one) / accelerator.batch + worth * accelerator.chip_area.total
            for accelerator, one in case.everything(chip)
        ]
        assert row["verdict"] in ("best", "proved", "ruled out by bound", "ruled out by memory", "no memory")
        if row["bound"] is not None and own:
            assert row["bound"] <= min(own) * (1 + 1e-9)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_energy_of_a_class_follows_its_voltage(seed):
    """At 0.8 GHz and 0.6 V an operation takes half of what it takes at 1 GHz, where the class stands."""
    case = Case(seed)
    technology = Technology(logic=NVDLA, operation_pj=1e3, clock=((0.8, 0.6), (1.0, 0.8)))
    case.machine, case.axes = Machine(technology=technology), {"clock": [0.8, 1.0]}
    case.chips, _ = Axes(case.axes).chips(case.machine, case.space)
    assert energy_and_area(seed, case).chip.machine.technology.volts == 0.6


def _is_of(row: dict[str, object], chip: Chip) -> bool:
    return all(
        str(row[name]) == (f"{v[0]}x{v[1]}" if isinstance(v, tuple) else str(v)) for name, v in chip.axes.items()
    )


def limited(seed: int) -> cocco.ChipsAnswer:
    case = Case(seed)
    every = [each for chip in case.chips for each in case.everything(chip)]
    if not every:
        return asked(case, exchange="1pJ/mm2")
    of_area = [accelerator.chip_area.total for accelerator, _ in every]
    of_time = [sum(each.latency_cycles for each in found) for _, found in every]
    area, time = (max(1e-9, case.rng.uniform(0.8 * min(each), max(each))) for each in (of_area, of_time))
    costs = [
        sum(each.energy_pj for each in found) / accelerator.batch
        for (accelerator, found), mm2, cycles in zip(every, of_area, of_time) if mm2 <= area and cycles <= time
    ]  # fmt: skip
    found = asked(case, limits={"area": area, "latency": time})
    check(found, min(costs, default=math.inf))
    return found


def at_rates(seed: int) -> cocco.ChipsAnswer:
    case = Case(seed)
    every = [each for chip in case.chips for each in case.everything(chip)]
    if not every:
        return asked(case, exchange="1pJ/mm2")
    times = [[each.latency_cycles / (a.technology.clock_ghz * 1e9 * a.batch) for each in found] for a, found in every]
    busy = case.rng.choice([time for row in times for time in row])
    rates = {network.name: case.rng.uniform(0.1, 0.9) / len(case.networks) / busy for network in case.networks}
    idle, powers = case.rng.choice((1.0, 0.3, 0.0)), []
    for (accelerator, found), time in zip(every, times):
        load = sum(rate * each for rate, each in zip(rates.values(), time))
        if load <= 1:
            spent = sum(rate * each.energy_pj / accelerator.batch for rate, each in zip(rates.values(), found)) * 1e-9
            powers.append(spent + idle * static_mw(accelerator) * (1 - load))
    found = asked(case, minimized="power", rates=rates, idle=idle)
    check(found, min(powers, default=math.inf))
    return found


def kept(seed: int) -> cocco.ChipsAnswer:
    """Tensors may stay on chip: the least of each machine and memory by its own search."""
    case = Case(seed)
    costs = []
    for chip in case.chips:
        for (size,) in product(*chip.buffers.values()):
            accelerator = chip.machine.with_buffers(shared_buffer=size)
            own = [cocco.partition(network, accelerator, samples=200) for network in case.networks]
            if all(each.plans for each in own):
                assert {each.status for each in own} <= {"optimal", "feasible"}
                energy = sum(each.evaluation.energy_pj for each in own)
                costs.append(energy / accelerator.batch + 1e3 * accelerator.chip_area.total)
    found = cocco.explore_chips(
        case.networks, case.axes, machine=case.machine, space=case.space, samples=200, exchange="1000pJ/mm2"
    )
    check(found, min(costs, default=math.inf))
    return found


QUESTIONS = {"energy and area": energy_and_area, "limits": limited, "rates": at_rates, "kept": kept}


@pytest.mark.parametrize("seed", first_of(range(3), 1))
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_the_least_of_everything(question: str, seed: int):
    QUESTIONS[question](seed)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("block", range(20))
def test_the_answer_is_the_least_of_everything_200(question: str, block: int):
    found = [QUESTIONS[question](seed) for seed in range(1000 + 10 * block, 1010 + 10 * block)]
    assert sum(each.status in ("optimal", "infeasible") for each in found) >= 8
