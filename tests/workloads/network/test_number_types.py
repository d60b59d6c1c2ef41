"""Integers of any bits and floating-point numbers: bytes, names, files, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import workloads
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.mapping import layer_cycles
from simulator.technology import units_of_numbers
from workloads.errors import NetworkError
from workloads.network.layers.types import Bits, Number, bits_of

FP16, FP32, BF16, FP8 = Number(16, "fp16"), Number(32, "fp32"), Number(16, "bf16"), Number(8, "fp8")


def test_energy_of_floating_point_operations_by_hand():
    """fp16: (1.1 + 0.4) / 0.23 pJ x 64 = 417.4; fp32: (3.7 + 0.9) / 0.23 x 64 = 1280 (Horowitz); and between them.

    bf16 has 8 bits of significand: 1.1 + 2.6 (64 - 121) / 455 = 0.774 and 0.4 + 0.5 (8 - 11) / 13 = 0.285 pJ; 294.7.
    """
    assert [units_of_numbers(each, each) for each in (FP16, FP32, BF16)] == [418, 1280, 295]
    assert units_of_numbers(Number(), Number()) == 64 and units_of_numbers(Number(16), Number(4)) == 73
    pairs = [(FP8, FP8), (BF16, FP8), (BF16, BF16), (FP16, BF16), (FP16, FP16)]
    units = [units_of_numbers(*pair) for pair in pairs]
    assert units == sorted(units) and units == [units_of_numbers(*pair[::-1]) for pair in pairs]


def test_wide_numbers_take_the_lanes_of_several():
    """16 bits half the rate of 8, 32 a quarter; 4 bits no more than 8; whatever of a layer is widest says."""
    (layer,) = [each for each in workloads.load("gpt2", length=8, layers=1).layers if each.name == "l1_up"]
    network = workloads.load("gpt2", length=8, layers=1)
    place = network.layers.index(layer)
    for bits, lanes in (
        ({"weights": 4}, 1),
        ({"weights": "fp8"}, 1),
        ({"weights": 16}, 2),
        ({"activations": "fp32"}, 4),
    ):
        assert layer_cycles(network.retyped(bits).layers[place]) == lanes * layer_cycles(layer)


def test_bytes_and_operations_of_floating_point_numbers_are_executed():
    """As many bytes as integers of so many bits; every number of the plan is counted equal."""
    network = workloads.load("llama3_8b", phase="decode", past=8, layers=1)
    small = network.retyped({"weights": "fp8", "activations": "bf16", "cache": "fp8"})
    plan, chip = Partition.layerwise(small), Accelerator(shared_buffer=2**20)
    found, integers = evaluate(small, plan, chip), evaluate(network.retyped({"activations": 16}), plan, chip)
    assert found.ema_bytes == integers.ema_bytes and found.latency_cycles == integers.latency_cycles
    assert found.energy_pj > integers.energy_pj
    checked = verify(small, plan, chip)
    assert checked.verified and "different" not in {check.status for check in checked.checks}


def test_files_say_them(tmp_path: Path):
    network = workloads.load("gpt2", length=8, layers=1, phase="decode", past=4)
    for bits in ({"weights": "fp8", "activations": "bf16", "cache": "fp8"}, {"cache": "fp16"}, {"weights": 4}):
        typed = network.retyped(bits)
        workloads.save(typed, tmp_path / "typed.json")
        assert workloads.load(tmp_path / "typed.json") == typed != network
    assert typed.number_types()["weights"] == ("int4",)
    assert network.retyped({"weights": 4}).retyped({"cache": 16}) == network.with_bits(Bits(weights=4, cache=16))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"weights": "fp9"}, "bits have weights 'fp9'; it must be an integer from 1 to 32, or fp8, bf16, fp16, fp32"),
        ({"sums": "fp16"}, "bits have sums 'fp16'; it must be an integer from 1 to 32"),
        ({"weights_as": "fp8"}, "bits have 'weights_as'; known are weights, activations, cache, sums"),
        ({"cache": 0}, "bits have cache 0; it must be an integer from 1 to 32"),
        ({"cache": 33}, "bits have cache 33; it must be an integer from 1 to 32"),
        (4, "bits are 4; it must be a mapping of weights, activations, cache, sums"),
    ],
)
def test_what_is_no_number_is_refused(said, message):
    with pytest.raises(NetworkError) as error:
        bits_of(said)
    assert str(error.value) == message


def test_bits_and_kind_have_to_agree():
    with pytest.raises(NetworkError, match="bits have weights 8 bits as fp16; it must be 16"):
        Bits(weights_as="fp16")
    with pytest.raises(NetworkError, match="bits have cache 'real'; known are int, fp8, bf16, fp16, fp32"):
        Bits(cache_as="real")
