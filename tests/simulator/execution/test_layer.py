"""One layer judged by its loops: worked by hand, real layers, lies, and what each check of a run catches."""

from __future__ import annotations

import random
from functools import partial
from importlib import import_module

import numpy as np
import pytest

import workloads
from simulator.execution.count.checks import compare
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer import LayerPlan, count_layer, run_layer
from simulator.execution.layer.common.chip import Chip, Memory
from simulator.execution.layer.common.held import LOST, Map, Stationary, deliver
from simulator.execution.layer.common.problem import Problem
from simulator.execution.layer.common.statistics import Statistics
from simulator.execution.layer.common.sweeps import Sweep, pour, sweep, sweep_with_rows
from simulator.execution.layer.common.windows import Line
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.loops import Axis, in_flight, loop_layer
from simulator.technology import KiB
from tests.helpers.layer_plans import claim_of, loops_of, odd_plan, random_lies, runs_as_counted, some_plans
from tests.helpers.random_layers import random_layer
from workloads import Builder

PLENTY = (1e9, 1e9)
ROOMS = (Room(128 * KiB, 144 * KiB), Room(24 * KiB, None), Room(4 * KiB, 2 * KiB), Room(768 * KiB, 144 * KiB))


def one(op, *given, shape=(4, 4, 16), **options):
    """Return a network of one layer on one input."""
    b = Builder("one")
    getattr(b, op)("n", b.input("x", *shape), *given, **options)
    return b.build()


def same():
    """A 3x3 convolution of a 4x4 map, 16 to 24 channels: 3,456 B of weights, 256 of input, 384 of output."""
    return one("conv", 24, 3, padding=1)


def by_hand(plan, batch=1, network=None):
    """Return the count of a plan, run with values, too."""
    network = network or same()
    count = count_layer(network, 0, plan, batch)
    assert run_layer(network, 0, plan, count[:2], batch) == count
    return count[:7]


def test_chunks_outermost_read_the_input_for_each_chunk():
    """KT, rows one by one: 3 chunks of 8 read 256 B each. A ring of 3 rows (192 B) beside a row of 8 outputs (32 B);
    windows meet 2 + 3 + 3 + 2 = 10 rows (640 B) a pass; 4 rows use all weights, which came once."""
    found = by_hand(LayerPlan("KT", "ring", (1, 4), chunk=8))
    windows, ema_in, ema_out = 3 * 640, 3 * 256, 384
    assert found == (224, 1152, 3456, ema_in, ema_out, ema_in + 2 * ema_out + windows, 5 * 3456)


def test_tiles_outermost_read_the_weights_for_each_tile():
    """TK: the input once, 4 tiles x 3,456 B of weights for each round of samples; with one chunk they stay."""
    assert by_hand(LayerPlan("TK", "ring", (1, 4), chunk=8), batch=2)[2:5] == (8 * 3456, 512, 768)
    assert by_hand(LayerPlan("TK", "ring", (1, 4), chunk=24), batch=2)[1:5] == (3456, 3456, 512, 768)
    assert by_hand(LayerPlan("TK", "ring", (1, 4), chunk=8, at_once=2), batch=2)[2] == 4 * 3456


def test_tiles_beside_side_read_the_input_once():
    """2x2 tiles of a 4x4 map: each meets 3 rows and 3 columns, 2 rows of 4 go to SIDE and come back."""
    axis = Line(4, 4, taps=3, padding=1)
    assert sweep((axis, axis), (2, 2), "side") == Sweep(4, loads=16, copies=16, windows=36, main=9, side=8)
    assert sweep((axis, axis), (2, 2), "slide") == Sweep(4, loads=24, copies=0, windows=36, main=9)
    assert sweep((axis, axis), (2, 2), "block") == Sweep(4, loads=36, copies=0, windows=36, main=9)


def test_rows_that_stay_are_not_read_again():
    """KP: of 4 rows two stay. The first pass reads 16 positions, others 8; the ring holds two rows beside them."""
    axis = Line(4, 4, taps=3, padding=1)
    assert sweep_with_rows((axis, axis), (1, 4), 2, True) == Sweep(4, 16, 0, 40, main=8, stays=8)
    assert sweep_with_rows((axis, axis), (1, 4), 2, False).loads == 8


