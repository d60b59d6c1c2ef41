"""Ports of buffers: computing takes as long as what a buffer reads and writes, in the price, the run and its judge."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import workloads
from cocco.effort.settings import Settings
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, KiB, Partition, Technology, evaluate, load_accelerator
from simulator.chip.logic import NVDLA
from simulator.execution.verify import verify
from simulator.hardware_files import hardware_text
from simulator.model.layer.goal import computing_cycles
from simulator.model.pricing import SubgraphModel
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.parts import few_seeds, first_of
from tests.helpers.random_problems import random_twin
from tests.helpers.random_runs import RUNS, random_run
from tests.helpers.twin_search import assert_same_search


def one_layer() -> workloads.Network:
    """A convolution of 1x1 from 4 to 8 channels on 4x4 positions: 512 MACs."""
    b = workloads.Builder("one")
    b.conv("a", b.input("x", 4, 4, 4), 8)
    return b.build()


def ported(chip: Accelerator, port: int | None) -> Accelerator:
    return replace(chip, technology=replace(chip.technology, sram_bytes_per_cycle=port))


@pytest.mark.parametrize(
    ("port", "shared", "apart"), [(None, 1, 1), (1, 448, 384), (5, 90, 77), (100, 5, 4), (448, 1, 1)]
)
def test_cycles_of_a_layer_by_hand(port, shared, apart):
    """Activations: 64 B in and 64 read, 128 B of results in and 128 out, 384 in all; weights: 32 B in, 32 read.

    A shared buffer moves 448 B through its port; of separate ones the activation buffer takes longer. Two cores have
    two ports.
    """
    network = one_layer()
    plan = Partition.layerwise(network)
    one = evaluate(network, plan, ported(Accelerator(shared_buffer=2048), port))
    two = evaluate(network, plan, ported(Accelerator(global_buffer=2048, weight_buffer=1024), port))
    assert (one.compute_cycles, two.compute_cycles) == (shared, apart)
    assert one.latency_cycles == max(14, shared)  # 224 B of DRAM
    assert one.utilization == 512 / (1024 * shared)


def test_idle_macs_wait_for_ports_too():
    network, logic = one_layer(), replace(NVDLA, idle_pj_per_mac=0.25)
    technology = Technology(logic=logic, sram_bytes_per_cycle=5)
    found = evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=2048, technology=technology))
    assert found.energy_breakdown is not None and found.energy_breakdown.idle == 0.25 * (1024 * 90 - 512)


def test_nvdla_has_ports_that_follow_its_array():
    arrays = [Technology(pe_rows=rows, pe_columns=rows, logic=NVDLA) for rows in (4, 8)]
    assert [Accelerator(shared_buffer=2048, technology=each).ports for each in arrays] == [(128, 0), (512, 0)]
    apart = Accelerator(global_buffer=2048, weight_buffer=2048, cores=3, technology=replace(arrays[0]))
    assert apart.ports == (384, 384) and ported(apart, 64).ports == (192, 192)
    assert Accelerator(shared_buffer=2048).ports == (0, 0)


def test_a_wider_port_is_never_slower():
    network, chip = workloads.load("googlenet"), Accelerator(shared_buffer=512 * KiB)
    ports = (1, 8, 64, 128, 512, 4096, None)
    times = [evaluate(network, Partition.layerwise(network), ported(chip, port)) for port in ports]
    assert [each.compute_cycles for each in times] == sorted([each.compute_cycles for each in times], reverse=True)
    assert times[0].compute_cycles > times[3].compute_cycles > times[-1].compute_cycles == times[-2].compute_cycles


def fused() -> tuple[workloads.Network, Partition]:
    """VGG16 with its first five layers in one subgraph, so that several layers share its time."""
    vgg = workloads.load("vgg16")
    return vgg, Partition.from_groups(vgg, [["conv1_1..pool1"], ["conv2_1..pool2"]], keep=["pool1"])


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("buffers", [{"shared_buffer": 2**22}, {"global_buffer": 2**22, "weight_buffer": 2**20}])
def test_ports_are_judged(cores, buffers):
    network, plan = fused()
    found = verify(network, plan, Accelerator(**buffers, cores=cores, technology=Technology(sram_bytes_per_cycle=4)))
    assert found.verified
    for name in ("compute_cycles", "latency_cycles", "latency_executed_cycles"):
        assert found.check(name).status == "equal"


@pytest.mark.parametrize("kind", RUNS)
@few_seeds(4, 150)
def test_random_plans_run_through_ports(kind, seeds):
    slower = 0
    for seed in seeds:
        network, plan, chip = random_run(kind, seed)
        before = evaluate(network, plan, chip)
        if not before.fits:
            continue
        chip = ported(chip, random.Random(seed).choice((1, 3, 16)))
        if seed % 2 and chip.cores == 1:  # whole slots of 11/128 cycles
            slots = {"dram_channels": 1, "channel_gb_per_s": 12.8, "clock_ghz": 1.1}
            chip = replace(chip, technology=replace(chip.technology, **slots))
        found = verify(network, plan, chip)
        assert found.verified and not any("not confirmed" in note for note in found.notes), (seed, found.message)
        slower += evaluate(network, plan, chip).compute_cycles > before.compute_cycles
    assert slower


def without_ports(cycles, activations, weights, ports):
    return cycles


@pytest.mark.parametrize(
    ("name", "fault", "wrong"),
    [
        ("simulator.model.pricing.computing_cycles", without_ports, "compute_cycles is "),
        ("simulator.execution.judge.through_ports", lambda count, chip: count, "compute_cycles is "),
        ("simulator.model.pricing.SubgraphModel.layer_cycles", SubgraphModel._array_cycles, "cannot be executed"),
    ],
)
def test_faults_are_caught(monkeypatch, name, fault, wrong):
    """Ports that the price, the judge or the scheduler does not know."""
    network, plan = fused()
    chip = Accelerator(shared_buffer=4096 * KiB, technology=Technology(sram_bytes_per_cycle=4))
    monkeypatch.setattr(name, fault)
    found = verify(network, plan, chip)
    assert not found.verified and wrong in found.message


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seed", first_of([3, 7, 10, 14, 0, 1, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15], 6))
def test_engines_agree_on_ports(seed):
    problem, rng = random_twin(seed), random.Random(seed)
    technology = replace(
        problem.accelerator.technology, logic=rng.choice((None, NVDLA)), sram_bytes_per_cycle=rng.choice((1, 2, 7, 64))
    )
    if rng.random() < 0.5:
        technology = replace(technology, dram_channels=1, channel_gb_per_s=12.8, clock_ghz=1.1)
    found = replace(problem, accelerator=replace(problem.accelerator, technology=technology))
    assert_same_search(found, Settings(population=24, elite=3), 80, 1 + seed % 3)


def test_the_array_or_the_slower_port_decides():
    assert computing_cycles(7, 100, 50, (0, 0)) == 7
    assert computing_cycles(7, 100, 50, (10, 0)) == 15
    assert computing_cycles(7, 101, 50, (10, 10)) == 11
    assert computing_cycles(7, 10, 50, (10, 5)) == 10


def test_ports_are_written_and_read_again(tmp_path):
    chip = ported(Accelerator(shared_buffer=2**20), 64)
    path = tmp_path / "chip.yaml"
    path.write_text(hardware_text(chip), encoding="utf-8")
    assert load_accelerator(path) == chip and Technology.from_json(chip.technology.to_json()) == chip.technology
    path.write_text("shared_buffer: 1MB\ntechnology: {sram_bytes_per_cycle: 64}\n", encoding="utf-8")
    assert load_accelerator(path) == chip
    assert "sram_bytes" not in hardware_text(Accelerator(shared_buffer=2**20))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("technology: {sram_bytes_per_cycle: 0}", ["technology.sram_bytes_per_cycle", "from 1", "0"]),
        ("technology: {sram_bytes_per_cycle: 1.5}", ["technology.sram_bytes_per_cycle", "1.5"]),
        ("logic: {sram_bytes_per_mac: -1}", ["logic.sram_bytes_per_mac", "at least 0", "-1"]),
    ],
)
def test_malformed_ports_are_one_line(tmp_path, said, words):
    path = tmp_path / "chip.yaml"
    path.write_text(f"{said}\n", encoding="utf-8")
    assert_malformed(cocco("hardware", path), [str(path), *words])
