"""Layers scaled down: worked by hand, the layers of every built-in network, random layers, lies and mutants."""

from __future__ import annotations

import random

import pytest

import workloads
from simulator.execution.count.miss import Miss
from simulator.execution.layer import LayerPlan, count_layer, run_layer
from simulator.execution.layer import scaled as module
from simulator.execution.layer.common.folded import folded
from simulator.execution.layer.common.held import Map
from simulator.execution.layer.common.windows import Line
from simulator.execution.layer.common.work import estimate_work
from simulator.execution.layer.scaled import SCALES, WORK, lies_of_small, run_counted, run_scaled, scale_layer
from simulator.execution.layer.small_layer import Scale, shrink_layer
from simulator.execution.layer.smaller import Axis, Small, shrink_axis, shrink_cut, shrink_parts
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.loops import loop_layer
from simulator.technology import KiB
from tests.helpers.layer_plans import loops_of, odd_plan, random_lies, some_plans
from tests.helpers.layer_steps import capped, steps_of
from tests.helpers.random_layers import random_layer

ROOMS = (Room(128 * KiB, 144 * KiB), Room(512 * KiB, None), Room(16 * KiB, None))
CLIPS = ("s3d", "r2plus1d")
WORDS = Small(8, 8)


def test_a_loop_keeps_its_steps_and_a_shorter_last_one():
    assert shrink_cut([64], 64, WORDS, 3) == ([8], 8, 8)
    assert shrink_cut([128], 64, WORDS, 3) == ([16], 8, 8)
    assert shrink_cut([640], 64, WORDS, 3) == ([24], 8, 8)
    assert shrink_cut([70], 64, WORDS, 3) == ([14], 8, 8)
    assert shrink_cut([20], 64, WORDS, 3) == ([12], 13, 12)  # one step of more than there is
    assert shrink_cut([5], 2, Small(3), 3) == ([5], 2, 2)


def test_inner_steps_are_kept_too():
    """Chunks of 3 inner ones; the last has one, or one and a half."""
    assert shrink_cut([80], 24, WORDS, 3, inner=8) == ([56], 24, 8)
    assert shrink_cut([84], 24, WORDS, 3, inner=8) == ([60], 24, 8)


def test_a_map_keeps_padding_and_what_its_windows_leave_over():
    """56 rows, windows of 3 every 2: 27 of them span 55, one row is left over. Tiles of 3, 3 and 2: 8 span 17."""
    assert shrink_axis(Axis(Line(56, 27, 3, 2), 4, 0), 2, None, 3) == Axis(Line(18, 8, 3, 2), 3, 0)


def test_a_window_that_reaches_past_its_map_still_does():
    """Taps 36 apart on 28 rows meet one row each; one of 3 tiles of 2 rows does so 3 apart."""
    found = shrink_axis(Axis(Line(28, 28, 3, 1, 36, 36), 4, 36), 2, None, 3)
    assert found == Axis(Line(6, 6, 3, 1, 3, 3), 2, 3)


def test_a_class_token_is_cropped_from_less():
    assert shrink_axis(Axis(Line(197, 1), 1, -196), None, None, 3) == Axis(Line(3, 1), 1, -2)


def test_groups_are_cut_where_the_operands_cut_them():
    """Groups of 20 of 4: operands of 30 and 50 end in the second; two pieces of 10, one group before it and after."""
    parts = shrink_parts([30, 50], 4, WORDS, 3)
    assert parts == ([30, 30], 20, 3)


def check_plan_of(network, v, plan, batch):
    """Run a layer scaled down if it must be, and compare its loops and its structure with the original."""
    is_scaled = run_scaled(network, v, plan, batch)
    network, v = folded(network, v)
    assert is_scaled == (estimate_work(network, v, plan, batch, 8) > WORK)
    if not is_scaled:
        return
    found = scale_layer(network, v, plan, batch)
    assert (found.plan.order, found.plan.mode) == (plan.order, plan.mode)
    most = next(scale.most for scale in SCALES if shrink_layer(network, v, plan, batch, 8, scale) == found)
    assert most == 3 or plan.order == "BC"  # it has six loops: even three steps of each may be too much work
    assert steps_of(found.network, 0, found.plan, found.batch) == capped(steps_of(network, v, plan, batch), found, most)
    assert estimate_work(found.network, 0, found.plan, found.batch, 8) <= WORK
    check_structure(network, v, found.network, most)
    kept = plan.kept > 0, plan.order == "KP" and plan.kept < network.layers[v].height
    assert (found.plan.kept > 0, plan.order == "KP" and kept[1]) == kept


