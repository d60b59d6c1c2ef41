"""Addresses of all that a run holds: by hand, lies that the judge finds, and drawn plans in tight memories."""

from __future__ import annotations

import random

import pytest

from cocco.latency.places import _fill, placed_run, places_of
from simulator import Accelerator, KiB, Partition
from simulator.allocation import Allocation, Buffer, check_allocation
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.judge import count_steps
from simulator.execution.timed import judge_run
from simulator.model.price import Price
from simulator.model.priced import price_partition
from simulator.timing.rooms import PIECE_BYTES, Room
from simulator.timing.simulation import simulate_priced
from tests.helpers.judged import random_network_of
from tests.helpers.parts import each_seed
from tests.helpers.random_kept import random_kept_plan
from workloads import Builder


def region(start, stop, size):
    return Room("shared", "region", 0, "x", start, stop, size, f"x{start}")


def piece(start, stop, size):
    return Room("shared", "weights", 0, "", start, stop, size)


def test_a_piece_lies_where_nothing_begins_before_it_is_released():
    """10 bytes: [0, 4) are taken until 10, [6, 10) from 10 on. Over 10 only [4, 6) are free; before it, [6, 10) too."""
    whole = [(region(0, 10, 4), 0), (region(10, 20, 4), 6)]
    assert _fill(whole, [piece(2, 15, 2)], 10) == ([(piece(2, 15, 2), 4)], [])
    assert _fill(whole, [piece(2, 15, 3)], 10) == ([], [(piece(2, 15, 3), 1)])
    found, missing = _fill(whole, [piece(2, 10, 5), piece(3, 15, 1)], 10)
    assert found == [(piece(2, 10, 4), 6), (piece(2, 10, 1), 4), (piece(3, 15, 1), 5)] and not missing


class Case:
    """A run with its places, as plain data, and what its judge takes."""

    def __init__(self, network, plan, chip):
        priced = price_partition(network, plan, chip)
        self.found = placed_run(priced) if priced.fits else None
        if self.found is not None:
            self.steps = count_steps(network, chip, plan, priced.prices)
            self.spans = [each.span for each in plan.keep]
            self.judge = lambda claims: judge_run(network, chip, self.steps, self.spans, self.found.run.slices, claims)


@pytest.fixture(scope="module")
def case():
    """Four dense layers of 96 KB of weights, maps kept, in so little that less than is free may come ahead."""
    b = Builder("four")
    x = b.input("x", 1, 1, 256)
    for name in ("a", "b", "c", "d"):
        x = b.fc(name, x, 384 if name in "ac" else 256)
    network = b.build()
    return Case(network, Partition.from_groups(network, [[v] for v in "abcd"], keep=["a", "b", "c"]),
                Accelerator(shared_buffer=160 * KiB))  # fmt: skip


def test_pieces_are_small_and_add_up_to_the_weights(case):
    sizes = [room.size_bytes for room, _ in case.found.placed if room.kind == "weights"]
    assert sum(sizes) == 4 * 96 * KiB and max(sizes) <= PIECE_BYTES
    assert case.judge(case.found.claims).cycles == case.found.run.cycles
    kept = {(room.name, room.step) for room, _ in case.found.placed if room.kind == "kept"}
    assert kept == {("a", 0), ("b", 1), ("c", 2)}


def lie(case, kind, words, **other):
    """Judge the places with one room of a kind changed."""
    fields = ("memory", "kind", "step", "name", "start", "stop", "size", "address")
    claims = [dict(zip(fields, each)) for each in case.found.claims]
    first = max((each for each in claims if each["kind"] == kind), key=lambda each: each["stop"])
    first.update({name: change(first, claims) for name, change in other.items()})
    with pytest.raises(Miss, match=words):
        case.judge([tuple(each.values()) for each in claims])


def test_weights_over_a_tensor_that_is_still_needed(case):
    lie(case, "weights", "its bytes hold|share", address=lambda one, every: next(
        each["address"] for each in every if each["kind"] == "kept" and each["start"] < one["stop"] <= each["stop"]
    ))  # fmt: skip


def test_a_room_that_ends_a_slot_before_its_weights_are_used_up(case):
    lie(case, "weights", "bytes have no place", stop=lambda one, _: one["stop"] - 1)


def test_a_room_that_is_a_byte_too_small(case):
    lie(case, "weights", "1 bytes have no place", size=lambda one, _: one["size"] - 1)


def test_a_room_beyond_the_memory(case):
    lie(case, "weights", "are not in the shared memory", address=lambda one, _: 160 * KiB - one["size"] + 1)


def test_a_kept_tensor_whose_place_ends_before_its_last_reader_has_run(case):
    lie(case, "kept", "have no place from", stop=lambda one, _: one["start"] + 1)


@each_seed(30, 60)
def test_drawn_plans_in_little_more_than_their_largest_step(seed):
    """Every pair of rooms is compared, too, and the plan with what it says on `ahead` has the same run."""
    rng = random.Random(seed)
    network, plan = random_network_of(seed), random_kept_plan(random_network_of(seed), seed)
    prices = price_partition(network, plan, Accelerator(shared_buffer=10**7)).prices
    sizes = [each.kept_bytes + each.activation_bytes + each.weight_bytes for each in prices if isinstance(each, Price)]
    chip = Accelerator(shared_buffer=max(sizes, default=8) // 8 * 8 + 8 + 8 * rng.randrange(60))
    found = Case(network, plan, chip)
    if found.found is None:  # a larger tile is dearer, or regions alone find no addresses
        return
    run = found.found.run
    times = {time: n for n, time in enumerate(sorted({t for room, _ in found.found.placed for t in room[4:6]}))}
    buffers, at = [], {}
    for n, (room, address) in enumerate(found.found.placed):
        if room.start < room.stop and room.kind != "kept":
            buffers.append(Buffer(str(n), times[room.start], times[room.stop], room.size_bytes))
            at[str(n)] = address
    assert not check_allocation(buffers, Allocation(at), chip.shared_buffer)
    again = price_partition(network, run.priced.partition, chip)
    assert simulate_priced(again).end == run.end and places_of(simulate_priced(again)).placed == found.found.placed
    found.judge(found.found.claims)


def test_verification_judges_places(case):
    run = case.found.run
    claims = [(*each[:7], 0) for each in case.found.claims]
    asked = run.priced.network, run.priced.partition, run.accelerator
    assert verify(*asked, places=case.found.claims).verified
    found = verify(*asked, places=claims)
    assert not found.verified and "its bytes hold" in found.message
