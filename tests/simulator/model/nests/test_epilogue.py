"""Dense layers with an epilogue, executed: outputs, every count, and the bytes held are what the closed forms say."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workloads
from simulator.execution.count.miss import Miss
from simulator.execution.layer import LayerPlan, count_layer, run_layer
from simulator.execution.layer.chain import _checked as checked_chain
from simulator.execution.layer.chain import _chip as chip_of
from simulator.execution.layer.chain import count_of_chain, run_chain_scaled, run_counted_chain
from simulator.execution.layer.chained.problem import ChainProblem
from simulator.execution.layer.chained.run import run_chain
from simulator.execution.layer.value.epilogue import Epilogue as Behind
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.least_room import can_run, least_room, needs
from simulator.model.layer.loops import loop_layer
from simulator.model.nests.epilogue import epilogues, followed
from simulator.technology import Technology
from simulator.timing.loops import loop_course
from tests.helpers.layer_plans import claim_of, loops_of
from tests.helpers.parts import few_seeds
from tests.helpers.random_epilogue import random_case, some_plans
from workloads import Builder

LOOSE = ("KP", "TP", "BC")  #: orders whose claims of bytes on chip may be more than is ever held (test_orders.py)


def check_claims(counted, plan, seed):
    """Every number of a plan is what was counted."""
    claimed = claim_of(plan)
    for name in (*claimed._fields[:7], "global_written_bytes"):
        found, said = getattr(counted, name), getattr(claimed, name)
        is_loose = name.endswith("n_bytes") or name == "weight_bytes"
        assert found == said or (is_loose and plan.order in LOOSE and found < said), (seed, plan, name, found, said)


def check_random(seed):
    """Execute some plans of a random nest in the memory that they claim, and in one byte less; yield their orders."""
    case = random_case(seed)
    first, *after = case.layers
    for plan in some_plans(case, seed):
        loops, rooms = loops_of(plan), (plan.activation_bytes, plan.weight_bytes)
        counted = count_layer(case.network, first, loops, case.batch, lies=case.lies, after=after)
        found = run_layer(case.network, first, loops, rooms, case.batch, lies=case.lies, after=after)
        assert found == counted._replace(operation_extra=0), (seed, plan)
        check_claims(counted, plan, seed)
        held = found.activation_bytes, found.weight_bytes
        for less in ((held[0] - 1, held[1]), (held[0], held[1] - 1)):
            if min(less) >= 0:
                with pytest.raises(Miss):
                    run_layer(case.network, first, loops, less, case.batch, lies=case.lies, after=after)
        yield plan.order, case.loops.epilogue.by_position


def test_random_nests_run_as_the_closed_forms_say():
    """In all eight orders, and with a norm in all but KP, whose chunks have no position together."""
    found = Counter(each for seed in range(90) for each in check_random(seed))
    assert {order for order, _ in found} == {"TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC"}
    assert ("KP", 1) not in found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_nests_run_as_the_closed_forms_say(part):
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        assert all(order for order, _ in check_random(seed))


def check_behind_chain(seed, has_bits=False):
    """Execute some plans of layers behind a random chain, as they are and scaled, and in a byte less; yield orders."""
    case = random_case(seed, has_bits, behind_chain=True)
    for plan in some_plans(case, seed, 3):
        loops, asked = loops_of(plan), (case.network, case.layers)
        counted = count_of_chain(*asked, loops, case.batch, Technology(), case.lies)
        claimed = claim_of(plan)
        assert counted.activation_bytes <= claimed.activation_bytes and counted.weight_bytes <= claimed.weight_bytes
        for name in (*claimed._fields[2:7], "global_written_bytes"):
            assert getattr(counted, name) == getattr(claimed, name), (seed, plan, name)
        links, following = checked_chain(*asked, loops, 8, case.lies)
        run_counted_chain(case.network, links, loops, case.batch, 8, case.lies, following)
        rooms = [
            (counted.activation_bytes - 1, counted.weight_bytes),
            (counted.activation_bytes, counted.weight_bytes - 1),
        ]
        for room in rooms:
            problem, chip = (
                ChainProblem(case.network, links, case.batch, 0),
                chip_of(case.layers[-1], case.lies, 8, *room),
            )
            output = np.full(problem.direct().shape, np.nan)
            behind = Behind(following, {links.x: problem.x.astype(np.int64)}, case.batch, 0)
            with pytest.raises(Miss):
                run_chain(problem, chip, loops, output, links.x in case.lies.on_chip, behind)
        run_chain_scaled(*asked, loops, case.batch, 8, False, case.lies)
        yield plan.order, case.loops.epilogue.by_position


@few_seeds(20, 60)
@pytest.mark.parametrize("has_bits", [False, True])
def test_layers_behind_random_chains_run_as_the_closed_forms_say(seeds, has_bits):
    """With a norm only in TM, whose tiles have all channels of a position."""
    found = Counter(each for seed in seeds for each in check_behind_chain(seed, has_bits))
    assert set(found) == {("TM", 0), ("TM", 1), ("TW", 0), ("TS", 0), ("MT", 0)}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_many_layers_behind_random_chains_run_as_the_closed_forms_say(part):
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        assert all(order for order, _ in check_behind_chain(seed, part % 2 == 1))


def test_other_numbers_than_int8_are_counted_as_claimed():
    for seed in range(150):
        case = random_case(seed, has_bits=True)
        first, *after = case.layers
        for plan in some_plans(case, seed):
            check_claims(
                count_layer(case.network, first, loops_of(plan), case.batch, lies=case.lies, after=after), plan, seed
            )


def test_a_nest_runs_where_its_least_room_is_and_nowhere_else():
    for seed in range(90):
        layer = random_case(seed, behind_chain=seed % 3 == 0).loops
        shared = least_room(layer, True).activation
        rooms = [Room(size, None) for size in (shared - 1, shared, shared + 1)]
        rooms += [
            Room(a + i, w + j) for a, w in needs(layer) for i in (-1, 0) for j in (-1, 0) if min(a + i, w + j) >= 0
        ]
        for room in rooms:
            has_plan = cheapest_plan(layer, room, Goal("ema", 1.0, 0.0, 0.0)) is not None
            assert has_plan == can_run(layer, room), (seed, room)
            assert room.weights is not None or has_plan == (room.activation >= shared), (seed, room)


def test_stages_move_and_compute_what_the_plan_does():
    for seed in range(100):
        case = random_case(seed)
        for plan in some_plans(case, seed):
            course = loop_course(case.loops, plan, 3, 1000, 100)
            assert sum(stage.input_bytes for stage in course.stages) == plan.totals.ema_input_bytes
            assert sum(stage.output_bytes for stage in course.stages) == plan.totals.ema_output_bytes
            assert sum(slots for stage in course.stages for _, slots in stage.computing) == 1000
            most = max((stage.output_bytes for stage in course.stages[:-1]), default=0)
            assert course.behind_bytes >= most or case.loops.stays.output, (seed, plan)


def a_block(norm=True):
    """Return a 1x1 convolution of 8x8x16, a sum with its input, which also leaves, and a norm."""
    b = Builder("block")
    x = b.input("x", 8, 8, 16)
    total = b.add("sum", [b.conv("a", x, 16, 1), x])
    if norm:
        b.conv("c", b.layernorm("n", total), 16, 1)
        b.conv("d", total, 16, 1)
    return b.build()


def test_the_moves_of_a_sum_are_those_of_the_layer_and_of_another_map():
    """The result of the convolution, 1,024 B, neither leaves nor comes back; the other map comes, and is read."""
    network = a_block(norm=False)
    alone, nest = loop_layer(network, 0), followed(network, (0, 1)).loops(network, 1, Technology(), None)
    goal = Goal("ema", 100.0, 1.0, 1.0)
    one, both = (cheapest_plan(layer, Room(600, None), goal) for layer in (alone, nest))
    assert both.order == one.order and both.activation_bytes == one.activation_bytes + 8
    assert both.ema_bytes == one.ema_bytes + 1024
    assert both.totals.global_buffer_bytes == one.totals.global_buffer_bytes + 2 * 1024


def test_a_norm_needs_all_channels_of_a_tile_and_moves_them_once_more():
    """In 8 rows of 8 outputs, weights in words: 16 B of input and of results for each position, 8 x 16 B of weights.

    What the sum leaves is written, read by DRAM and by the norm, and its place is written again.
    """
    network = a_block()
    layer = followed(network, (0, 1, 2)).loops(network, 1, Technology(), None)
    assert layer.epilogue == (8, 1024, 1024, 3 * 1024, 1024, 8, 1, 0, (8,), (8,))
    plan = LayerPlan("TK", "ring", (1, 8), 1, 8, 16, 8)
    counted = count_layer(network, 0, plan, after=(1, 2))
    assert counted.activation_bytes == 2 * 8 * 16 + 8 and counted.weight_bytes == 128
    assert counted.ema_output_bytes == 2 * 1024 and counted.ema_input_bytes == 2 * 1024
    windows = 2 * 1024  # each chunk reads them
    assert counted.global_buffer_bytes == 2 * 1024 + windows + 2 * 1024 + 4 * 1024
    with pytest.raises(Miss, match="its norm needs all"):
        count_layer(network, 0, plan._replace(order="KT"), after=(1, 2))


def test_what_else_an_epilogue_reads_waits_for_none_of_its_layers():
    """The second sum needs the first convolution through another; a map between may leave, and be read elsewhere."""
    b = Builder("block")
    x = b.input("x", 8, 8, 16)
    first = b.conv("a", x, 16, 1)
    b.add("waits", [first, b.conv("c", first, 16, 1)])
    b.mul("twice", [first, first])
    b.add("two", [b.conv("e", x, 16, 1), b.conv("f", x, 16, 1)])
    network = b.build()
    assert [network.names(nest.layers) for nest in epilogues(network)] == [("c", "waits"), ("e", "two"), ("f", "two")]


@pytest.mark.parametrize("name, count", [("resnet50", 36), ("gpt", 60), ("vit_b16", 73), ("nasnet", 243), ("vgg16", 0)])
def test_nests_of_networks(name, count):
    found = [nest.layers for nest in epilogues(workloads.load(name))]
    assert len(found) == len(set(found)) == count