def check_structure(network, v, found, most):
    """Compare operator, operands, windows and broadcast shapes."""
    layer, small = network.layers[v], found.layers[0]
    assert [small.inputs.index(name) for name in small.inputs] == [layer.inputs.index(name) for name in layer.inputs]
    for field in ("op", "kernel", "stride", "upsample", "whole", "is_depthwise"):
        assert getattr(small, field) == getattr(layer, field)
    assert [a > 1 for a in small.dilation] == [a > 1 for a in layer.dilation]
    assert small.groups == (small.channels if layer.is_depthwise and layer.has_weights else min(layer.groups, most))
    if layer.op not in ("rearrange", "matmul"):
        assert [side > 0 for side in small.padding] == [side > 0 for side in layer.padding]
    if layer.op in ("add", "mul"):
        for u, w in zip(network.operands[v], found.operands[0]):
            before, after = network.tensors[u], found.tensors[w]
            for axis in ("height", "width", "channels"):
                assert (getattr(before, axis) > 1) == (getattr(after, axis) > 1)


def check_network(name, rooms, batches):
    """Check a cheapest plan of every different layer; return how many."""
    network, checked = workloads.load(name), 0
    for batch in batches:
        for layer, v in {loop_layer(network, v, batch): v for v in range(len(network.layers))}.items():
            for room in rooms:
                plan = cheapest_plan(layer, room, Goal("ema", 100.0, 1.0, 1.0))
                if plan is not None:
                    check_plan_of(network, v, loops_of(plan), batch)
                    checked += 1
    return checked


@pytest.mark.parametrize(
    "name, room, batch",
    [("resnet50", 0, 1), ("vgg16", 0, 3), ("gpt", 2, 3), ("resnext50", 2, 1), ("deeplabv3", 1, 1), ("vit_b16", 1, 3)],
)
def test_real_layers_run_scaled_down(name, room, batch):
    assert check_network(name, [ROOMS[room]], [batch]) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in workloads.names() if name not in CLIPS])
def test_layers_of_every_network_run_scaled_down(name):
    assert check_network(name, ROOMS, (1, 3)) > 30


BIG = {
    "fc6": ("vgg16", LayerPlan("TKC", "ring", (1, 1), chunk=64, slice=16, inner=64)),
    "conv3_2": ("vgg16", LayerPlan("KT", "side", (16, 16), chunk=64, at_once=2)),
    "conv4_2": ("vgg16", LayerPlan("KP", "ring", (2, 28), chunk=64, kept=9)),
    "conv4_3": ("vgg16", LayerPlan("TP", "ring", (3, 28), chunk=64, kept=192)),
    "conv5_1": ("vgg16", LayerPlan("BC", "block", (7, 7), chunk=128, slice=64, inner=32)),
    "s3b2_b": ("resnext50", LayerPlan("TK", "ring", (3, 14), chunk=32, at_once=2)),
    "enc1_scores": ("transformer", LayerPlan("KT", "ring", (50, 1), chunk=64)),
    "s1b1_add": ("resnet50", LayerPlan("TC", "block", (5, 5), apart=16)),
}


def big(name):
    """Return a large layer, its loops, and it scaled down, of 3 samples."""
    network = workloads.load(BIG[name][0])
    v, plan = network.index[name], BIG[name][1]
    assert run_scaled(network, v, plan, 3)
    return network, v, plan, scale_layer(network, v, plan, 3)


@pytest.mark.parametrize("name", BIG)
def test_one_byte_less_has_no_room(name):
    *_, found = big(name)
    counted = count_layer(found.network, 0, found.plan, found.batch)[:2]
    run_layer(found.network, 0, found.plan, counted, found.batch)
    for less in ((counted[0] - 1, counted[1]), (counted[0], counted[1] - 1)):
        if min(less) >= 0:
            with pytest.raises(Miss, match="buffer has"):
                run_layer(found.network, 0, found.plan, less, found.batch)


@pytest.mark.parametrize(
    "name, lie",
    [
        ("fc6", {"slice": 24}), ("fc6", {"chunk": 16}), ("fc6", {"order": "TK"}),
        ("conv3_2", {"mode": "slide"}), ("conv3_2", {"mode": "block"}), ("conv3_2", {"at_once": 1}),
        ("conv3_2", {"order": "TK"}), ("conv3_2", {"tile": (4, 3)}), ("conv3_2", {"tile": (3, 2)}),
        ("conv4_2", {"kept": 2}), ("conv4_2", {"kept": 8}), ("conv4_2", {"order": "KT"}),
        ("conv4_3", {"kept": 8}), ("conv4_3", {"mode": "rows"}), ("conv4_3", {"tile": (1, 8)}),
        ("conv5_1", {"inner": 16}), ("conv5_1", {"mode": "block-row", "inner": 64}), ("conv5_1", {"slice": 16}),
        ("s3b2_b", {"at_once": 1}), ("enc1_scores", {"chunk": 16}), ("enc1_scores", {"order": "TK"}),
        ("s1b1_add", {"apart": 16}), ("s1b1_add", {"tile": (2, 1)}),
    ],
)  # fmt: skip
def test_loops_that_are_not_those_counted_fail(monkeypatch, name, lie):
    """The run takes other loops than the count: a choice that lies about the layer scaled down is found."""
    network, v, plan, found = big(name)
    assert found.plan._replace(**lie) != found.plan
    monkeypatch.setattr(module, "count_layer", lambda n, v, p, *rest: count_layer(n, v, p._replace(**lie), *rest))
    with pytest.raises(Miss):
        run_scaled(network, v, plan, 3)


