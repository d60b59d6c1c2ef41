"""The stages of a layer in a loop order: by hand order by order, as the judge runs the loops, and what holds of all."""

from __future__ import annotations

import random

import pytest

import workloads
from simulator import Accelerator
from simulator.execution.layer import run_layer
from simulator.execution.layer.common.chip import Chip
from simulator.model.layer import groups, orders
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan, plans_of
from simulator.model.layer.loops import loop_layer
from simulator.model.layer.orders import Loops
from simulator.model.nests.epilogue import epilogues
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.technology import Rate, Technology
from simulator.timing.loops import loop_course, moves_of
from simulator.timing.schedule import Schedule
from simulator.timing.stages import course_of
from simulator.timing.work import Holds, Work, add_step
from tests.helpers.layer_plans import loops_of, some_plans
from tests.helpers.parts import first_of
from tests.helpers.random_attention import random_masked_attention
from tests.helpers.random_layers import random_layer
from tests.helpers.random_loops import random_loops
from workloads import Builder

MOST = 10_000


def layer_of(op, batch=1):
    """Return 4x4x16 -> 4x4x16: a 3x3 convolution, a 3x3 pool, a sum with a vector, the same rearranged, a product."""
    b = Builder("one")
    x = b.input("x", 4, 4, 16)
    if op == "conv":
        b.conv("a", x, 16, 3, padding=1)
    elif op == "pool":
        b.maxpool("a", x, 3, 1, 1)
    elif op == "add":
        b.add("a", [x, b.input("y", 1, 1, 16)])
    elif op == "copy":
        b.rearrange("a", x, 8, 2, 16)
    else:
        b.matmul("a", b.input("p", 4, 1, 16), b.input("q", 16, 1, 16))
    return loop_layer(b.build(), 0, batch)


def room_of(course):
    """Return the most bytes ahead, behind and of a chunk; None where all weights are held."""
    chunk = max((stage.chunk_bytes for stage in course.stages[1:]), default=0) if course.is_streamed else None
    return course.ahead_bytes, course.behind_bytes, chunk


def steps(layer, plan):
    """Return inputs, weights and outputs of each stage."""
    course = loop_course(layer, plan, 0, 64_000, MOST)
    weights = [sum(size for _, size in stage.weights) for stage in course.stages]
    return [stage.input_bytes for stage in course.stages], weights, [stage.output_bytes for stage in course.stages]


def loops(chunk=16, size=16, inner=None, at_once=1, kept=0):
    return Loops(1, chunk, size, chunk if inner is None else inner, at_once, kept)


