"""Chips that are off while nothing runs, and prices of DRAM: what runs count, and what would be chosen otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.chips.question import ChipQuestion
from cocco.chips.sensitivity import is_firm
from simulator import Machine, Technology
from simulator.chip.logic import NVDLA, Logic
from simulator.execution import verify
from tests.helpers.command_line import answer, assert_malformed
from tests.helpers.command_line import cocco as command
from tests.helpers.parts import first_of

SPACE = cocco.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
LOUD = Technology(logic=replace(NVDLA, leakage_uw_per_mac=20.0), dram_background_mw=300.0)


def power(idle: float) -> tuple[cocco.ChipsAnswer, float]:
    found = cocco.explore_chips(
        workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, machine=Machine(technology=LOUD), space=SPACE, keep="none",
        minimized="power", rates={"vgg16": 10.0}, idle=idle,
    )  # fmt: skip
    return found, found.to_json()["power_mw"]


def counted_mw(found: cocco.ChipsAnswer, rate: float, idle: float) -> float:
    """Return the average power from what a run of the plan counts: its energy, and what leaks when it has ended."""
    chip = found.accelerator
    assert chip is not None
    run = verify(workloads.load("vgg16"), found.plans[0], chip)
    seconds = run.check("latency_cycles").counted / chip.technology.clock_ghz * 1e-9
    leaks = sum(run.check(f"energy_{name}_pj").counted for name in ("logic_leakage", "dram_background"))
    return rate * run.check("energy_pj").counted * 1e-9 + idle * (1 - rate * seconds) * leaks / seconds * 1e-9


@pytest.mark.parametrize("idle", first_of([0.25, 1.0, 0.0], 1))
def test_the_average_power_is_what_a_run_counts_and_what_leaks_after_it(idle: float):
    found, claimed = power(idle)
    assert claimed == pytest.approx(counted_mw(found, 10.0, idle), rel=1e-12)
    assert found.status == "optimal" and found.cost == pytest.approx(claimed, rel=1e-12)


def test_what_leaks_while_nothing_runs_decides_the_array():
    """A fast array leaks more in a ms and for a shorter time: it wins only where it is off afterwards."""
    always, gated = power(1.0)[0], power(0.0)[0]
    assert always.chip is not None and gated.chip is not None
    assert (always.chip.name, gated.chip.name) == ("pe 4x4", "pe 8x8") and gated.cost < always.cost


def test_a_lie_about_what_is_off_is_caught(monkeypatch: pytest.MonkeyPatch):
    """Leakage that goes on only while it runs, whatever is asked: the run says otherwise."""
    honest = ChipQuestion.power_mw
    monkeypatch.setattr(ChipQuestion, "power_mw", lambda self, *given: 0.5 * honest(self, *given))
    found, claimed = power(0.25)
    assert claimed != pytest.approx(counted_mw(found, 10.0, 0.25), rel=1e-3)


def test_the_command_says_what_is_off():
    words = ("explore", "vgg16", "--axis", "pe=4x4,8x8", "--range", "1MB:1MB:1KB", "--keep", "none", "--logic", "nvdla")
    told = answer(command(*words, "--rate", "vgg16=10fps", "--idle", "gated=0.1", "--json"))
    assert told["idle"] == 0.1
    assert "in the rest 10 % of all that leaks" in command(*words, "--rate=vgg16=10fps", "--idle=gated=0.1").stdout
    assert_malformed(command(*words, "--idle", "gated"), "idle needs rates")
    assert_malformed(command(*words, "--rate", "vgg16=10fps", "--idle", "gated=2"), "from 0 to 1, got 2")
    assert_malformed(command(*words, "--rate", "vgg16=10fps", "--idle", "off"), "idle is gated, or gated=SHARE")


def test_a_price_of_dram_half_or_twice_as_high_chooses_another_kind():
    """Energy plus 0.1 mJ for each dollar, of both kinds by hand: a channel of GDDR6 is $1.75, one of HBM2E $20."""
    axes, one = {"dram": ["gddr6", "hbm2e"]}, cocco.SharedBuffer(2**20, 2**20, 2**20)
    network, machine, worth = workloads.load("vgg16"), Machine(technology=Technology(logic=NVDLA)), 0.1e9
    asked = {"machine": machine, "space": one, "keep": "none", "exchange": "0.1mJ/$"}
    found = cocco.explore_chips(network, axes, sensitivity=True, **asked)
    alone = {kind: cocco.explore_chips(network, {"dram": [kind]}, **asked) for kind in axes["dram"]}
    shifts = {each.factor: each for each in found.shifts if each.number == "price of DRAM"}
    for factor in (0.5, 2.0):
        costs = {f"dram {kind}": each.cost + worth * (factor - 1) * each.accelerator.chip_money.dram
                 for kind, each in alone.items()}  # fmt: skip
        assert shifts[factor].chip == min(costs, key=costs.__getitem__)
        assert shifts[factor].regret == pytest.approx(costs[found.chip.name] / min(costs.values()) - 1, abs=1e-9)
    assert len({each.chip for each in shifts.values()}) == 2 and not is_firm(found.shifts)
    energy = cocco.explore_chips(network, axes, sensitivity=True, **asked | {"exchange": "1mJ/mm2"})
    assert "price of DRAM" not in {each.number for each in energy.shifts}


def test_the_price_of_dram_that_is_said_replaces_that_of_its_kind():
    """12.8 GB/s of LPDDR5 at $0.25 for each are $3.20; nobody else says it."""
    technology = Technology(dram_kind="lpddr5", dram_channels=1, channel_gb_per_s=12.8)
    chip = Machine(technology=technology).with_buffers(shared_buffer=2**20)
    assert chip.chip_money.dram is None
    said = Logic(dram_usd_per_gb_per_s=0.25)
    chip = Machine(technology=replace(technology, logic=said)).with_buffers(shared_buffer=2**20)
    assert chip.chip_money.dram == pytest.approx(3.2)
