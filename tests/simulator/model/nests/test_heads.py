"""Attentions with their projections: which they are, the loops tried against all, the least memory, both engines."""

from __future__ import annotations

import random

import pytest

import workloads
from cocco.search.kernel.choice import has_kernel
from simulator.model.kept import Kept
from simulator.model.layer.axes import RING, WHOLE
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan, plans_of
from simulator.model.layer.goal import holds
from simulator.model.layer.least_room import can_run, least_room, one_pass
from simulator.model.layer.orders import Loops, grid_of
from simulator.model.nests.by_heads import heads_plan
from simulator.model.nests.heads import projected_attentions
from simulator.technology import KiB, Technology
from tests.helpers.parts import each_seed
from tests.helpers.random_heads import random_question

EMA = Goal("ema", 100.0, 1.0, 1.0)


def first(name, **step):
    """Return the loops of the first attention with its projections."""
    network = workloads.load(name, **step)
    return next(iter(projected_attentions(network))).loops(network, 1, Technology(), None)


@pytest.mark.parametrize(
    ("name", "count"),
    [("gpt", 12), ("vit_b16", 12), ("whisper_tiny", 4), ("bert_base", 12), ("gpt2", 12), ("llama3_8b", 32),
     ("gemma2_9b", 42), ("transformer", 18), ("vgg16", 0)],
)  # fmt: skip
def test_which_projections_belong_together(name, count):
    """One nest for each attention whose queries, keys and values are made of maps of the same length."""
    network = workloads.load(name)
    found = list(projected_attentions(network))
    assert len(found) == count == len({nest.layers for nest in found})
    for nest in found:
        assert not set(nest.sources) & set(nest.layers) and set(nest.made) < set(nest.layers)


def test_grouped_heads_and_appended_rows_are_seen():
    """Llama 3 8B: 8 heads of keys, each for 4 of queries; keys and values leave. A cache is read: no such nest."""
    layer = first("llama3_8b", layers=1)
    assert (layer.heads.groups, layer.heads.sharing) == (8, 4)
    assert [each.width for each in layer.heads.operands] == [128, 128, 128]
    assert layer.epilogue.left == 2 * 512 * 8 * 128
    assert not list(projected_attentions(workloads.load("llama3_8b", layers=1, phase="decode")))


@pytest.mark.parametrize(
    ("name", "size", "ema", "mode"),
    [("gpt", 486, 4_127_232, "ring"), ("gpt", 487, 2_555_904, "whole"), ("gpt", 1024, 2_555_904, "whole"),
     ("vit_b16", 206, 2_072_064, "whole")],
)  # fmt: skip
def test_least_traffic_of_blocks(name, size, ema, mode):
    """Once each from 487 KB on: 1,769,472 of weights, 393,216 in, as much out; before, the rows that do not stay."""
    plan = cheapest_plan(first(name), Room(size * KiB, None), EMA)
    assert (plan.ema_bytes, plan.mode) == (ema, mode)


def every_loops(layer, tile):
    """Yield all loops of a tile with its mode."""
    length, widest = layer.rows.windows, max(each.width for each in layer.heads.operands)
    for inner in {*range(8, widest, 8), widest}:
        yield WHOLE, Loops(1, length, 1, inner, 1, 0)
    yield WHOLE, Loops(1, tile, 1, widest, 1, 0)
    for apart in range(1, layer.heads.groups + 1):
        for kept in range(max(layer.heads.rows)):
            yield RING, Loops(apart, length, 1, widest, 1, kept)


@each_seed(60, 120)
def test_no_loops_move_less_than_those_tried(seed):
    """Every tile, number of heads at once, piece and rows that stay."""
    rng = random.Random(seed)
    layer, room = random_question(rng).layer, Room(int(10 ** rng.uniform(2.3, 4.3)), rng.choice((None, 300, 3000)))
    plan, least = cheapest_plan(layer, room, EMA, "all"), None
    for tile in range(1, layer.rows.windows + 1):
        grid = grid_of(layer, (tile, 1))
        for mode, loops in every_loops(layer, tile):
            found = heads_plan(layer, grid, mode, loops)
            if holds(room, found.activation_bytes, found.weight_bytes):
                least = found.ema_bytes if least is None else min(least, found.ema_bytes)
    assert least == (None if plan is None else plan.ema_bytes)


@each_seed(75, 150)
def test_the_least_room_is_exact(seed):
    rng = random.Random(seed)
    layer = random_question(rng).layer
    least = least_room(layer, True).activation
    assert not plans_of(layer, Room(least - 1, None), "bands") and plans_of(layer, Room(least, None), "bands")
    room = Room(int(10 ** rng.uniform(2.3, 4)), int(10 ** rng.uniform(1.5, 3.5)))
    assert can_run(layer, room) == bool(plans_of(layer, room, "bands"))
    plan = cheapest_plan(layer, Room(sum(one_pass(layer)), None), EMA)
    assert plan.totals.ema_weight_bytes == layer.weights * layer.repeat
    assert plan.ema_bytes == cheapest_plan(layer, Room(10**9, None), EMA).ema_bytes


def test_what_lies_between_may_not_stay():
    """A source and the context may: neither has a region or is moved."""
    network = workloads.load("gpt")
    nest = next(iter(projected_attentions(network)))
    assert nest.inner == set(nest.layers) - {nest.result}
    source = nest.sources[0]
    kept = Kept(frozenset({source, nest.result}), frozenset(), frozenset())
    layer = nest.loops(network, 1, Technology(), kept)
    plan = cheapest_plan(layer, Room(120 * KiB, None), EMA)
    assert plan.ema_bytes == layer.weights == 3 * 768 * 768


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@each_seed(75, 150)
def test_both_engines_find_the_same_plan(seed):
    from cocco.search.kernel._model import LoopLayers

    rng = random.Random(seed)
    layer, tiles = random_question(rng).layer, rng.choice(("bands", "equal", "all"))
    room = Room(int(10 ** rng.uniform(2.3, 4.3)), rng.choice((None, 300, 3000)))
    for metric in ("ema", "energy", "latency-sum"):
        goal = Goal(metric, 100.0, 0.71, 1.13, *rng.choice(((None, None), (0.5, 2.0))))
        assert LoopLayers([layer], tiles).cheapest(0, *room, *goal) == cheapest_plan(layer, room, goal, tiles)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("name", ["gpt", "whisper_tiny", "llama3_8b"])
def test_both_engines_agree_on_networks(name):
    from cocco.search.kernel._model import LoopLayers

    layer = first(name)
    for size in (200, 512, 2048, 16384):
        for metric in ("ema", "energy"):
            goal = Goal(metric, 100.0, 0.71, 1.13)
            found = LoopLayers([layer]).cheapest(0, size * KiB, None, *goal)
            assert found == cheapest_plan(layer, Room(size * KiB, None), goal)
