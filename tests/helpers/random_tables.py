"""Random hardware: SRAM tables with dear and cheap writes, steps, leakage, ports or none; logic that takes energy."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from cocco.problem.problem import Problem
from simulator.chip.logic import Logic
from simulator.memory.sram import Sram
from simulator.memory.table import SramRow, SramTable
from simulator.technology import Technology


def random_sram(rng: random.Random) -> Sram:
    """Return a table from 1 byte on in a few steps; numbers make ties or none."""
    sizes = [1, *sorted(rng.sample(range(2, 2**22), rng.randint(1, 6))), 2**42]
    number = rng.choice((lambda: rng.uniform(0.0, 4.0), lambda: float(rng.choice((0, 1, 1, 2)))))
    rows = tuple(SramRow(size, *(number() for _ in range(5))) for size in sizes)
    return Sram(SramTable("random", rows), banks=1, pipelined=True)


def random_technology(rng: random.Random) -> Technology:
    """Return a technology of which buffers or DRAM's background differ from the formula, perhaps with ports."""
    activation, weights = (random_sram(rng) if rng.random() < 0.8 else None for _ in range(2))
    return Technology(
        dram_pj_per_byte=rng.choice((100.0, 100.0, 1.0, 0.0)), dram_bytes_per_cycle=rng.choice((16, 16, 1, 100)),
        clock_ghz=rng.choice((1.0, 0.7)), activation_sram=activation, weight_sram=weights,
        dram_background_mw=rng.choice((0.0, 0.0, 300.0)), sram_bytes_per_cycle=rng.choice((None, None, 2, 50)),
    )  # fmt: skip


def shared_technology(rng: random.Random) -> Technology:
    """Return a technology of one table for both, as a shared buffer needs it."""
    found = random_sram(rng)
    said = {"dram_background_mw": rng.choice((0.0, 50.0)), "sram_bytes_per_cycle": rng.choice((None, 2, 50))}
    return Technology(activation_sram=found, weight_sram=found, **said)


def with_tables(problem: Problem, seed: int) -> Problem:
    """Return a problem whose buffers cost what random tables say."""
    machine, rng = problem.accelerator, random.Random(seed)
    technology = shared_technology(rng) if machine.is_shared else random_technology(rng)
    return replace(problem, accelerator=replace(machine, technology=technology))


def with_logic(problem: Problem, seed: int) -> Problem:
    """Return the problem where MACs leak and take energy while idle, with ports and channels, mostly in energy."""
    rng = random.Random(seed)
    logic = Logic(leakage_uw_per_mac=rng.choice((0.0, 5.0, 5000.0)), idle_pj_per_mac=rng.choice((0.05, 0.31)))
    said: dict[str, Any] = {
        "dram_channels": rng.choice((1, 3)),
        "channel_gb_per_s": rng.choice((12.8, 0.7)),
        "clock_ghz": 1.1,
        "sram_bytes_per_cycle": rng.choice((None, 1, 5, 40)),
    }
    technology = replace(problem.accelerator.technology, logic=logic, **said)
    objective = replace(problem.objective, metric=rng.choice(("energy", "energy", "latency-sum")))
    return replace(problem, accelerator=replace(problem.accelerator, technology=technology), objective=objective)
