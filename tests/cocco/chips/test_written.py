"""Chips of every axis as hardware files: read again they are the same machine, which a run of its plans agrees with."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import cocco
from cocco.chips.axes import Axes
from simulator import Machine, Technology
from simulator.chip.logic import NVDLA
from simulator.execution import verify
from simulator.hardware_files import hardware_text, load_accelerator
from tests.helpers.parts import first_of
from tests.helpers.small_problems import small_network

EVERY = {
    "pe": [(1, 1), (2, 4), (4, 4)], "lanes": [(8, 8), (4, 16)], "cores": [1, 2, 4], "batch": [1, 2],
    "dram": ["lpddr5", "hbm2e"], "channels": [1, 2, 3], "sram": ["hp", "lop"], "clock": [0.8, 1.0, 1.1],
}  # fmt: skip


@pytest.mark.parametrize("seed", first_of(range(20), 6))
def test_a_drawn_chip_is_read_again_and_its_run_counts_all_of_it(seed: int, tmp_path: Path):
    """Leakage, idle MACs, ports and area: every check that is executed is equal, of the chip that the file says."""
    rng = random.Random(seed)
    network = small_network(rng, 5)
    axes = {name: [rng.choice(values)] for name, values in EVERY.items()}
    clocks = ((0.8, 0.7), (1.0, 0.8), (1.1, 0.85)) if rng.random() < 0.5 else ()
    machine = Machine(technology=Technology(logic=NVDLA, clock=clocks, dram_background_mw=rng.choice((0.0, 20.0))))
    size = 2**17
    found = cocco.explore_chips(
        network, axes, machine=machine, exchange="1mJ/mm2", samples=100, space=cocco.SharedBuffer(size, 2 * size, size)
    )
    assert found.accelerator is not None and Axes(axes).size == 1
    path = tmp_path / "chip.yaml"
    path.write_text(hardware_text(found.accelerator), encoding="utf-8")
    chip = load_accelerator(path)
    assert chip == found.accelerator and chip.chip_area == found.accelerator.chip_area
    run = verify(network, found.plans[0], chip)
    assert run.verified and run.check("energy_pj").counted == pytest.approx(found.evaluations[0].energy_pj, rel=1e-12)
    for name in ("energy_logic_leakage_pj", "energy_idle_pj", "energy_leakage_pj", "chip_area_mm2", "compute_cycles"):
        assert run.check(name).status == "equal", name
