"""Questions over machines, drawn: small enough to try every machine, memory and plan."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import cocco
from cocco.chips.axes import Axes, Chip
from simulator import Accelerator, Evaluation, Machine, Technology, evaluate
from simulator.chip.logic import NVDLA
from simulator.metrics import METRIC_NAMES
from tests.helpers.every_plan import plans
from tests.helpers.random_tables import random_sram
from tests.helpers.small_problems import small_network
from workloads.network.network import Network


class Case:
    """A drawn question: one or two networks, up to twelve machines of every axis, a few memories."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        self.networks = [small_network(rng, 4)]
        if rng.random() < 0.3:
            second = small_network(rng, 3)
            self.networks.append(Network("second", second.inputs, second.layers))
        sram = random_sram(rng) if rng.random() < 0.5 else None
        technology = Technology(
            logic=rng.choice((NVDLA, NVDLA, None)), operation_pj=1.0, dram_kind="lpddr5",
            activation_sram=sram, weight_sram=sram,
            dram_background_mw=rng.choice((0.0, 30.0)), dram_channels=rng.choice((1, 2)), channel_gb_per_s=12.8,
        )  # fmt: skip
        speed = random.Random(seed)
        technology = replace(
            technology, sram_bytes_per_cycle=speed.choice((None, None, 2)),
            clock=speed.choice(((), ((0.8, 0.6), (1.0, 0.8), (1.1, 0.9)))),
        )  # fmt: skip
        self.machine = Machine(technology=technology)
        every = {
            "pe": [(1, 1), (1, 2), (4, 4)], "lanes": [(8, 8), (4, 16)], "cores": [1, 2], "batch": [1, 2],
            "dram": ["lpddr5", "hbm2e"], "channels": [1, 3], "clock": [0.8, 1.1], "dram_pj_per_byte": [20.0, 70.0],
            "sram": ["hp", "lop"], "light": [1, 4],
        }  # fmt: skip
        if sram is not None:
            del every["sram"]
        names = rng.sample(list(every), rng.randint(1, 3))
        self.axes = {name: every[name] for name in names}
        low = rng.randint(300, 4000) if "sram" not in names else 2**17
        self.space = cocco.SharedBuffer(low, low + 2 * (step := rng.randint(100, low)), step)
        self.chips, _ = Axes(self.axes).chips(self.machine, self.space)

    def everything(self, chip: Chip) -> list[tuple[Accelerator, tuple[Evaluation, ...]]]:
        """Return every memory with every combination of plans that fit."""
        found = []
        for (size,) in product(*chip.buffers.values()):
            accelerator = chip.machine.with_buffers(shared_buffer=size)
            each = [_priced(network, accelerator) for network in self.networks]
            found += [(accelerator, combined) for combined in product(*each)]
        return found


def _priced(network: Network, accelerator: Accelerator) -> list[Evaluation]:
    every = [replace(plan, metric=metric) for plan in plans(network) for metric in METRIC_NAMES]
    return [found for plan in every if (found := evaluate(network, plan, accelerator)).fits]
