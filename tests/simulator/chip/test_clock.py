"""The voltage of a clock scales the energy of logic and SRAM: by hand, from files, judged, equal in both engines."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workloads
from cocco.bounds.floors.least import lower_bound
from cocco.effort.settings import Settings
from cocco.problem.floor import floor_of, floor_of_all
from cocco.problem.problem import over_space
from cocco.problem.space import SharedBuffer
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, KiB, Partition, Sram, Technology, evaluate, find_table, load_accelerator
from simulator.chip.logic import NVDLA
from simulator.execution.verify import verify
from simulator.hardware_files import hardware_text
from simulator.model.cost import energy_breakdown
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_twin
from tests.helpers.random_tables import with_tables
from tests.helpers.twin_search import assert_same_search

CLOCK = ((1.0, 0.8), (1.2, 0.9))
SCALE = (0.2958 * 0.81 - 0.1241 * 0.9 + 0.03024) / (0.2958 * 0.64 - 0.1241 * 0.8 + 0.03024)  #: 0.158148 / 0.120272
NETWORKS = pytest.mark.parametrize("name", first_of(["vgg16", "googlenet"], 1))


def costs(name: str, cores: int = 1, **fields):
    network = workloads.load(name)
    chip = Accelerator(shared_buffer=512 * KiB, cores=cores, technology=Technology(logic=NVDLA, **fields))
    return evaluate(network, Partition.layerwise(network), chip).energy_breakdown


@NETWORKS
@pytest.mark.parametrize("table", [None, Sram(find_table("cacti7_22nm_hp"))])
def test_energy_of_logic_and_sram_follows_the_voltage(table, name):
    """At 0.9 V 1.315 times that at 0.8 V; DRAM and what leaks do not follow."""
    of = {"activation_sram": table, "weight_sram": table, "dram_background_mw": 100.0}
    before, after = (costs(name, 2, clock_ghz=1.2, clock=clock, **of) for clock in ((), CLOCK))
    assert pytest.approx(1.3149, abs=1e-4) == SCALE
    for part in ("global_buffer", "weight_buffer", "compute", "crossbar", "idle"):
        assert getattr(after, part) == pytest.approx(SCALE * getattr(before, part)) and getattr(before, part)
    for part in ("dram", "leakage", "dram_background", "logic_leakage"):
        assert getattr(after, part) == getattr(before, part)


@NETWORKS
def test_at_the_nominal_voltage_nothing_changes(name):
    assert costs(name, clock=CLOCK) == costs(name)


@NETWORKS
@pytest.mark.parametrize("cores", [1, 2])
def test_voltages_are_judged(cores, name):
    network = workloads.load(name)
    technology = Technology(logic=NVDLA, clock=CLOCK, clock_ghz=1.2)
    chip = Accelerator(shared_buffer=512 * KiB, cores=cores, technology=technology)
    found = verify(network, Partition.layerwise(network), chip)
    assert found.verified and found.check("energy_compute_pj").status == found.check("energy_idle_pj").status == "equal"


@NETWORKS
@pytest.mark.parametrize("part", ["dram", "compute", "idle", "crossbar"])
def test_faults_are_caught(monkeypatch, part, name):
    """A voltage that DRAM follows, or that a part of the logic does not."""
    network = workloads.load(name)
    technology = Technology(logic=NVDLA, clock=CLOCK, clock_ghz=1.2)
    chip = Accelerator(shared_buffer=512 * KiB, cores=2, technology=technology)

    def wrong(totals, accelerator):
        found, factor = energy_breakdown(totals, accelerator), SCALE if part == "dram" else 1 / SCALE
        return found._replace(**{part: factor * getattr(found, part)})

    monkeypatch.setattr("simulator.execution.claims.energy_breakdown", wrong)
    found = verify(network, Partition.layerwise(network), chip)
    assert not found.verified and found.check(f"energy_{part}_pj").status == "different"


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seed", range(10))
def test_engines_agree_on_voltages(seed):
    problem = random_twin(seed)
    problem = with_tables(problem, seed) if seed % 2 else problem
    said = {"clock": ((0.7, 0.65), *CLOCK), "clock_ghz": 1.2 if seed % 3 else 0.7, "logic": NVDLA}
    technology = replace(problem.accelerator.technology, **said)
    found = replace(problem, accelerator=replace(problem.accelerator, technology=technology))
    assert_same_search(found, Settings(population=24, elite=3), 80, 1 + seed % 3)


@NETWORKS
def test_floors_of_tables_have_the_voltage_once(name):
    """Idealized hardware takes its rows from tables; at 0.6 V twice the voltage would be far below, at 0.9 V above."""
    table, network = Sram(find_table("cacti7_22nm_lop")), workloads.load(name)
    for volts in (0.6, 0.9):
        technology = Technology(activation_sram=table, weight_sram=table, clock=((1.0, volts),))
        chip = Accelerator(shared_buffer=512 * KiB, technology=technology)
        row = chip.activation_sram
        assert floor_of(chip).activation_sram.read_pj_per_byte == min(row.read_pj_per_byte, row.write_pj_per_byte)
        problem = over_space(network, SharedBuffer(), machine=chip.machine)
        sizes = problem.candidates[0]
        rows = [technology.sram("activation", size) for size in sizes]
        least = min(min(each.read_pj_per_byte, each.write_pj_per_byte) for each in rows)
        assert floor_of_all(problem).activation_sram.read_pj_per_byte == least
        assert lower_bound(problem) > 0


def test_clocks_are_written_and_read_again(tmp_path):
    chip = Accelerator(shared_buffer=2**20, technology=Technology(clock=CLOCK, clock_ghz=1.2))
    path = tmp_path / "chip.yaml"
    path.write_text(hardware_text(chip), encoding="utf-8")
    assert load_accelerator(path) == chip and Technology.from_json(chip.technology.to_json()) == chip.technology
    said = "shared_buffer: 1MB\nclock: {1.0GHz: 0.8V, 1.2GHz: 0.9V}\ntechnology: {clock_ghz: 1.2}\n"
    path.write_text(said, encoding="utf-8")
    assert load_accelerator(path) == chip
    shown = cocco("evaluate", "googlenet", "--partition", "layerwise", "--hardware", path).stdout
    assert "at 0.9 V: 1.315 times those at 0.8 V" in shown
    assert "clock:" not in hardware_text(Accelerator(shared_buffer=2**20))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("clock: 1.2", ["clock", "{1.0GHz: 0.8V}", "1.2"]),
        ("clock: {}", ["clock", "{1.0GHz: 0.8V}"]),
        ("clock: {1.0GHz: 8V}", ["clock", "from 0.4 to 1.2 V", "8V"]),
        ("clock: {1.0GHz: 0.8W}", ["clock", "from 0.4 to 1.2 V", "0.8W"]),
        ("clock: {fast: 0.8V}", ["clock", "fast"]),
        ("clock: {0.9GHz: 0.8V}", ["technology.clock_ghz", "one of", "0.9 GHz", "1.0"]),
        ("technology: {clock: [[1.0]]}", ["clock", "[[1.0]]"]),
    ],
)
def test_malformed_clocks_are_one_line(tmp_path, said, words):
    path = tmp_path / "chip.yaml"
    path.write_text(f"{said}\n", encoding="utf-8")
    assert_malformed(cocco("hardware", path), [str(path), *words])