def test_sums_of_a_block_stay_in_four_bytes():
    """BC, one block: 16 positions x 8 sums of 4 B beside 16 x 8 B of input; written once, read once, for 3 chunks."""
    found = by_hand(LayerPlan("BC", "block", (4, 4), chunk=8, slice=8, inner=8))
    assert found[:4] == (4 * 128 + 128, 8 * 8 * 9, 3456, 3 * 256)
    assert found[5] == 3 * 256 + 2 * 384 + 3 * 256 + 2 * 4 * 384


def test_channels_pass_twice_beside_two_statistics():
    """TCC of 2x2x20, rows one by one, 8 channels stay: 2 positions x (8 that stay, 8 that pass, 8 results, 8 B of
    statistics); 12 of 20 channels come twice. Three words write statistics, two of them read them before, three after.
    """
    plan = LayerPlan("TCC", "ring", (1, 2), apart=8, kept=8)
    for op in ("softmax", "layernorm"):
        found = by_hand(plan, network=one(op, shape=(2, 2, 20)))
        ema_in, ema_out, statistics = 4 * (8 + 2 * 12), 4 * 20, 4 * 8 * (3 + 2 + 3)
        assert found == (64, 0, 0, ema_in, ema_out, ema_in + 2 * ema_out + 4 * 2 * 20 + statistics, 0)


def test_statistics_of_too_few_channels_are_noticed(monkeypatch):
    """Where a word does not count, and where a softmax is not scaled anew when its maximum grows."""
    joined = import_module("simulator.execution.layer.value.joined")
    plan, network = LayerPlan("TCC", "ring", (1, 4), apart=8), one("softmax", shape=(4, 4, 40))
    lies = [lambda op, one, other: other, lambda op, one, other: Statistics(
        np.maximum(one.first, other.first), (one.second + other.second) % 65521
    )]  # fmt: skip
    for lie in lies:
        monkeypatch.setattr(joined, "together", lie)
        with pytest.raises(Miss, match="differs"):
            run_layer(network, 0, plan, PLENTY)


def test_running_sums_take_what_is_in_flight():
    """Windows of 3 rows, 2 apart, on 8 rows: row 2 and 4 and 6 are met twice, so 2 sums are open; the last meets 2.

    A window on the padding alone has an empty sum, which is held when it is written out.
    """
    assert pour(Line(8, 4, taps=3, stride=2)) == (11, 7, 2)
    assert pour(Line(1, 1, padding=1)) == (0, 0, 1)
    assert in_flight(Axis(extent=1, windows=1, padding=1)) == (1, 0)


def test_a_dilated_window_does_not_read_its_holes():
    """Rows 0, 2, 4 of 5 are met by one output; the other 16 of 25 positions pass by once."""
    found = by_hand(LayerPlan("TK", "ring", (1, 1), chunk=8), network=one("conv", 8, 3, dilation=2, shape=(5, 5, 8)))
    assert found[0] == 9 * 8 + 8 and found[3] == 25 * 8


def check_real(name, rooms, batches, metrics):
    """Count the cheapest plan of every different layer in several rooms."""
    network, shapes = workloads.load(name), {}
    for batch in batches:
        shapes = {loop_layer(network, v, batch): v for v in range(len(network.layers))}
        for room in rooms:
            for metric in metrics:
                for layer, v in shapes.items():
                    plan = cheapest_plan(layer, room, Goal(metric, 100.0, 1.0, 1.0))
                    if plan is None:
                        continue
                    found = count_layer(network, v, loops_of(plan), batch)
                    assert found[2:7] == claim_of(plan)[2:7], (network.layers[v], plan)
                    assert found.global_written_bytes == plan.totals.global_written_bytes, (network.layers[v], plan)
                    held = found[:2] == claim_of(plan)[:2]
                    assert held or plan.order in ("KP", "TP", "BC", "CT"), (network.layers[v], plan)


@pytest.mark.parametrize("name", ["resnet50", "gpt", "resnext50", "googlenet"])
def test_real_layers_move_what_their_cheapest_plan_says(name):
    check_real(name, ROOMS[:3], (1,), ("ema",))
    check_real(name, ROOMS[3:], (8,), ("energy",))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in workloads.names() if name not in ("s3d", "r2plus1d")])
