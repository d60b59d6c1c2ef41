"""Numbers of 1 to 32 bits: every byte that a price says is what is counted, and INT8 is what it was."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

import workloads
from simulator import Accelerator, KiB, MiB, Partition, Technology, evaluate
from simulator.execution import verify
from simulator.metrics import METRIC_NAMES
from simulator.model.layer.cheapest import Room, cheapest_plan
from simulator.model.layer.least_room import can_run
from simulator.technology import operation_units
from tests.helpers.judged import judged_plan, layer_with_tensors_on_chip
from tests.helpers.parts import each_seed
from tests.helpers.random_attention import random_attention_product, random_decoder
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_language import geometry_of, with_random_bits
from tests.helpers.random_layers import random_layer, random_norm
from workloads import Bits, Experts, NetworkError


@pytest.mark.parametrize("make", [random_layer, random_norm, random_attention_product])
@pytest.mark.parametrize("part", range(5))
def test_every_number_of_a_layer_is_what_is_counted(part, make):
    found = [layer_is_counted(seed, make) for seed in range(40 * part, 40 * part + 40)]
    assert sum(found) > 8


def layer_is_counted(seed, make):
    """Compare a layer in random memory, some of its tensors on chip; return whether it ran."""
    rng = random.Random(seed)
    network = with_random_bits(make(rng), rng)
    if geometry_of(network) is None:
        return False
    rules, model, runs = layer_with_tensors_on_chip(network, rng, 0.3, (1.6, 4.8), shared=0.5)
    layer, goal = rules.loop_layer(0, model.kept), rules.goal(1024, 1024)
    for _ in range(3):
        room = Room(int(10 ** rng.uniform(0.8, 4)), rng.choice((None, int(10 ** rng.uniform(0.8, 4)))))
        assert (cheapest_plan(layer, room, goal) is not None) == can_run(layer, room), seed
    return runs


@each_seed(30, 60)
def test_every_number_of_a_plan_is_what_is_counted(seed):
    rng = random.Random(seed)
    network = random_decoder(rng) if seed % 3 == 0 else random_network(seed, whole=seed % 2 == 1)
    network = with_random_bits(network, rng)
    if geometry_of(network) is None:
        return
    plan = replace(random_kept_plan(network, seed), metric=rng.choice(METRIC_NAMES))
    chip = Accelerator(shared_buffer=rng.choice((1024, 4096, 65536)), batch=rng.choice((1, 2, 3)))
    assert judged_plan(network, plan, chip) is None or verify(network, plan, chip).verified


def test_weights_of_4_bits_halve_what_a_decode_step_moves_of_them():
    network = workloads.load("llama3_8b", phase="decode", past=512, layers=1).with_bits(Bits(4, 16, 8))
    spans = [(v, v, max(network.consumers[v])) for v in range(len(network.layers)) if network.consumers[v]]
    tokens = len(network.layers)
    spans.append((tokens, network.consumers[tokens][0], network.consumers[tokens][-1]))
    plan = Partition.from_ids(network, [(v,) for v in range(len(network.layers))], keep=spans)
    chip = Accelerator(shared_buffer=2 * MiB)
    found = evaluate(network, plan, chip)
    assert found.ema_weight_bytes == 218_103_808 // 2
    assert found.ema_bytes == 218_103_808 // 2 + 2 * 513 * 1024 + 2 * 2 * 4096
    assert verify(network, plan, chip).verified


@each_seed(30, 60)
def test_weights_of_experts_in_use_are_loaded_and_counted(seed):
    rng = random.Random(seed)
    b = workloads.Builder("experts")
    active, used = rng.choice(((1, 3), (1, None), (2, 2), (2, 5), (2, None), (4, 6), (4, None)))
    x = b.input("x", rng.randint(1, 9), 1, 8 * rng.randint(1, 4))
    experts = Experts(8, active, used)
    up = b.fc("up", x, 8 * active * rng.randint(1, 3), experts=experts)
    b.fc("down", up, 8 * rng.randint(1, 4), experts=experts)
    network = b.build().with_bits(Bits(rng.choice((4, 8, 16))))
    groups = [["up", "down"]] if rng.random() < 0.4 else [["up"], ["down"]]
    plan = Partition.from_groups(network, groups, rng.choice(METRIC_NAMES))
    cores, batch = rng.choice((1, 1, 2, 3)), rng.choice((1, 2, 8))
    chip = Accelerator(shared_buffer=int(10 ** rng.uniform(2.5, 4.5)), batch=batch, cores=cores)
    found = judged_plan(network, plan, chip)
    if found is not None:
        loaded = sum(price.ema_weight_bytes for price in found.prices)
        assert loaded >= network.in_batch(batch).weight_bytes >= network.weight_bytes
        assert verify(network, plan, chip).verified


def test_energy_of_an_operation_is_by_the_bits_of_both_numbers():
    """8 x 8: 64 units, as INT8 is; 16 x 4: (20 x 64 + 24 x 16) / 23 = 72.3; and the sum of all layers by hand."""
    assert [operation_units(*pair) for pair in ((8, 8), (16, 4), (4, 4), (32, 32))] == [64, 73, 19, 924]
    network = workloads.load("gpt2", length=8, layers=1)
    plan, chip = Partition.layerwise(network), Accelerator(shared_buffer=MiB)
    plain = evaluate(network, plan, chip)
    assert evaluate(network.with_bits(Bits()), plan, chip).energy_pj == plain.energy_pj
    found = evaluate(network.with_bits(Bits(weights=4, activations=16, cache=8)), plan, chip)
    units = 0
    for layer in network.layers:
        pair = (16, 4) if layer.op in ("fc", "conv") else (16, 8) if layer.op == "matmul" else (16, 16)
        units += (layer.macs + layer.light_ops) * operation_units(*pair)
    each = sum(cost.energy_breakdown.compute for cost in found.subgraphs)
    assert each == pytest.approx(0.31 * units / 64, rel=1e-12)


def test_parts_that_do_not_fill_bytes_are_refused_in_one_line():
    b = workloads.Builder("odd")
    b.matmul("p", b.input("x", 2, 1, 6), b.input("y", 4, 1, 6), heads=2, transpose=True)
    network = b.build().with_bits(Bits(activations=4))
    with pytest.raises(NetworkError, match="'p' has no price: 3 numbers of 4 bits do not fill whole bytes"):
        evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=KiB))


def test_weights_of_an_operand_pass_by_themselves_and_fill_bytes():
    """3 x 4 numbers of 3 bits are 4.5 bytes; all 3 x 8 would be 9."""
    b = workloads.Builder("odd")
    b.conv("c", [b.input(name, 2, 2, 4) for name in "xy"], 3, 1)
    network = b.build().with_bits(Bits(weights=3))
    with pytest.raises(NetworkError, match="'c' has no price: 12 numbers of 3 bits do not fill whole bytes"):
        evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=KiB))


@pytest.mark.parametrize(
    ("channels", "kernel", "bits", "said", "rule"),
    [
        (36, 1, Bits(activations=12), {"channel_alignment": 1}, "channel_alignment 1: 1 x 12 bits"),
        (36, 1, Bits(activations=4), {"channel_alignment": 3}, "channel_alignment 3: 3 x 4 bits"),
        (32, 3, Bits(weights=3), {"channel_alignment": 2}, "channel_alignment 2: 36 x 3 bits"),
        (0, 1, Bits(weights=5), {"pe_rows": 1, "pe_columns": 1}, "pe_light_channels 4: 4 x 5 bits"),
    ],
)
def test_words_that_do_not_fill_bytes_are_refused(channels, kernel, bits, said, rule):
    network = one_conv(channels, kernel, bits)
    with pytest.raises(NetworkError, match=f"'c' has no price with .*{rule} do not fill whole bytes"):
        evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=KiB, technology=Technology(**said)))


def test_channels_that_fill_the_array_fill_bytes_on_several_cores():
    network, technology = one_conv(0, 1, Bits(weights=5)), Technology(pe_rows=1, pe_columns=1)
    with pytest.raises(NetworkError, match="'c' has no price with .*pe_light_channels 4: 4 x 5 bits"):
        evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=KiB, cores=2, technology=technology))


def one_conv(channels, kernel, bits):
    """A convolution of a map of 4x9x16; depth-wise without channels."""
    b = workloads.Builder("odd")
    x = b.input("x", 4, 9, 16)
    if channels:
        b.conv("c", x, channels, kernel)
    else:
        b.depthwise("c", x, kernel)
    return b.build().with_bits(bits)


@pytest.mark.parametrize("word", [1, 2, 3, 8])
@pytest.mark.parametrize("bits", [Bits(activations=12), Bits(weights=5, activations=4), Bits(weights=3), Bits()])
def test_what_one_core_does_not_refuse_is_what_is_counted(word, bits):
    """With words of 8 nothing is refused, and a layer of one word is not cut."""
    runs = 0
    for channels, array in product((0, 1, 3, 16, 36), (4, 1)):
        network, technology = one_conv(channels, 1, bits), Technology(channel_alignment=word, pe_rows=array)
        for size in (100, 200, 536, 2544):
            chip = Accelerator(shared_buffer=size, batch=3, technology=technology)
            plan = Partition.layerwise(network)
            try:
                fits = evaluate(network, plan, chip).fits
            except NetworkError as error:
                assert word < 8 and bits != Bits() and "do not fill whole bytes" in str(error)
                break
            runs += fits
            assert not fits or verify(network, plan, chip).verified
    assert runs > 20 or (word < 8 and bits != Bits())
