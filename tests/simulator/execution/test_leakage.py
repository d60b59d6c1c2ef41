"""What leaks is counted: power times the time that an execution takes. A price, or a formula, that lies is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import Accelerator, KiB, Partition, Technology
from simulator.accelerator import static_pj_per_slot
from simulator.execution.verify import verify
from simulator.memory.sram import Sram
from simulator.memory.table import SramRow, SramTable
from tests.helpers.graphs import chain, conv
from tests.helpers.judged import lie_about_prices
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

LEAKY = Sram(SramTable("flat", tuple(SramRow(size, 1.0, 2.0, 80.0, 0.5) for size in (1, 2**30))))
TABLES = Technology(activation_sram=LEAKY, weight_sram=LEAKY, dram_background_mw=30.0)
CHIP = Accelerator(global_buffer=32 * KiB, weight_buffer=8 * KiB, technology=TABLES)
BY_TIME = ("energy_leakage_pj", "energy_dram_background_pj")


def test_leakage_of_a_convolution_by_hand():
    """8 to 8 channels on 4 x 32 positions, 1x1: 8 turns of 4 x 4 PEs, but 2,112 bytes at 16 a cycle take 132 cycles.

    1,024 bytes in, 64 of weights, 1,024 out. Two buffers of 80 mW at 1 GHz: 160 pJ a cycle; DRAM 30.
    """
    network = Network("one", (Tensor("x", 4, 32, 8),), (conv("a", "x", (4, 32, 8), 8, 1, 1, 0),))
    found = verify(network, Partition.layerwise(network), CHIP)
    assert found.verified
    assert [found.check(name).counted for name in ("compute_cycles", "latency_cycles")] == [8, 132]
    assert [found.check(name).counted for name in BY_TIME] == [132 * 160, 132 * 30]
    assert all(found.check(name, step).status == "equal" for name in BY_TIME for step in (None, 0))


@pytest.mark.parametrize("cores", [1, 3])
def test_a_price_that_says_too_few_cycles_leaks_too_little_and_falls(cores, monkeypatch):
    chip, plan = replace(CHIP, cores=cores), Partition.layerwise(chain())
    assert verify(chain(), plan, chip).verified
    lie_about_prices(monkeypatch, lambda _, each: each._replace(compute_cycles=10**6))
    found = verify(chain(), plan, chip)
    assert not found.verified and "compute_cycles is 1,000,000, counted" in found.message
    assert all(found.check(name, step).status == "different" for name in BY_TIME for step in (None, 0))


@pytest.mark.parametrize("share", [1 / 3, 2.0])
def test_leakage_of_one_core_or_of_twice_the_buffers_is_noticed(share, monkeypatch):
    """Three cores; the claims take what leaks in a slot from the accelerator, and the judge its own."""
    chip, plan = replace(CHIP, cores=3), Partition.layerwise(chain())
    true = static_pj_per_slot(TABLES, 3, chip.activation_sram, chip.weight_sram)
    lying = tuple(share * each for each in true[:2]) + true[2:]
    monkeypatch.setattr(Accelerator, "static_pj_per_slot", lying)
    found = verify(chain(), plan, chip)
    assert not found.verified
    assert [found.check(name).status for name in (*BY_TIME, "energy_pj")] == ["different", "equal", "different"]
    assert found.check("energy_leakage_pj").error == pytest.approx(share - 1)


def test_a_latency_that_forgets_the_crossbar_is_noticed(monkeypatch):
    """A layer alone on one of 16 cores, with a crossbar of a byte a cycle: what crosses takes longest."""
    network = Network("one", (Tensor("x", 64, 64, 8),), (conv("a", "x", (64, 64, 8), 8, 3, 1, 1),))
    chip = Accelerator(shared_buffer=2 * KiB, cores=16, technology=replace(TABLES, crossbar_bytes_per_cycle=1))
    plan = Partition.layerwise(network)
    honest = verify(network, plan, chip)
    assert honest.verified and honest.check("latency_cycles").counted > honest.check("compute_cycles").counted
    lie_about_prices(monkeypatch, lambda _, each: each._replace(crossbar_bytes=0))
    found = verify(network, plan, chip)
    assert [found.check(name).status for name in ("crossbar_bytes", "latency_cycles")] == ["different"] * 2
