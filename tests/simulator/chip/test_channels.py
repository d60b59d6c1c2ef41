"""DRAM channels of the chip: shared by all cores, in whole slots of time, executed as they are priced."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workloads
from cocco.effort.settings import Settings
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, KiB, Partition, Technology, evaluate, load_accelerator
from simulator.execution.verify import verify
from simulator.hardware_files import hardware_text
from simulator.technology import Rate
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_twin
from tests.helpers.twin_search import assert_same_search

LPDDR5 = Technology(dram_kind="lpddr5", dram_pj_per_byte=51.2, dram_channels=1, channel_gb_per_s=12.8)


def milliseconds(clock: float, cores: int = 1, technology: Technology = LPDDR5) -> float:
    network = workloads.load("resnet50")
    chip = Accelerator(shared_buffer=960 * KiB, cores=cores, technology=replace(technology, clock_ghz=clock))
    return evaluate(network, Partition.layerwise(network), chip).latency_cycles / clock * 1e-6


@pytest.mark.parametrize(
    ("clock", "channels", "rate"),
    [(1.0, 1, Rate(64, 5)), (0.8, 1, Rate(16)), (1.1, 1, Rate(128, 11)), (1.0, 5, Rate(64))],
)
def test_rate_is_exact(clock, channels, rate):
    technology = replace(LPDDR5, clock_ghz=clock, dram_channels=channels)
    assert technology.rate(1) == technology.rate(4) == rate
    assert Technology(dram_bytes_per_cycle=12).rate(4) == Rate(48)


@given(st.integers(1, 500), st.integers(1, 200), st.integers(1, 64), st.integers(1, 64))
def test_crossbar_of_all_cores_passes_what_its_ports_do(slots, cycles, ports, port):
    """In c cycles all ports pass ports x port x c bytes, and DRAM rate.bytes / rate.cycles x c."""
    rate = Rate(slots, cycles)
    number, passing = rate.crossing(ports, port)
    assert number * cycles * ports * port == passing * slots


def test_a_higher_clock_is_never_slower():
    """With whole bytes, 16 in a cycle at 0.8 GHz and 12 at 1.0 GHz, it was; exactly so where DRAM decides."""
    times = [milliseconds(clock) for clock in (0.4, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0)]
    assert times == sorted(times, reverse=True) and times[0] > times[-1]


def test_cores_share_the_channels():
    """Where DRAM decides, a second core gains nothing; channels of each core multiply what there is."""
    slow = replace(LPDDR5, channel_gb_per_s=0.2)
    network = workloads.load("resnet50")
    chips = [Accelerator(shared_buffer=960 * KiB, cores=cores, technology=slow) for cores in (1, 2)]
    one, two = (evaluate(network, Partition.layerwise(network), chip) for chip in chips)
    assert all(cost.latency_cycles == cost.ema_bytes / 0.2 for cost in two.subgraphs if cost.ema_bytes > 2**18)
    assert two.latency_cycles >= 0.99 * one.latency_cycles * two.ema_bytes / one.ema_bytes
    each = Technology(dram_bytes_per_cycle=1)
    assert milliseconds(1.0, 2, each) < 0.6 * milliseconds(1.0, 1, each)


@pytest.mark.parametrize("name", first_of(["vgg16", "googlenet"], 1))
@pytest.mark.parametrize("cores", [1, 2])
def test_fractions_of_a_byte_are_executed(name, cores):
    network = workloads.load(name)
    technology = replace(LPDDR5, clock_ghz=1.1)
    chip = Accelerator(shared_buffer=512 * KiB, cores=cores, technology=technology)
    found = verify(network, Partition.layerwise(network), chip)
    assert found.verified and not any("not confirmed" in note for note in found.notes)
    for name in ("latency_cycles", "latency_executed_cycles", "energy_pj"):
        assert found.check(name).status == "equal"


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seed", range(12))
def test_engines_agree_on_channels(seed):
    problem, rng = random_twin(seed), random.Random(seed)
    said = {"dram_channels": rng.choice((1, 2, 3)), "channel_gb_per_s": rng.choice((12.8, 8.5, 0.1))}
    technology = replace(problem.accelerator.technology, clock_ghz=rng.choice((1.0, 0.7, 1.1)), **said)
    found = replace(problem, accelerator=replace(problem.accelerator, technology=technology))
    assert_same_search(found, Settings(population=24, elite=3), 80, 1 + seed % 3)


def test_channels_are_written_and_read_again(tmp_path):
    chip = Accelerator(shared_buffer=2**20, cores=2, technology=LPDDR5)
    path = tmp_path / "chip.yaml"
    path.write_text(hardware_text(chip), encoding="utf-8")
    assert load_accelerator(path) == chip and Technology.from_json(LPDDR5.to_json()) == LPDDR5
    path.write_text("shared_buffer: 1MB\ncores: 2\ndram: {kind: lpddr5, channels: 1}\n", encoding="utf-8")
    assert load_accelerator(path) == chip


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("dram: {channels: 2}", ["dram.channels", "kind"]),
        ("dram: {kind: lpddr5, channels: 0}", ["dram.channels", "from 1", "0"]),
        (
            "dram: {kind: lpddr5, channels: 1}\ntechnology: {dram_bytes_per_cycle: 8}",
            ["dram_bytes_per_cycle", "give one"],
        ),
        ("dram: {kind: lpddr5, channels: 1}\ntechnology: {dram_gb_per_s: 8}", ["dram_gb_per_s", "give one"]),
        ("technology: {dram_channels: 2}", ["dram_channels", "channel_gb_per_s", "go together"]),
        ("technology: {channel_gb_per_s: 2}", ["dram_channels", "channel_gb_per_s", "go together"]),
        ("dram: {gigabytes_per_second: 1.0e-9, channels: 1}", ["channel_gb_per_s", "a byte in"]),
    ],
)
def test_malformed_channels_are_one_line(tmp_path, said, words):
    path = tmp_path / "chip.yaml"
    path.write_text(f"{said}\n", encoding="utf-8")
    assert_malformed(cocco("hardware", path), [str(path), *words])
