"""Single layers in loop orders on several cores: counted, run with values in lock-step, and lies noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, Technology, evaluate
from simulator.execution.claims import plan_of
from simulator.execution.count.miss import Miss
from simulator.execution.judge import count_plan
from simulator.execution.layer import LayerPlan, count_dealt, dealt, run_dealt
from simulator.execution.verify import verify
from simulator.model.fixed_scheme import model_in
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.parts import few_seeds
from tests.helpers.random_loops import check_seeds, random_loops
from workloads import Builder


def one_layer(outputs=16):
    b = Builder("one")
    b.conv("a", b.input("x", 4, 4, 16), outputs, 1)
    return b.build()


def test_two_cores_hear_the_same_input_and_have_weights_of_their_own():
    """Chunks of 8 of 16 outputs, 4 rows of 4 x 16 B: each core loads 16 x 8 B of weights, and hears all 256 B.

    Of these 128 came by its own port. It holds the row (64 B) beside 4 results of 8 B.
    """
    count = count_dealt(one_layer(), 0, LayerPlan("KT", "ring", (1, 4), chunk=8, slice=16), "channels", 2, 1, 8)
    assert (count.ema_weight_bytes, count.ema_input_bytes, count.ema_output_bytes) == (256, 256, 256)
    assert (count.activation_bytes, count.weight_bytes, count.crossbar_bytes) == (96, 128, 256)


def test_the_core_with_one_chunk_hears_half_of_what_the_other_hears():
    """24 outputs in chunks of 8: two cores, 16 and 8. The first reads its input twice (512 B), the other once."""
    plan = LayerPlan("KT", "ring", (1, 4), chunk=8, slice=16)
    count = count_dealt(one_layer(24), 0, plan, "channels", 2, 1, 8)
    assert (count.ema_input_bytes, count.crossbar_bytes) == (512, (512 + 256) // 2)
    run_dealt(one_layer(24), 0, plan, "channels", 2, (96, 128))


def test_samples_dealt_share_the_weights():
    """Three samples on two cores: weights (256 B) come once, both cores hear them: 512 B, half by their own port."""
    count = count_dealt(one_layer(), 0, LayerPlan("KT", "ring", (1, 4), chunk=16, slice=16), "held", 2, 3, 8)
    assert (count.ema_weight_bytes, count.weight_written_bytes, count.crossbar_bytes) == (256, 512, 256)
    assert count.ema_input_bytes == 3 * 256


@pytest.mark.parametrize("rooms", [(95, 128), (96, 127)])
def test_one_byte_less_fails(rooms):
    with pytest.raises(Miss, match="grows to"):
        run_dealt(one_layer(), 0, LayerPlan("KT", "ring", (1, 4), chunk=8, slice=16), "channels", 2, rooms)


def test_a_core_that_takes_other_tiles_finds_nothing_on_its_way(monkeypatch):
    plan = LayerPlan("TK", "ring", (1, 4), chunk=16, slice=16)

    def other_tiles(plan, layer):
        return plan._replace(tile=(2, 4)) if layer.channels < 16 else plan

    monkeypatch.setattr(dealt, "plan_of_core", other_tiles)
    with pytest.raises(Miss, match="core 1: wants inputs"):
        run_dealt(one_layer(24), 0, plan, "channels", 2, (1000, 1000))


def test_what_needs_all_channels_together_is_not_dealt():
    b = Builder("norm")
    b.softmax("a", b.input("x", 4, 4, 32))
    network = b.build()
    with pytest.raises(Miss, match="needs all channels together"):
        count_dealt(network, 0, LayerPlan("CT", "ring", (4, 4), apart=32), "channels", 2, 1, 8)
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=1000, cores=2), "exact")
    assert [way.scheme for way in rules.loop_ways((0,))] == ["alone"]


def two_widths(inputs, stride=1):
    """Two maps of 8x5x24, x of 8 bits and y of 16, one after the other: on two cores each reads one of them."""
    b = Builder("widths")
    for name in "xy":
        b.input(name, 8, 5, 24)
    b.slice("a", list(inputs), stride=stride)
    network = b.build()
    return replace(network, inputs=tuple(replace(each, bits=16 if each.name == "y" else 8) for each in network.inputs))


@pytest.mark.parametrize("inputs", ["xy", "yx"])
def test_each_core_reads_numbers_of_its_own_width(inputs):
    """960 B of x and 1,920 B of y. A row of 8 channels of y takes 5 x 16 B, and of results 5 x 8 B."""
    count = count_dealt(two_widths(inputs), 0, LayerPlan("CT", "ring", (1, 5), apart=8), "channels", 2, 1, 8)
    assert (count.ema_input_bytes, count.ema_output_bytes, count.activation_bytes) == (2_880, 1_920, 120)


@pytest.mark.parametrize("inputs", ["xy", "yx"])
@pytest.mark.parametrize(("cores", "batch", "stride"), [(2, 1, 1), (2, 3, 1), (4, 2, 1), (2, 1, 2), (3, 1, (1, 3))])
def test_a_core_has_room_for_the_widest_numbers(inputs, cores, batch, stride):
    """Also where windows leave some of the input out, which passes by."""
    network = two_widths(inputs, stride)
    for size in (40, 64, 256, 1024):
        chip = Accelerator(shared_buffer=size, cores=cores, batch=batch)
        plan = Partition.from_groups(network, [["a"]], schemes=["channels"])
        found = evaluate(network, plan, chip)
        assert found.fits and found.subgraphs[0].ema_input_bytes == batch * 2_880
        assert verify(network, plan, chip).verified, size


@few_seeds(8, 15)
def test_random_loop_orders_run_as_priced(seeds):
    found = check_seeds(seeds)
    least = min(found[each] for each in ("channels", "held", "alone", "ran", "KT", "TK", "WK", "CT", "BC"))
    assert least >= len(seeds) // 5, found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_loop_orders_run_as_priced(part):
    found = check_seeds(range(1000 + 50 * part, 1050 + 50 * part))
    assert found["ran"] > 200, found


def test_a_lie_about_what_crosses_is_noticed():
    for _, chip, model, price in list(random_loops(4))[:20]:
        found = count_plan(model.rules.geometry.network, chip, plan_of(model.subgraph.layers, price))
        assert found.count.crossbar_bytes == price.crossbar_bytes != price.crossbar_bytes + 1


def test_vgg16s_largest_layer_runs_on_all_cores():
    """fc6: 98 MB of weights, each core those of its outputs; the input of 25,088 B is heard by both."""
    network = workloads.load("vgg16")
    chip, v = Accelerator(shared_buffer=512 * KiB, cores=2), network.index["fc6"]
    rules = PricingRules(Geometry(network), chip, "exact")
    dealt_price = SubgraphModel(rules, [v]).price(512 * KiB, 0)
    alone = model_in(rules, [v], "alone").price(512 * KiB, 0)
    assert isinstance(dealt_price, Price) and isinstance(alone, Price)
    assert (dealt_price.scheme, dealt_price.crossbar_bytes) == ("channels", 25_088)
    assert dealt_price.ema_bytes == alone.ema_bytes == 102_760_448 + 25_088 + 4_096
    assert alone.compute_cycles == 2 * dealt_price.compute_cycles
    assert alone.crossbar_bytes == alone.ema_bytes // 2


@pytest.mark.parametrize("scheme", ["channels", "alone"])
def test_a_plan_says_how_a_layer_that_does_not_fit_is_shared(scheme):
    b = Builder("large")
    b.conv("a", b.input("x", 8, 8, 64), 64, 3, padding=1)
    network = b.build()
    plan = Partition.from_groups(network, [["a"]], schemes=[scheme])
    chip = Accelerator(shared_buffer=8 * KiB, cores=3, technology=Technology())
    assert verify(network, plan, chip).verified
