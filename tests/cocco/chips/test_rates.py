"""Rates: a second of frames of two networks is executed one by one on the chip, as they are due."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.chips.axes import Axes
from cocco.chips.question import static_mw
from simulator import KiB, Machine, Technology, evaluate
from simulator.chip.logic import NVDLA
from simulator.execution.verify import verify
from tests.helpers.parts import first_of

PAIRS = [("vgg16", "googlenet"), ("vgg16", "gpt"), ("resnet50", "googlenet")]
AXES = {"pe": [(4, 4), (8, 8)], "clock": [0.8, 1.0]}
SPACE = cocco.SharedBuffer(512 * KiB, 1024 * KiB, 512 * KiB)
MACHINE = Machine(technology=Technology(logic=NVDLA))


@pytest.mark.parametrize(("first", "second"), first_of(PAIRS, 1))
def test_the_frames_of_a_second_are_executed_in_turn(first, second):
    networks, rates = [workloads.load(first), workloads.load(second)], {first: 9, second: 40}
    found = cocco.explore_chips(
        networks, AXES, machine=MACHINE, space=SPACE, minimized="power", rates=rates, keep="none", samples=300
    )
    chip = found.accelerator
    runs = [evaluate(network, plan, chip) for network, plan in zip(networks, found.plans)]
    frames = sorted(
        ((k + 1) / rate, i) for i, rate in enumerate(rates.values()) for k in range(rate)
    )  # the frame that is due first runs first, to its end
    times = [run.latency_executed_cycles / (chip.technology.clock_ghz * 1e9) for run in runs]
    now = busy = spent = 0.0
    for due, i in frames:
        now = max(now, due - 1 / tuple(rates.values())[i]) + times[i]
        assert now <= due + max(times)  # it waits for the one that runs, never for two
        busy, spent = busy + times[i], spent + dynamic(runs[i])
    content = found.to_json()
    assert content["load_executed"] == pytest.approx(busy, rel=1e-12)
    assert content["load_executed"] < 1
    assert content["power_mw"] == pytest.approx(spent * 1e-9 + static_mw(chip), rel=1e-9)
    for run in runs:
        assert verify(workloads.load(run.network), run.plan, chip).verified


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_no_machine_and_memory_by_itself_takes_less_power(first, second):
    networks, rates = [workloads.load(first), workloads.load(second)], {first: 9.0, second: 40.0}
    powers = []
    for chip in Axes(AXES).chips(MACHINE, SPACE)[0]:
        for size in chip.buffers["shared_buffer"]:
            alone = chip.machine.with_buffers(shared_buffer=size)
            runs = [cocco.partition(each, alone, keep="none", samples=300).evaluation for each in networks]
            clock = alone.technology.clock_ghz * 1e9
            if sum(rate * run.latency_cycles for rate, run in zip(rates.values(), runs)) <= clock:
                spent = sum(rate * dynamic(run) for rate, run in zip(rates.values(), runs))
                powers.append(spent * 1e-9 + static_mw(alone))
    found = cocco.explore_chips(
        networks, AXES, machine=MACHINE, space=SPACE, minimized="power", rates=rates, keep="none", samples=300
    )
    assert found.status == "optimal"
    assert 0.999 * min(powers) <= found.cost <= min(powers) * (1 + 1e-9)


def dynamic(run):
    """Return the energy of a frame without what leaks whether it runs or not."""
    parts = run.energy_breakdown
    return run.energy_pj - sum(each or 0.0 for each in (parts.leakage, parts.dram_background, parts.logic_leakage))
