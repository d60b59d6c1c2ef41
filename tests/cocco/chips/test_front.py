"""The front over machines, memories and plans by NSGA-II."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

import cocco
import workloads
from cocco.chips.axes import Axes
from cocco.chips.classes import Asked
from cocco.exploration.memories.solved import solve
from cocco.problem.dominance import front_of, hypervolume
from cocco.problem.problem import in_memory
from simulator import KiB, Machine, Technology, evaluate
from simulator.chip.logic import NVDLA
from simulator.hardware_files import load_accelerator
from tests.helpers.command_line import answer, assert_malformed
from tests.helpers.command_line import cocco as command
from tests.helpers.parts import first_of
from tests.helpers.random_chips import Case

MACHINE = Machine(technology=Technology(logic=NVDLA))
SMALL = {"pe": [(4, 4), (8, 8)], "dram": ["lpddr5", "hbm2e"]}
WORDS = ("pareto", "vgg16", "--axis", "pe=4x4,8x8", "--axis", "dram=lpddr5,hbm2e", "--logic", "nvdla",
         "--range", "256KB:1MB:256KB", "--samples", 400)  # fmt: skip


def volume(values: np.ndarray, reference: np.ndarray) -> float:
    """Return what points dominate in three dimensions, slab by slab along the first.

    >>> volume(np.array([[0.0, 2.0, 2.0], [1.0, 1.0, 1.0]]), np.array([3.0, 3.0, 3.0]))
    9.0
    """
    values = values[np.argsort(values[:, 0])]
    ends = np.append(values[1:, 0], reference[0])
    slabs = (hypervolume(values[: i + 1, 1:], reference[1:]) for i in range(len(values)))
    return float(sum((end - begin) * each for begin, end, each in zip(values[:, 0], ends, slabs)))


def test_the_volume_by_hand():
    """From 0 to 1 the square of the first point, 1 x 1; from 1 to 3 that of the second, 2 x 2 around it: 1 + 8."""
    assert volume(np.array([[0.0, 2.0, 2.0], [1.0, 1.0, 1.0]]), np.array([3.0, 3.0, 3.0])) == 9


@pytest.mark.parametrize("seed", first_of(range(6), 3))
def test_no_plan_on_any_chip_is_better_than_a_point_and_few_are_missed(seed):
    case = Case(seed)
    every = np.array([
        (
            accelerator.chip_area.total,
            sum(each.energy_pj for each in found) / accelerator.batch,
            sum(each.latency_cycles for each in found) / accelerator.technology.clock_ghz,
        )
        for chip in case.chips for accelerator, found in case.everything(chip)
        if all(each.plan.metric == "energy" for each in found)
    ])  # fmt: skip
    found = cocco.pareto_chips(case.networks, case.axes, machine=case.machine, space=case.space, samples=1500)
    if not len(every):
        assert found.status == "gave_up" and not found.found
        return
    ours = np.array([point.values for point in found.found])
    for row in ours:
        assert not ((every <= row * (1 - 1e-9)).all(axis=1)).any()
    reference = every.max(axis=0) * 1.01
    assert volume(ours, reference) >= 0.98 * volume(every[front_of(every)], reference)


def test_the_command_prints_and_writes_chips_that_can_be_priced_again(tmp_path: Path):
    run = command(*WORDS, "-o", tmp_path / "front")
    assert run.returncode == 0 and "none better in all of them" in run.stdout, run.stderr
    table = pandas.read_csv(tmp_path / "front" / "pareto.csv")
    last = table.iloc[-1]
    network, chip = workloads.load("vgg16"), load_accelerator(tmp_path / "front" / last["chip"])
    again = evaluate(network, cocco.load_partition(tmp_path / "front" / last["partition"], network), chip)
    assert (last["energy_pj"], last["area_mm2"]) == (again.energy_pj, chip.chip_area.total)
    found = json.loads((tmp_path / "front" / "chips.json").read_text())["result"]
    assert found["objectives"] == ["area", "energy", "latency"] and len(found["front"]) == len(table)
    assert answer(command(*WORDS, "--json")) == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "exact"), "--method exact not allowed with --axis"),
        (("--keep", "auto"), "--keep auto not allowed with --axis"),
        (("--exchange", "2mJ/mm2"), "--exchange 2mJ/mm2 not allowed with --axis"),
        (("--objectives", "area,price"), "one of them of energy, ema, latency; got area, price"),
        (("--objectives", "area,speed"), "objectives of chips must be among area"),
        (("--objectives", "energy,energy"), "objectives must differ, got 'energy' twice"),
    ],
)
def test_malformed_fronts_are_one_line(words: tuple[str, ...], message: str):
    assert_malformed(command(*WORDS, *words), message)


def test_prices_and_traffic_are_criteria_too():
    found = cocco.pareto_chips(
        workloads.load("vgg16"), {"dram": ["gddr6", "hbm2e"], "batch": [1, 2]}, machine=MACHINE, samples=300,
        objectives=("price", "ema"), space=cocco.SharedBuffer(256 * KiB, 512 * KiB, 256 * KiB),
    )  # fmt: skip
    rows = found.to_frame()
    assert rows["usd"].is_monotonic_increasing and rows["ema_bytes"].is_monotonic_decreasing
    best = found.found[-1]
    assert best.values[1] == best.evaluations[0].ema_bytes / best.accelerator.batch


@pytest.mark.slow
def test_the_front_has_nearly_all_that_the_exact_one_dominates():
    """ResNet50, 24 machines, eight memories: every plan with the least energy + p x latency, for seven p."""
    network, space = workloads.load("resnet50"), cocco.SharedBuffer(128 * KiB, 1024 * KiB, 128 * KiB)
    axes = {"pe": [(4, 4), (8, 8)], "cores": [1, 2], "dram": ["lpddr5", "hbm2e"], "sram": ["hp", "lop", "lstp"]}
    asked, every = Asked((network,), (1.0,), "energy", "exact", "none", "fast", 1.0), []
    for chip in Axes(axes).chips(MACHINE, space)[0]:
        problem = asked.problem(chip.machine, chip.buffers)
        for worth in (0.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e5):
            also = (("latency-sum", worth),) if worth else ()
            objective = replace(problem.objective, alpha=None, also=also)
            weighed = replace(problem, objective=objective, chosen_by="energy")
            for memory in range(len(problem.candidates[0])):
                given = in_memory(weighed, (memory,))
                best = solve(given, (), "fast", 10**8).best
                assert best is not None
                (found,) = given.evaluations(best.plans, given.accelerator)
                every.append((found.accelerator.chip_area.total, found.energy_pj, found.latency_cycles))
    exact = np.array(every)
    exact = exact[front_of(exact)]
    reference = exact.max(axis=0) * 1.01
    for seed in range(3):
        front = cocco.pareto_chips(network, axes, machine=MACHINE, space=space, samples=20_000, seed=seed)
        ours = np.array([point.values for point in front.found])
        assert volume(ours, reference) >= 0.99 * volume(exact, reference)
