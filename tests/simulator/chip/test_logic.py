"""A chip has a price: by hand, from files, judged by the execution, equal in both engines."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

import workloads
from cocco.effort.settings import Settings
from cocco.output.text.plans.hardware import chip_lines
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, KiB, Partition, Technology, evaluate, load_accelerator
from simulator.chip import area, money
from simulator.chip.logic import NVDLA, Logic
from simulator.execution.verify import verify
from simulator.hardware_files import hardware_text
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_twin
from tests.helpers.random_tables import with_tables
from tests.helpers.twin_search import assert_same_search

ON_CHIP = Technology(logic=NVDLA, dram_kind="lpddr5")
NETWORKS = first_of(["vgg16", "googlenet"], 1)


def one_layer() -> workloads.Network:
    """A convolution of 1x1 from 4 to 8 channels on 4x4 positions: 512 MACs."""
    b = workloads.Builder("one")
    b.conv("a", b.input("x", 4, 4, 4), 8)
    return b.build()


def test_leakage_and_idle_of_a_layer_by_hand():
    """16 PEs of 8x8 MACs compute 4x4 positions in a cycle, with half of their inputs: 1,024 MACs, of which 512 work.

    DRAM moves 64 + 32 + 128 = 224 bytes at 16 B a cycle: 14 cycles, in which all leak; none is idle while it waits.
    """
    network, logic = one_layer(), Logic(leakage_uw_per_mac=1000.0, idle_pj_per_mac=0.25)
    technology = Technology(clock_ghz=2.0, logic=logic)
    found = evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=2048, technology=technology))
    parts = found.energy_breakdown
    assert parts is not None and found.compute_cycles == 1 and found.latency_cycles == 14
    assert parts.idle == 0.25 * (1024 - 512)
    assert parts.logic_leakage == pytest.approx(1024 * 14 / 2.0)  # mW x ns
    assert found.energy_pj == pytest.approx(sum(parts.parts().values()))


def test_area_of_a_chip_by_hand():
    """2 x (0.216 + 1,024 x 0.00097 + 1.2 + 0.05) + 2 channels of 1.02 mm2."""
    chip = Accelerator(shared_buffer=1024 * KiB, cores=2, technology=ON_CHIP)
    assert chip.chip_area.total == pytest.approx(2 * (0.216 + 0.99328 + 1.2 + 0.05) + 2 * 1.02)
    assert replace(chip, cores=1).chip_area.ports == 0.0
    assert Accelerator(shared_buffer=1024 * KiB).chip_area.total == chip.area_mm2 / 2


def test_money_of_a_die_is_ten_to_twelve_cents_a_mm2_until_dram_is_counted():
    """Dies of 5 to 100 mm2; one channel of HBM2E is worth some 180 mm2 of them."""
    assert all(0.105 <= money.die_usd(mm2) / mm2 <= 0.12 for mm2 in (5, 20, 100))
    found = money.money_of(180.0, 51.2, "hbm2e")
    assert found.dram == pytest.approx(20.0, rel=0.01) and found.die == pytest.approx(found.dram, rel=0.2)


def test_nothing_is_said_of_logic_unless_it_is_asked_for():
    network = workloads.load("vgg16")
    content = evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=2**20)).to_json()
    assert "chip" not in content and "logic" not in content["accelerator"]["technology"]
    assert not {"idle", "logic_leakage"} & set(content["subgraphs"][0]["energy_breakdown"])
    assert "logic" not in hardware_text(Accelerator(shared_buffer=2**20))


def test_arrays_of_resnet50_differ_in_energy_with_logic_only():
    network, plan = workloads.load("resnet50"), Partition.layerwise(workloads.load("resnet50"))

    def energies(logic: Logic | None) -> set[float]:
        sizes = [(4, 4, 8), (4, 8, 8), (8, 8, 8), (4, 4, 16)]
        arrays = [{"pe_rows": r, "pe_columns": c, "pe_inputs": n, "pe_outputs": n} for r, c, n in sizes]
        chips = [Accelerator(shared_buffer=960 * KiB, technology=Technology(logic=logic, **each)) for each in arrays]
        return {evaluate(network, plan, chip).energy_pj for chip in chips}

    assert len(energies(None)) == 1 and len(energies(NVDLA)) == 4


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("cores", [1, 2])
def test_logic_is_judged(cores, network):
    network = workloads.load(network)
    chip = Accelerator(shared_buffer=512 * KiB, cores=cores, technology=ON_CHIP)
    found = verify(network, Partition.layerwise(network), chip)
    assert found.verified
    for name in ("energy_logic_leakage_pj", "energy_idle_pj", "energy_pj", "chip_area_mm2"):
        assert found.check(name).status == "equal" and found.check(name).claimed


def of_one_core(technology, cores):
    return technology.macs * technology.of_logic.leakage_uw_per_mac * 1e-3


def while_waiting(price, macs):
    return max(0, macs * -(-price.slots(2, ON_CHIP) // 24) - price.operations)  # 24 slots a cycle


def of_each_core(logic, cores, pes, macs, buffers_mm2, channels, kind):
    return area.area_of(logic, cores, pes, macs, buffers_mm2, cores * channels, kind)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(
    ("name", "fault", "wrong"),
    [
        ("simulator.accelerator.logic_mw", of_one_core, "energy_logic_leakage_pj"),
        ("simulator.model.price.Price.idle", while_waiting, "energy_idle_pj"),
        ("simulator.accelerator.area_of", of_each_core, "chip_area_mm2"),
    ],
)
def test_faults_are_caught(monkeypatch, name, fault, wrong, network):
    """Leakage of one core only; MACs that are idle while they wait for DRAM; interfaces of each core."""
    network = workloads.load(network)
    chip = Accelerator(shared_buffer=512 * KiB, cores=2, technology=ON_CHIP)
    monkeypatch.setattr(name, fault)
    found = verify(network, Partition.layerwise(network), chip)
    assert not found.verified and found.check(wrong).status == "different"


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seed", range(12))
def test_engines_agree_with_logic(seed):
    problem, rng = random_twin(seed), random.Random(seed)
    problem = with_tables(problem, seed) if seed % 2 else problem
    logic = rng.choice((NVDLA, replace(NVDLA, leakage_uw_per_mac=5000.0, idle_pj_per_mac=0.31)))
    technology = replace(problem.accelerator.technology, logic=logic)
    found = replace(problem, accelerator=replace(problem.accelerator, technology=technology))
    assert_same_search(found, Settings(population=24, elite=3), 80, 1 + seed % 3)


def test_hardware_with_logic_is_written_and_read_again(tmp_path):
    chip = Accelerator(shared_buffer=2**20, technology=replace(ON_CHIP, logic=replace(NVDLA, core_mm2=0.3)))
    path = tmp_path / "chip.yaml"
    path.write_text(hardware_text(chip), encoding="utf-8")
    assert load_accelerator(path) == chip
    path = tmp_path / "chip.json"
    path.write_text(json.dumps(chip.to_json()), encoding="utf-8")
    assert load_accelerator(path) == chip and Technology.from_json(chip.technology.to_json()) == chip.technology


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("tpu", ["logic", "nvdla", "'tpu'"]),
        ("[1]", ["logic", "nvdla", "[1]"]),
        ("{}", ["logic", "nvdla"]),
        ("{preset: x}", ["logic", "nvdla", "'x'"]),
        ("{foo: 1}", ["unknown key 'foo'", "core_mm2"]),
        ("{core_mm2: -1}", ["logic.core_mm2", "at least 0", "-1"]),
        ("{mac_bits_mm2: 1}", ["logic.mac_bits_mm2", "at most mac_mm2"]),
        ("{idle_pj_per_mac: 1}", ["logic.idle_pj_per_mac", "operation_pj 0.31"]),
        ("{node: 12}", ["logic.node", "12nm"]),
    ],
)
def test_malformed_logic_is_one_line(tmp_path, said, words):
    path = tmp_path / "chip.yaml"
    path.write_text(f"logic: {said}\n", encoding="utf-8")
    assert_malformed(cocco("hardware", path), [str(path), *words])


def test_logic_on_the_command_line_is_that_of_the_file(tmp_path):
    path = tmp_path / "chip.yaml"
    path.write_text("shared_buffer: 512KB\nlogic: nvdla\n", encoding="utf-8")
    asked = ("evaluate", "googlenet", "--partition", "layerwise")
    by_option = cocco(*asked, "--shared-buffer", "512KB", "--logic", "nvdla", "--json").stdout
    assert by_option == cocco(*asked, "--hardware", path, "--json").stdout and '"chip"' in by_option
    shown = cocco(*asked, "--shared-buffer", "512KB", "--logic", "nvdla").stdout
    assert "chip area" in shown and "idle MACs" in shown and "kind is not known" in " ".join(shown.split())
    assert_malformed(cocco(*asked, "--logic", "tpu"), ["--logic", "nvdla"])


def test_idle_energy_never_falls_below_nothing():
    """With more light channels than MACs, depth-wise layers do more operations in a cycle than there are MACs."""
    network, technology = workloads.load("l_raspp"), Technology(pe_light_channels=2**12, logic=NVDLA)
    found = evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=2**21, technology=technology))
    idle = [cost.energy_breakdown.idle for cost in found.subgraphs]
    assert min(idle) == 0.0 < max(idle)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("sram: cacti7_22nm_hp\nlogic: nvdla", "logic at 12nm, buffers by cacti7_22nm_hp at 22nm"),
        ("sram: {table: mine.csv, node: 28nm}\nlogic: nvdla", "logic at 12nm, buffers by mine.csv at 28nm"),
        ("sram: mine.csv\nlogic: nvdla", "logic at 12nm, buffers by mine.csv at a node that nobody says"),
        ("sram: {table: mine.csv, node: 28nm}\nlogic: {core_mm2: 1}", "logic at a node that nobody says"),
        ("logic: {preset: nvdla, node: 7nm}", "logic at 7nm, buffers by the formula at 12nm"),
        ("sram: {table: mine.csv, node: 12nm}\nlogic: nvdla", ""),
        ("logic: nvdla", ""),
    ],
)
def test_nodes_that_differ_are_named(tmp_path, said, line):
    """A table says its node in the file or by its name."""
    rows = "capacity_bytes,read_pj_per_byte,write_pj_per_byte,leakage_mw,area_mm2\n1024,1,1,0,1\n9999999,2,2,0,2\n"
    (tmp_path / "mine.csv").write_text(rows, encoding="utf-8")
    path = tmp_path / "chip.yaml"
    path.write_text(f"shared_buffer: 512KB\n{said}\n", encoding="utf-8")
    chip = load_accelerator(path)
    shown = "\n".join(chip_lines(chip))
    assert line in shown and bool(line) == ("mixed" in shown)
    path.write_text(hardware_text(chip), encoding="utf-8")
    assert load_accelerator(path) == chip and Technology.from_json(chip.technology.to_json()) == chip.technology