def test_layers_of_every_network_move_what_their_cheapest_plan_says(name):
    check_real(name, ROOMS, (1, 3, 8), ("ema", "energy"))


def check_odd(seed, keeps=False):
    """Run loops that nobody would choose both ways; return how many of them run."""
    rng = random.Random(seed)
    network, batch, ran = random_layer(rng), rng.choice((1, 2, 3)), 0
    for _ in range(12):
        plan = odd_plan(rng, network.layers[0])
        lies = random_lies(rng, network) if keeps else NOTHING_STAYS
        ran += runs_as_counted(
            partial(count_layer, network, 0, plan, batch, 8, lies),
            partial(run_layer, network, 0, plan, batch=batch, lies=lies),
            (network.layers[0], plan, lies),
        )
    return ran


def test_any_loops_are_counted_as_they_run():
    assert sum(check_odd(seed) for seed in range(80)) > 150


def test_loops_beside_kept_operands_are_counted_as_they_run():
    assert sum(check_odd(seed, True) for seed in range(80)) > 150


def test_operands_that_are_not_there_are_noticed():
    """Loops that hold their second operand, or their output, in a memory that has room for neither."""
    network = same()
    lies, plan = Lies(frozenset({1}), frozenset({1})), LayerPlan("KT", "ring", (1, 4), chunk=8)
    rooms = count_layer(network, 0, plan, lies=lies)[:2]
    assert run_layer(network, 0, plan, rooms, lies=lies).ema_input_bytes == 0
    with pytest.raises(Miss, match="MAIN grows to"):
        run_layer(network, 0, plan, rooms)


@pytest.mark.slow
def test_many_loops_beside_kept_operands_are_counted_as_they_run():
    assert sum(check_odd(seed, True) for seed in range(1000, 5000)) > 10_000


@pytest.mark.slow
def test_many_loops_are_counted_as_they_run():
    assert sum(check_odd(seed) for seed in range(1000, 5000)) > 10_000


def test_one_byte_less_has_no_room():
    """Wherever a claim is tight, which it is in all orders but KP."""
    orders = set()
    for seed in range(150):
        network, batch, plans = some_plans(seed, 2)
        for plan in plans:
            rooms = plan.activation_bytes, plan.weight_bytes
            if count_layer(network, 0, loops_of(plan), batch)[:2] != rooms:
                continue
            orders.add(plan.order)
            for less in ((rooms[0] - 1, rooms[1]), (rooms[0], rooms[1] - 1)):
                if min(less) >= 0:
                    with pytest.raises(Miss, match="buffer has"):
                        run_layer(network, 0, loops_of(plan), less, batch)
    assert orders >= {"TK", "KT", "WK", "KS", "TKC", "BC", "TP", "CT", "TC", "TCC", "RS", "copy"}


def test_every_number_that_lies_is_different():
    for seed in range(20):
        network, batch, plans = some_plans(seed, 1)
        for plan in plans:
            counted = count_layer(network, 0, loops_of(plan), batch)._asdict()
            counted = {name: number for name, number in counted.items() if number is not None}  # nothing is kept
            assert {check.status for check in compare(counted, counted, {})} == {"equal"}
            for name in counted:
                for error in (-1, 7):
                    lie = {**counted, name: counted[name] + error}
                    checks = {check.name: check.status for check in compare(lie, counted, {})}
                    assert [each for each, status in checks.items() if status == "different"] == [name]


@pytest.mark.parametrize(
    "change",
    [
        {"order": "TK"}, {"order": "WK", "mode": "whole"}, {"mode": "rows"}, {"tile": (1, 4)}, {"tile": (4, 4)},
        {"chunk": 16}, {"chunk": 24}, {"at_once": 1}, {"order": "KP", "kept": 1},
        {"order": "TKC", "slice": 8}, {"order": "BC", "mode": "block", "slice": 8, "inner": 8},
    ],
)  # fmt: skip
def test_every_choice_that_lies_changes_a_number(change):
    plan = LayerPlan("KT", "ring", (2, 4), chunk=8, slice=16, inner=8, at_once=2)
    assert count_layer(same(), 0, plan._replace(**change), 3) != count_layer(same(), 0, plan, 3)


