"""evaluate(): the worked chain, feasibility, batch, cores, bandwidth (docs/model.md, sections 3 to 8)."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from simulator import Accelerator, KiB, Partition, Technology, evaluate
from simulator.execution import verify
from simulator.model.cost import added
from simulator.partition.partition import connected_parts
from tests.helpers.graphs import chain, conv, resnet_block
from tests.helpers.random_graphs import random_network
from workloads import Builder
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

SMALL = Accelerator(global_buffer=64 * KiB, weight_buffer=64 * KiB)


def price(network, groups, accelerator=SMALL, **options):
    return evaluate(network, Partition.from_groups(network, groups), accelerator, **options)


def test_the_chain_as_one_subgraph():
    """EMA 3968 + 2048 + 2048; 464 cycles; DRAM 8064 / 16 = 504; energy in the parts of docs/model.md, section 8."""
    result = price(chain(), [["a", "b", "c"]])
    (cost,) = result.subgraphs
    assert result.fits and cost.layers == ("a", "b", "c")
    assert (cost.tile, cost.activation_bytes, cost.weight_bytes) == ((64, 64), 9216, 3968)
    assert (cost.ema_weight_bytes, cost.ema_input_bytes, cost.ema_output_bytes) == (3968, 2048, 2048)
    assert result.ema_bytes == 8064
    assert result.compute_cycles == 464 and result.latency_cycles == 504
    parts = cost.energy_breakdown
    assert parts.dram == 806400
    assert parts.global_buffer == pytest.approx(18432 * 0.55, rel=1e-12)
    assert parts.weight_buffer == pytest.approx(7936 * 0.55, rel=1e-12)
    assert parts.compute == pytest.approx(475136 * 0.31, rel=1e-12)
    assert parts.crossbar == 0
    assert result.energy_pj == pytest.approx(968194.56, rel=1e-12)


@pytest.mark.parametrize(
    ("group", "ema", "cycles"),
    [
        (["a"], (1152, 2048, 4096), 288),
        (["b"], (2304, 4096, 1024), 144),
        (["c"], (512, 1024, 2048), 32),
        (["a", "b"], (3456, 2048, 1024), 432),
        (["b", "c"], (2816, 4096, 2048), 176),
    ],
)
def test_parts_of_the_chain(group, ema, cycles):
    cost = next(each for each in price(chain(), [group]).subgraphs if list(each.layers) == group)
    assert (cost.ema_weight_bytes, cost.ema_input_bytes, cost.ema_output_bytes) == ema
    assert cost.compute_cycles == cycles


def test_bandwidth_by_hand():
    """{a}, {b}, {c}: inputs, outputs and the weights of the next, over the cycles of computing."""
    result = price(chain(), [])
    needs = [(2048 + 4096 + 2304) / 288, (4096 + 1024 + 512) / 144, (1024 + 2048) / 32]
    assert result.bandwidth_mean_bytes_per_cycle == pytest.approx(sum(needs) / 3)
    assert result.bandwidth_peak_bytes_per_cycle == max(needs)


def test_a_tensor_read_by_two_later_subgraphs_is_written_once_and_read_twice():
    """Block: a and shortcut both read pool1; layer by layer its 200704 bytes are read by each."""
    result = price(resnet_block(), [], Accelerator(global_buffer=1024 * KiB, weight_buffer=1152 * KiB))
    pool1 = 56 * 56 * 64
    first, second = result.subgraphs[0], result.subgraphs[1]
    assert first.ema_input_bytes == second.ema_input_bytes == pool1


def test_a_smaller_buffer_takes_a_smaller_tile():
    """t = 4 needs 800+256 + 1296+256 + 256 + 512 = 3376, t = 8 needs 9216: 8 KB leave 4, or a band of 4 rows.

    It holds 10 rows of x, 9 of a, 4 of b and c: 1280 + 2304 + 512 + 1024 = 5120, without SIDE. In 3376 it is 4x4.
    """
    result = price(chain(), [["a", "b", "c"]], Accelerator(global_buffer=8 * KiB, weight_buffer=64 * KiB))
    assert result.subgraphs[0].tile == (4, 8) and result.subgraphs[0].activation_bytes == 5120
    result = price(chain(), [["a", "b", "c"]], Accelerator(global_buffer=3376, weight_buffer=64 * KiB))
    assert result.subgraphs[0].tile == (4, 4) and result.subgraphs[0].activation_bytes == 3376


def test_a_subgraph_that_does_not_fit_says_what_it_needs():
    """t = 1: 128+256 + 144+256 + 16 + 32 = 832 bytes."""
    result = price(chain(), [["a", "b", "c"]], Accelerator(global_buffer=800, weight_buffer=64 * KiB))
    assert not result.fits and result.status == "infeasible" and result.ema_bytes == result.crossbar_bytes == math.inf
    assert result.to_frame()["ema_bytes"].sum() == math.inf and math.isnan(result.utilization)
    (short,) = result.infeasible
    assert short.layers == ("a", "b", "c") and (short.needed_bytes, short.available_bytes) == (832, 800)
    assert "832" in str(short) and "global buffer" in str(short)
    held = Accelerator(global_buffer=8 * KiB, weight_buffer=3455, plans="paper")
    (short,) = price(chain(), [["a", "b"]], held).infeasible
    assert (short.needed_bytes, short.available_bytes) == (3456, 3455) and "weight" in short.reason
    (short,) = price(chain(), [["a", "b", "c"]], Accelerator(shared_buffer=4799)).infeasible
    assert (short.needed_bytes, short.available_bytes) == (832 + 3968, 4799)
    assert price(chain(), [["a", "b", "c"]], Accelerator(shared_buffer=4800)).fits


def test_the_region_manager_limits_tensors_of_a_subgraph():
    """{a, b, c} and x are 4 tensors; a single layer is never refused."""
    limited = dataclasses.replace(SMALL, max_regions=3)
    (short,) = price(chain(), [["a", "b", "c"]], limited).infeasible
    assert "4 tensors" in short.reason and short.needed_bytes is None
    assert price(chain(), [], dataclasses.replace(SMALL, max_regions=1)).fits
    assert price(chain(), [["a", "b", "c"]], dataclasses.replace(SMALL, max_regions=None)).fits


def test_two_samples_read_the_weights_once():
    """batch 2: activation, cycles, in and out double, weights do not."""
    one, two = (price(chain(), [["a", "b", "c"]], dataclasses.replace(SMALL, batch=batch)) for batch in (1, 2))
    first, second = one.subgraphs[0], two.subgraphs[0]
    assert second.activation_bytes == 2 * first.activation_bytes
    assert second.ema_weight_bytes == first.ema_weight_bytes
    assert second.ema_input_bytes == 2 * first.ema_input_bytes
    assert second.ema_output_bytes == 2 * first.ema_output_bytes
    assert second.compute_cycles == 2 * first.compute_cycles


def test_two_cores_share_weights_and_columns():
    """cores 2: half the weights and 8 columns each, DRAM 32 B/cycle.

    In one update each core hears half the weights of the other, a a column of x from either side (16 rows, 8 B), b one
    column of a, 16 rows of 16 B: the windows of stride 2 of core 0 end at the border.
    """
    result = price(chain(), [["a", "b", "c"]], dataclasses.replace(SMALL, cores=2))
    cost = result.subgraphs[0]
    assert (cost.scheme, cost.weight_bytes) == ("rotated", 1984)
    assert cost.energy_breakdown.crossbar == pytest.approx((3968 + 2 * 16 * 8 + 16 * 16) * 3.2)
    assert cost.latency_cycles == max(cost.compute_cycles, 8064 / 32)
    assert cost.compute_cycles < 464


def test_numbers_of_the_technology_can_be_replaced():
    free_dram = Technology(dram_pj_per_byte=0)
    result = price(chain(), [["a", "b", "c"]], dataclasses.replace(SMALL, technology=free_dram))
    assert result.energy_pj == pytest.approx(968194.56 - 806400)


def test_the_frame_has_one_row_per_subgraph_with_units_in_the_names():
    frame = price(chain(), [["a", "b"]]).to_frame()
    assert list(frame["layers"]) == ["a b", "c"]
    assert frame["ema_bytes"].sum() == price(chain(), [["a", "b"]]).ema_bytes
    assert {"tile_rows", "energy_pj", "energy_dram_pj", "latency_cycles"} <= set(frame.columns)


def test_json_has_the_keys_of_the_contract():
    data = price(chain(), [["a", "b"]]).to_json()
    assert set(data) >= {"network", "accelerator", "tile_rule", "totals", "subgraphs"}
    assert set(data["totals"]) == {
        "subgraphs", "ema_bytes", "ema_weight_bytes", "ema_input_bytes", "ema_output_bytes", "energy_pj",
        "compute_cycles", "latency_cycles", "latency_executed_cycles", "bandwidth_mean_bytes_per_cycle",
        "bandwidth_peak_bytes_per_cycle", "compulsory_bytes", "utilization", "utilization_executed",
    }  # fmt: skip
    assert set(data["subgraphs"][0]["energy_breakdown"]) == {
        "dram", "global_buffer", "weight_buffer", "compute", "crossbar",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "either global_buffer and weight_buffer, or shared_buffer"),
        ({"global_buffer": 1, "shared_buffer": 1}, "either"),
        ({"global_buffer": 1}, "weight_buffer"),
        ({"shared_buffer": 0}, "shared_buffer must be an integer from 1"),
        ({"shared_buffer": -5}, "-5"),
        ({"shared_buffer": 1.5}, "1.5"),
        ({"shared_buffer": True}, "True"),
        ({"shared_buffer": math.nan}, "nan"),
        ({"shared_buffer": 2**60}, "from 1 to"),
        ({"shared_buffer": 1, "cores": 0}, "cores"),
        ({"shared_buffer": 1, "batch": 0}, "batch"),
        ({"shared_buffer": 1, "max_regions": 0}, "max_regions"),
    ],
)
def test_a_malformed_accelerator_names_the_field_and_the_value(fields, words):
    with pytest.raises(ValueError) as caught:
        Accelerator(**fields)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_partition_of_another_network_is_refused():
    with pytest.raises(ValueError, match="'block'"):
        evaluate(chain(), Partition.layerwise(resnet_block()), SMALL)
    with pytest.raises(ValueError, match="tile_rule"):
        evaluate(chain(), Partition.layerwise(chain()), SMALL, tile_rule="best")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(200, 40_000), st.booleans())
def test_ema_is_at_least_weights_and_model_inputs_and_outputs(seed, capacity, shared):
    """Infinite where a layer does not run: then it says what its least loop order takes (docs/model.md, section 3)."""
    network = random_network(seed, whole=True)
    chip = (
        Accelerator(shared_buffer=capacity)
        if shared
        else Accelerator(global_buffer=capacity, weight_buffer=max(1, capacity // 2))
    )
    read = {u for producers in network.producers for u in producers}
    inputs = sum(network.tensors[u].size_bytes for u in read if u >= len(network.layers))
    least = network.weight_bytes + inputs + sum(network.layers[v].size_bytes for v in network.outputs)
    layerwise = evaluate(network, Partition.layerwise(network), chip)
    assert layerwise.ema_bytes >= least
    assert all(each.needed_bytes > each.available_bytes for each in layerwise.infeasible)
    parts = Partition.from_ids(network, connected_parts(network, range(len(network.layers))))
    whole = evaluate(network, parts, chip)
    if whole.fits:
        assert least <= whole.ema_bytes
        larger = dataclasses.replace(chip, **{("shared_buffer" if shared else "global_buffer"): 2 * capacity})
        assert evaluate(network, parts, larger).ema_bytes <= whole.ema_bytes


def test_more_capacity_never_costs_a_streamed_layer_more_ema():
    """Conv 3x3 64 -> 64 on 32x32 in growing shared buffers, least EMA; below 680 bytes nothing runs."""
    network = Network("one", (Tensor("x", 32, 32, 64),), (conv("a", "x", (32, 32, 64), 64, 3, 1, 1),))
    costs = [
        evaluate(network, Partition.layerwise(network, "ema"), Accelerator(shared_buffer=capacity)).ema_bytes
        for capacity in range(256, 200_000, 997)
    ]
    assert all(later <= sooner for sooner, later in zip(costs, costs[1:]))
    assert costs[-1] == 9 * 64 * 64 + 2 * 32 * 32 * 64


def test_floats_are_added_from_left_to_right_on_every_python():
    """0.1 + 0.1 + ... rounds to 0.9999999999999999, `sum` gives 1.0 from 3.12 on; the mean of vgg16 ended in 73."""
    assert added([0.1] * 10) == 0.9999999999999999
    network, chip = workloads.load("vgg16"), Accelerator(global_buffer=1024 * KiB, weight_buffer=1024 * KiB)
    found = evaluate(network, Partition.layerwise(network), chip)
    assert found.bandwidth_mean_bytes_per_cycle == 3184.9161628333877


def test_no_array_is_busier_than_busy():
    """The MACs of a transposed convolution count every tap of every input: here one in four is kept."""
    b = Builder("cut")
    b.conv_transpose("up", b.input("image", 2, 2, 32), 32, kernel=4, stride=4, padding=2)
    network = b.build()
    chip = Accelerator(shared_buffer=64 * KiB)
    found = evaluate(network, Partition.layerwise(network), chip)
    assert network.macs > chip.macs_per_cycle * found.compute_cycles and found.utilization == 1.0
    assert verify(network, Partition.layerwise(network), chip).verified