@pytest.mark.parametrize("name", ["conv3_2", "conv4_2", "conv4_3", "s3b2_b"])
def test_an_executor_that_keeps_a_row_too_few_fails(monkeypatch, name):
    network, v, plan, _ = big(name)
    keep = Map.keep

    def keep_less(self, mask):
        mask = mask.copy()
        if mask.any():
            mask[mask.any(axis=1).nonzero()[0][-1]] = False
        keep(self, mask)

    monkeypatch.setattr(Map, "keep", keep_less)
    with pytest.raises(Miss):
        run_scaled(network, v, plan, 3)


def test_loops_that_a_layer_does_not_have_are_refused():
    network = workloads.load("vgg16")
    fc6 = network.index["fc6"]
    with pytest.raises(Miss, match="of 4096"):
        run_scaled(network, fc6, LayerPlan("TP", "ring", (1, 1), chunk=8, kept=4097))
    with pytest.raises(Miss, match="as wide as the map"):
        run_scaled(network, 1, LayerPlan("KT", "ring", (4, 56), chunk=8))
    with pytest.raises(Miss, match="over time"):
        run_scaled(workloads.load("s3d"), 0, LayerPlan("TK", "ring", (1, 112), chunk=64))


def test_all_of_a_layer_runs_where_that_can_be():
    network = workloads.load("resnet50")
    v, plan = network.index["s4b1_b"], LayerPlan("KT", "ring", (7, 7), chunk=64)
    assert run_scaled(network, v, plan)
    assert not run_scaled(network, v, plan, full=True)
    assert run_scaled(workloads.load("vgg16"), 1, LayerPlan("KT", "ring", (4, 224), chunk=8), full=True)


def test_other_orders_of_element_wise_layers_are_scaled_down():
    """Groups of channels of a softmax, whatever runs them: 3 of 8 and a shorter one of 4096 in 100."""
    network, v = workloads.load("transformer"), workloads.load("transformer").index["enc1_softmax"]
    found = shrink_layer(network, v, LayerPlan("MX", "block", (50, 1), apart=104, chunk=52), 2, 8, Scale(3))
    steps, before = steps_of(found.network, 0, found.plan, 2), {"rows": (3, True), "columns": (1, False)}
    assert steps == {**before, "rounds": (2, False), "apart": (3, True)}
    assert found.plan.order == "MX" and found.plan.chunk < found.plan.apart


@pytest.mark.parametrize("word", [1, 2, 4, 16])
def test_other_words_run_scaled_down(word):
    for name, plan in BIG.values():
        network = workloads.load(name)
        v = network.index[next(layer for layer, other in BIG.items() if other == (name, plan))]
        assert run_scaled(network, v, plan, 2, word)


def check_random(seed):
    """Scale a random layer with sensible and with odd loops as far as it goes; return how many of them ran."""
    rng = random.Random(seed)
    network, batch, plans = some_plans(seed, 3)
    cases = [(network, batch, loops_of(plan)) for plan in plans]
    network, batch = random_layer(rng), rng.choice((1, 2, 3, 5))
    cases += [(network, batch, odd_plan(rng, network.layers[0])) for _ in range(4)]
    ran = 0
    for network, batch, plan in cases:
        try:
            count_layer(network, 0, plan, batch)
        except Miss:
            with pytest.raises(Miss):
                run_scaled(network, 0, plan, batch)
            continue
        for scale in (SCALES[0], rng.choice(SCALES)):
            found = shrink_layer(network, 0, plan, batch, 8, scale)
            run_counted(found.network, 0, found.plan, found.batch, 8)
            lies = lies_of_small(network, (0,), found.network, random_lies(rng, network))
            run_counted(found.network, 0, found.plan, found.batch, 8, lies)
            steps, before = steps_of(found.network, 0, found.plan, found.batch), steps_of(network, 0, plan, batch)
            assert steps.keys() == before.keys()
            assert all(steps[loop][0] <= before[loop][0] for loop in steps), (network.layers[0], plan, before, steps)
            if scale is SCALES[0]:
                wanted = capped(before, found)
                if len(network.layers[0].inputs) > 1 and "groups" in wanted:  # as many as operands cut
                    wanted["groups"] = steps["groups"]
                if plan.order in ("TKC", "BC") and steps["slices"] != wanted["slices"]:
                    # slices of less than a word, or words that are not full, do not always come out
                    assert 2 <= steps["slices"][0] <= before["slices"][0]
                    wanted["slices"] = steps["slices"]
                assert steps == wanted, (network.layers[0], plan, found)
            ran += 1
    return ran


def test_random_layers_run_scaled_down():
    assert sum(check_random(seed) for seed in range(20)) > 100


@pytest.mark.slow
def test_many_random_layers_run_scaled_down():
    assert sum(check_random(seed) for seed in range(1000, 2500)) > 8000