@pytest.mark.parametrize(
    "network, plan, words",
    [
        (same(), LayerPlan("CT", "ring", (1, 4), apart=8), "does not run"),
        (same(), LayerPlan("copy", "word", (4, 4)), "does not run"),
        (same(), LayerPlan("WK", "ring", (1, 4), chunk=8), "does not run"),
        (same(), LayerPlan("TK", "ring", (1, 4), chunk=0), "no steps"),
        (same(), LayerPlan("TK", "ring", (1, 2), chunk=8), "as wide as the map"),
        (same(), LayerPlan("TK", "ring", (1, 4), apart=2, chunk=8), "one after the other"),
        (same(), LayerPlan("BC", "block-row", (2, 4), chunk=16, slice=8, inner=8), "from row to row"),
        (same(), LayerPlan("TP", "ring", (1, 4), chunk=8, kept=25), "of 24"),
        (one("avgpool", 2), LayerPlan("KT", "ring", (1, 3), chunk=8), "does not run"),
        (one("softmax"), LayerPlan("CT", "ring", (4, 4), apart=8), "mixes|differs"),
        (one("lrn"), LayerPlan("TCC", "ring", (4, 4), apart=8), "does not run"),
        (one("avgpool", 2), LayerPlan("TCC", "ring", (1, 3), apart=8), "does not run"),
        (workloads.load("s3d"), LayerPlan("TK", "ring", (1, 112), chunk=64), "over time"),
    ],
)
def test_loops_that_a_layer_does_not_have_are_refused(network, plan, words):
    v = next((v for v, layer in enumerate(network.layers) if layer.frames), 0)
    with pytest.raises(Miss, match=words):
        count_layer(network, v, plan)
    if not network.layers[v].frames:
        with pytest.raises(Miss, match=words):
            run_layer(network, v, plan, PLENTY)


def test_a_region_keeps_its_bytes():
    """A region that shrank leaves no room for another: addresses are given before the layer runs."""
    memory = Memory("activation", 12)
    memory.hold("MAIN", 8)
    memory.hold("SIDE", 4)
    with pytest.raises(Miss, match="SIDE grows to 5"):
        memory.take("SIDE", 5)


def test_a_read_of_what_is_not_there_misses():
    source = Map(Chip(), np.ones((1, 8, 2, 2), dtype=np.int64), np.zeros((2, 2), dtype=bool), 8)
    source.load(np.array([[True, False], [True, False]]))
    with pytest.raises(Miss, match="not in MAIN"):
        source.read(np.ones((2, 2), dtype=bool))
    weights = Stationary(Chip(), np.ones((16, 8, 1, 1), dtype=np.int64), "dense")
    weights.load(range(8), range(8))
    with pytest.raises(Miss, match="8 to 16 are not"):
        weights.read(range(8, 16))


def test_nothing_is_made_twice():
    output = np.full((1, 8, 2, 2), LOST)
    where = range(1), range(8), range(1), range(2)
    deliver(Chip(), output, where, np.zeros((1, 8, 1, 2), dtype=np.int64))
    with pytest.raises(Miss, match="made twice"):
        deliver(Chip(), output, where, np.zeros((1, 8, 1, 2), dtype=np.int64))


def test_a_wrong_output_and_one_that_is_never_made_are_found(monkeypatch):
    plan = LayerPlan("KT", "ring", (1, 4), chunk=8)
    direct = Problem.direct
    monkeypatch.setattr(Problem, "direct", lambda self: direct(self) + (np.arange(24) == 7)[None, :, None, None])
    with pytest.raises(Miss, match="differs"):
        run_layer(same(), 0, plan, PLENTY)
    monkeypatch.undo()
    dense = import_module("simulator.execution.layer.value.dense")
    tiles = dense.sweep
    monkeypatch.setattr(dense, "sweep", lambda *given: list(tiles(*given))[:-1])
    with pytest.raises(Miss):
        run_layer(same(), 0, plan, PLENTY)
