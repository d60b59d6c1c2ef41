"""Attention in windows: products in blocks of positions cost what is counted and run, whatever the loops."""

from __future__ import annotations

import random

import pytest

import cocco
from cocco.output.program.refusal import Refusal, check_supported
from cocco.problem.problem import on_hardware
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.execution.layer import LayerPlan, count_layer
from simulator.execution.layer.common.folded import folded
from simulator.model.priced import price_partition
from tests.helpers.judged import judged_plan, layer_with_tensors_on_chip
from tests.helpers.layer_plans import run_as_claimed, some_plans
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_plans import random_plan
from tests.helpers.random_windows import random_product_in_blocks, random_windows
from tests.helpers.same_prices import assert_same_prices
from workloads import Builder, NetworkError
from workloads.network.rewriting.resize import shrink

LOOSE = ("KP", "TP", "BC")  #: orders whose claims of bytes on chip may be more than is ever held


def windows_of_a_map(heads=2):
    """Four windows of 2 x 2 positions of a map of 4 x 4, heads of 8 channels."""
    b = Builder("windows")
    q, k, v = (b.input(name, 4, 4, 8 * heads) for name in "qkv")
    scores = b.matmul("scores", q, k, heads, transpose=True, operand_heads=4 * heads)
    b.matmul("context", b.softmax("softmax", scores), v, heads, operand_heads=4 * heads)
    return b.build()


def test_a_window_meets_its_own_positions():
    """16 positions meet 4 each, not 16: 16 x 4 x 16 MACs in either product, scores of 2 heads x 4 a position."""
    network = windows_of_a_map()
    scores, _, context = network.layers
    assert (scores.blocks, scores.channels, scores.macs) == (4, 2 * 4, 16 * 4 * 16)
    assert (context.blocks, context.channels, context.macs) == (4, 16, 16 * 4 * 16)


def test_loops_see_windows_as_heads():
    """Scores of 4 positions and 4 x 2 heads, head by head: 256 B of queries and of keys, each once, 128 of scores.

    On chip a row of 8 channels of a query and 4 results of it, and beside them the 4 x 8 numbers of the keys of a head.
    """
    network = windows_of_a_map()
    one, v = folded(network, 0)
    assert repr(one.layers[v]) == "Layer(scores: matmul of rows, second, 4x1x32)" and one.layers[v].groups == 8
    found = count_layer(network, 0, LayerPlan("KT", "ring", (1, 1), chunk=4))
    assert (found.ema_input_bytes, found.ema_output_bytes) == (256 + 256, 128)
    assert found.activation_bytes + found.weight_bytes == 8 + 8 + 4 * 8


@pytest.mark.parametrize("seed", first_of(range(200), 60))
def test_products_in_blocks_run_as_the_closed_forms_say(seed):
    network, batch, plans = some_plans(seed, 4, random_product_in_blocks)
    for plan in plans:
        found = run_as_claimed(network, plan, batch, ("ema_input_bytes", "ema_output_bytes", "global_buffer_bytes"))
        assert found.operations == batch * network.layers[0].macs
        assert plan.order in LOOSE or found.activation_bytes == plan.activation_bytes


@each_seed(60, 200)
def test_every_number_of_a_product_in_blocks_is_what_is_counted(seed):
    rng = random.Random(seed)
    layer_with_tensors_on_chip(random_product_in_blocks(rng), rng, 0.4, (1.8, 4.5))


@each_seed(60, 400)
def test_plans_of_windows_are_verified(seed):
    rng = random.Random(seed)
    network = random_windows(rng)
    bits = rng.choice(({}, {}, {"activations": 4}, {"activations": 16}))
    plan = random_kept_plan(network, seed) if seed % 2 else random_plan(network, seed)
    network = network.retyped(bits)
    cores = rng.choice((1, 1, 2))
    chip = Accelerator(shared_buffer=rng.choice((256, 512, 2048, 16384)), batch=rng.choice((1, 1, 3)), cores=cores)
    try:
        found = judged_plan(network, plan, chip)
    except NetworkError as error:
        assert "whole bytes" in str(error)
        return
    assert found is None or verify(network, plan, chip).verified


@each_seed(10, 60)
def test_both_engines_price_windows_alike(seed):
    network = random_windows(random.Random(seed))
    chip = Accelerator(shared_buffer=(400, 1500, 10**5)[seed % 3])
    assert_same_prices(on_hardware(network, chip, metric="ema", keep="auto" if seed % 2 else "none"))


def test_windows_of_one_subgraph_are_executed():
    network = windows_of_a_map()
    chip = Accelerator(shared_buffer=1300)
    plan = Partition.from_groups(network, [["scores", "softmax", "context"]])
    assert evaluate(network, plan, chip).fits and verify(network, plan, chip).verified


def test_windows_shrink_with_their_map():
    b = Builder("deep")
    x = b.conv("stem", b.input("image", 56, 56, 3), 16, 1)
    scores = b.matmul("scores", x, x, 2, transpose=True, operand_heads=2 * 64)
    b.matmul("context", scores, x, 2, operand_heads=2 * 64)
    found = shrink(b.build(), 2)
    assert found.layers[1].blocks == found.layers[2].blocks == 56 and found.layers[1].channels == 2 * 14


@pytest.mark.parametrize("own, second", [(6, (4, 4, 16)), (8, (5, 1, 16)), (2 * 3, (4, 4, 16))])
def test_blocks_divide_the_positions_of_both(own, second):
    b = Builder("bad")
    with pytest.raises(NetworkError, match="cannot multiply|operand heads"):
        b.matmul("n", b.input("q", 4, 4, 16), b.input("k", *second), 2, transpose=True, operand_heads=own)


def test_windows_have_no_program_yet():
    network = windows_of_a_map()
    priced = price_partition(network, Partition.layerwise(network), Accelerator(shared_buffer=1300))
    with pytest.raises(Refusal, match="'scores': a product in blocks of positions has no program yet"):
        check_supported(priced)


@each_seed(3, 20)
def test_no_plan_of_windows_is_below_its_bound(seed):
    network = random_windows(random.Random(seed))
    for method in ("exact", "ga"):
        found = cocco.partition(network, Accelerator(shared_buffer=800), method=method, metric="ema", samples=200)
        assert found.lower_bound is None or found.lower_bound <= found.evaluation.ema_bytes