RING, WHOLE = "ring", "whole"
BY_HAND = [
    # rows of 4 x 16 bytes, tiles of 2 rows: 3 rows come, then 1; 1152 bytes of weights a chunk of 8
    (orders.tiles_chunks, RING, loops(8), 1, [192, 0, 64, 0], [1152] * 4, [64] * 4),
    (orders.tiles_chunks, RING, loops(16), 2, [192, 64] * 2, [2304, 0, 0, 0], [128] * 4),
    (orders.chunks_tiles, RING, loops(8), 1, [192, 64] * 2, [1152, 0] * 2, [64] * 4),
    (orders.whole_chunks, WHOLE, loops(8), 1, [192, 64, 0, 0], [1152, 0] * 2, [64] * 4),
    (orders.chunks_whole, WHOLE, loops(8), 2, [192, 64] * 4, [1152, 0, 0, 0] * 2, [64] * 8),
    (orders.tiles_partly, RING, loops(8, kept=8), 1, [192, 0, 64, 0], [1152, 1152, 0, 1152], [64] * 4),
    (orders.chunks_partly, RING, loops(8, kept=1), 1, [192, 64, 128, 64], [1152, 0] * 2, [64] * 4),
    (orders.tiles_slices, RING, loops(16, 8), 1, [192, 0, 64, 0], [1152] * 4, [0, 128] * 2),
    # slices of 8 of the 16 inputs, 3 rows of each for both blocks
    (orders.block_slices, "block", loops(16, 8, 8), 1, [96, 0] * 4, [576] * 8, [0, 0, 0, 128] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("nest", "mode", "how", "batch", "inputs", "weights", "outputs"), BY_HAND)
def test_a_convolution_in_each_order_by_hand(nest, mode, how, batch, inputs, weights, outputs):
    layer = layer_of("conv", batch)
    grid = orders.grid_of(layer, (2, 4))
    modes = [*grid.modes, grid.whole, *grid.blocks]
    plan = nest(layer, grid, next(each for each in modes if each.name == mode), how)
    assert steps(layer, plan) == (inputs, weights, outputs)


def test_a_block_s_rows_come_one_after_the_other():
    """One block of 4 rows: its first row meets 2 rows of 4 x 8 bytes, the others one more each, the last none."""
    layer = layer_of("conv")
    grid = orders.grid_of(layer, (4, 4))
    (mode,) = (each for each in grid.blocks if each.name == "block-row")
    plan = orders.block_slices(layer, grid, mode, loops(16, 8))
    assert steps(layer, plan) == ([64, 32, 32, 0] * 2, [1152, 0, 0, 0] * 2, [0] * 7 + [256])


def test_a_low_block_has_empty_rows():
    """Blocks of 3 rows and of 1: the first meets 2, 1 and 1 rows of 4 x 8 bytes, the other 2, and then nothing."""
    layer = layer_of("conv")
    grid = orders.grid_of(layer, (3, 4))
    (mode,) = (each for each in grid.blocks if each.name == "block-row")
    plan = orders.block_slices(layer, grid, mode, loops(16, 8))
    outputs = [0] * 5 + [192] + [0] * 3 + [64, 0, 0]
    assert steps(layer, plan) == ([64, 32, 32] * 2 + [64, 0, 0] * 2, [1152, 0, 0] * 4, outputs)


def followed_layer():
    """Return 4 x 4 x 16 through a 1x1 convolution, and the sum of its results with another map."""
    b = Builder("two")
    b.add("sum", [b.conv("a", b.input("x", 4, 4, 16), 16), b.input("y", 4, 4, 16)])
    (nest,) = epilogues(network := b.build())
    return nest.loops(network, 1, Technology(), None)


def test_an_operand_of_an_epilogue_comes_with_each_chunk():
    """Tiles of 2 x 4 x 16, chunks of 8: 128 bytes of x with the first, 64 of y with each; both wait whole."""
    layer = followed_layer()
    grid = orders.grid_of(layer, (2, 4))
    (mode,) = (each for each in grid.modes if each.name == RING)
    plan = orders.tiles_chunks(layer, grid, mode, loops(8))
    assert steps(layer, plan) == ([192, 64] * 2, [128] * 4, [64] * 4)
    assert [each.ahead_bytes for each in loop_course(layer, plan, 0, 64_000, MOST).stages] == [192, 64] * 2


def test_a_product_brings_its_second_operand_as_input():
    """4 x 16 times 16 x 16, chunks of 8 columns of the second operand: 128 bytes each."""
    layer = layer_of("matmul")
    grid = orders.grid_of(layer, (2, 1))
    (mode,) = (each for each in grid.modes if each.name == RING)
    plan = orders.chunks_tiles(layer, grid, mode, loops(8))
    assert steps(layer, plan) == ([32 + 128, 32] * 2, [0] * 4, [16] * 4)


def test_channels_apart_by_hand():
    layer = layer_of("pool")
    grid = orders.grid_of(layer, (2, 4))
    (mode,) = (each for each in grid.modes if each.name == RING)
    plan = groups.channels_tiles(layer, grid, mode, 8, 1)
    assert steps(layer, plan) == ([96, 32] * 2, [0] * 4, [64] * 4)


def test_running_sums_by_hand():
    """Rows of 4 x 8 bytes; the first output row is made when the second row is there, the last two with the last."""
    layer = layer_of("pool")
    plan = groups.running_sums(layer)
    assert steps(layer, plan) == ([32] * 8, [0] * 8, [0, 32, 32, 64] * 2)
    course = loop_course(layer, plan, 0, 2000, MOST)
    assert [stage.computing for stage in course.stages] == [((0, slots),) for slots in (200, 300, 300, 200) * 2]
    assert room_of(course) == (32, 64, None)


def test_broadcast_operands_by_hand():
    """Channels outermost: the vector comes with its channels; tiles outermost: in full with the first tile."""
    layer = layer_of("add")
    grid = orders.grid_of(layer, (2, 4))
    assert steps(layer, groups.joined(layer, grid, orders.CT, 8))[0] == [64 + 8, 64] * 2
    assert steps(layer, groups.joined(layer, grid, orders.TC, 8))[0] == [64 + 16, 64, 64, 64]


def test_a_copy_passes_word_by_word():
    layer = layer_of("copy")
    assert steps(layer, groups.copy(layer)) == ([8] * 32, [0] * 32, [8] * 32)


def test_what_working_ahead_takes():
    """A ring of tiles of 2 rows: one row of 4 x 16 comes next; a chunk of 2 x 4 x 8 is written behind."""
    layer = layer_of("conv")
    grid = orders.grid_of(layer, (2, 4))
    (mode,) = (each for each in grid.modes if each.name == RING)
    assert room_of(loop_course(layer, orders.tiles_chunks(layer, grid, mode, loops(8)), 0, 100, MOST)) == (64, 64, 1152)
    held = loop_course(layer, orders.tiles_chunks(layer, grid, mode, loops(16)), 0, 100, MOST)
    assert room_of(held) == (64, 128, None)  # weights that stay may come before the layer starts
    whole = orders.whole_chunks(layer, grid, grid.whole, loops(8))
    assert room_of(loop_course(layer, whole, 0, 100, MOST)) == (0, 64, 1152)  # the input whole has its room
    again = orders.chunks_tiles(layer, grid, mode, loops(8))
    assert room_of(loop_course(layer, again, 0, 100, MOST)) == (192, 64, 1152)


def unscaled(terms):
    return sum(term.total for term in terms)


def check_plan(layer, plan, rng):
    """Sums are those of the plan without any scaling, in few stages too; no step needs more than the plan holds."""
    moves, slots = moves_of(layer, plan), rng.choice((1, 1000, 12345))
    unmet = layer.repeat * layer.batch * layer.unmet_bytes
    assert unscaled(moves.inputs) == plan.totals.ema_input_bytes - unmet
    assert unscaled(moves.weights) == plan.totals.ema_weight_bytes
    assert unscaled(moves.outputs) == plan.totals.ema_output_bytes
    assert max(moves.nest.moved(moves.weights, 1)) <= plan.weight_bytes
    assert max(moves.nest.moved(moves.ahead, 1)) <= plan.activation_bytes
    for most in (MOST, rng.randint(1, 20)):
        course = loop_course(layer, plan, 3, slots, most)
        assert len(course.stages) <= min(most, moves.nest.count)
        assert sum(stage.input_bytes for stage in course.stages) == plan.totals.ema_input_bytes
        assert sum(stage.output_bytes for stage in course.stages) == plan.totals.ema_output_bytes
        weights = [size for stage in course.stages for v, size in stage.weights if v == 3]
        assert sum(weights) == plan.totals.ema_weight_bytes and 0 not in weights
        assert sum(time for stage in course.stages for v, time in stage.computing if v == 3) == slots
        assert all(min(stage.input_bytes, stage.output_bytes, stage.computing[0][1]) >= 0 for stage in course.stages)
        later = course.stages[1:]
        if plan.order != "copy":  # where a word leaves several times
            assert course.behind_bytes >= max((stage.output_bytes for stage in course.stages[:-1]), default=0)
        is_alone = plan.order == "WK" and moves.nest.steps["parts"] * moves.nest.steps["rounds"] == 1
        if not unmet and not is_alone:
            assert course.ahead_bytes >= max((stage.input_bytes for stage in later), default=0)
        if not course.is_streamed:
            assert plan.weight_bytes >= plan.totals.ema_weight_bytes
        else:
            assert room_of(course)[2] == max((size for stage in later for _, size in stage.weights), default=0)
        yield course


@pytest.mark.parametrize("block", first_of(range(10), 4))
def test_what_holds_of_the_plans_of_random_layers(block):
    for seed in range(20 * block, 20 * block + 20):
        rng, (network, batch, plans) = random.Random(seed), some_plans(seed)
        layer = loop_layer(network, 0, batch)
        for plan in plans:
            for _ in check_plan(layer, plan, rng):
                pass


def test_what_holds_of_the_plans_of_attentions_with_masks():
    for seed in range(40):
        rng, (network, batch, plans) = random.Random(seed), some_plans(seed, make=random_masked_attention)
        for plan in plans:
            for _ in check_plan(loop_layer(network, 0, batch), plan, rng):
                pass


def test_two_tiles_run_by_hand():
    """192 bytes of rows and all 2304 of weights come, 1000 slots a tile; then 64 bytes of rows, and 128 leave twice.

    With room the second tile computes at once, at 3496; without, when its rows have come and the first results gone.
    """
    layer = layer_of("conv")
    grid = orders.grid_of(layer, (2, 4))
    (mode,) = (each for each in grid.modes if each.name == RING)
    course = loop_course(layer, orders.tiles_chunks(layer, grid, mode, loops(16)), 0, 2000, MOST)
    for room, begins, end in ((64 + 128, [2496, 3496], 4624), (0, [2496, 3688], 4816)):
        work = Work([], [], [], [], [0], [0], [-1], [], [room], [0], [])
        add_step(work, course, Holds(2304, 0, 2304, 0, False))
        found = Schedule(work, 1, stores_first=False)
        assert found.computed == begins and found.end == end


GOAL = Goal("ema", 100.0, 1.0, 1.0)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(("name", "room"), [
    ("vgg16", Room(128 * 1024, 144 * 1024)),
    pytest.param("vgg16", Room(16 * 1024, None), marks=SLOW),
    ("resnet50", Room(64 * 1024, None)),
    pytest.param("gpt", Room(128 * 1024, 144 * 1024), marks=SLOW),
    ("nasnet", Room(32 * 1024, 36 * 1024)),
])  # fmt: skip
def test_what_holds_of_the_cheapest_plans_of_real_layers(name, room):
    network, rng, reached = workloads.load(name), random.Random(0), set()
    for v in range(0, len(network.layers), max(1, len(network.layers) // 40)):
        layer = loop_layer(network, v, rng.choice((1, 2)))
        plan = cheapest_plan(layer, room, GOAL)
        if plan is not None:
            reached.add(plan.order)
            for _ in check_plan(layer, plan, rng):
                pass
    assert len(reached) > 2


class Recorded(Chip):
    """A chip that notes how much came in when each result left."""

    def store(self, size):
        super().store(size)
        self.noted[self.ema_outputs] = self.ema_inputs, self.ema_weights


def recorded(network, plan, batch, monkeypatch):
    """Return by bytes stored so far the inputs and weights loaded so far, as the judge's loops run."""
    noted = {}
    monkeypatch.setattr(Recorded, "noted", noted, raising=False)
    monkeypatch.setattr("simulator.execution.layer.run.Chip", Recorded)
    run_layer(network, 0, loops_of(plan), (plan.activation_bytes, plan.weight_bytes), batch)
    return noted


def compared(seed, monkeypatch, make=random_layer):
    """Return how many stages store: exactly that has come in that the executed loops load until they store as much.

    They bring the input whole in before its first tile, the stages with the tiles. Copies are even.
    """
    found, (network, batch, plans) = 0, some_plans(seed, make=make)
    layer = loop_layer(network, 0, batch)
    for plan in plans:
        if plan.order == "copy" or network.layers[0].op == "slice":
            continue
        noted, (nest, *terms) = recorded(network, plan, batch, monkeypatch), moves_of(layer, plan)
        inputs = weights = outputs = 0
        for moved in zip(*(nest.moved(each, 1) for each in terms[:3])):
            inputs, weights, outputs = inputs + moved[0], weights + moved[1], outputs + moved[2]
            if moved[2]:
                came = noted[outputs]
                assert weights == came[1] and (inputs == came[0] or plan.mode == "whole" and inputs < came[0])
                found += 1
    return found


@pytest.mark.parametrize("block", first_of(range(10), 4))
def test_each_stage_loads_what_the_judge_s_loops_load(block, monkeypatch):
    assert sum(compared(seed, monkeypatch) for seed in range(10 * block, 10 * block + 10)) > 500


def test_each_stage_of_a_masked_attention_loads_what_the_judge_s_loops_load(monkeypatch):
    assert sum(compared(seed, monkeypatch, random_masked_attention) for seed in range(20)) > 500


def test_every_order_is_compared():
    reached = {plan.order for seed in range(100) for plan in some_plans(seed)[2]}
    assert reached == {"TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC", "CT", "TC", "TCC", "RS", "copy"}


def test_all_plans_of_one_layer_take_a_run_of_bounded_length():
    layer = loop_layer(workloads.load("vgg16"), 3, 2)
    for plan in plans_of(layer, Room(200_000, None), "bands"):
        assert len(loop_course(layer, plan, 3, 10**6, 300).stages) <= 300


@pytest.mark.parametrize("batch", [1, 2])
def test_a_priced_layer_in_a_loop_order_has_the_stages_of_its_loops(batch):
    network = workloads.load("vgg16")
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=2**17, batch=batch), "exact")
    model, layer = SubgraphModel(rules, [3]), loop_layer(network, 3, batch)
    price = model.price(2**17, 0)
    assert price.loops is not None and course_of(model, price, Rate(16)) == loop_course(
        layer, price.loops, 3, 16 * price.compute_cycles, MOST
    )


def test_layers_dealt_to_cores_take_all_their_traffic_in_their_stages():
    """What comes, goes and crosses in the stages of random loop orders on several cores is that of their price."""
    for seed in range(15):
        for _, chip, model, price in random_loops(seed):
            course = course_of(model, price, chip.rate)
            assert sum(stage.input_bytes for stage in course.stages) == price.ema_input_bytes
            assert sum(stage.output_bytes for stage in course.stages) == price.ema_output_bytes
            assert sum(size for stage in course.stages for _, size in stage.weights) == price.ema_weight_bytes
            crossed = [size for stage in course.stages for _, size, _ in stage.crossing]
            assert sum(crossed) == price.crossbar_bytes
