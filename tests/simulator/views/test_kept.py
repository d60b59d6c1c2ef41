"""Plans with kept tensors as others see them: least memory, where bytes are, occupancy, the executed run."""

from __future__ import annotations

from itertools import combinations

import pytest

from simulator import Accelerator, breakdown, evaluate, least_capacity
from simulator.timing import simulate
from simulator.views.chrome_trace import buffers, chrome_trace
from simulator.views.occupancy import occupancies
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan


def random_kept(seed):
    """Return a network and a plan that keeps something; None where there is none, or no memory is enough."""
    network = random_network(seed, whole=seed % 2 == 1)
    plan = random_kept_plan(network, seed)
    batch = 1 + seed % 3
    runs = evaluate(network, plan, Accelerator(shared_buffer=10**8, batch=batch)).fits
    return (network, plan, batch) if plan.keep and runs else None


@each_seed(30, 60)
def test_a_byte_less_than_the_least_capacity_is_too_little(seed):
    found = random_kept(seed)
    if found is None:
        return
    network, plan, batch = found
    least = least_capacity(network, plan, batch=batch)
    assert evaluate(network, plan, Accelerator(shared_buffer=least.shared_buffer, batch=batch)).fits
    assert not evaluate(network, plan, Accelerator(shared_buffer=least.shared_buffer - 1, batch=batch)).fits
    pair = {"global_buffer": least.global_buffer, "weight_buffer": least.weight_buffer}
    assert evaluate(network, plan, Accelerator(**pair, batch=batch)).fits
    for name in pair:
        if pair[name] > 1:
            less = pair | {name: pair[name] - 1}
            assert not evaluate(network, plan, Accelerator(**less, batch=batch)).fits


@each_seed(30, 60)
def test_parts_add_up_to_what_is_priced(seed):
    found = random_kept(seed)
    if found is None:
        return
    network, plan, batch = found
    chip = Accelerator(shared_buffer=10**6, batch=batch)
    priced = evaluate(network, plan, chip)
    for cost, parts, held in zip(
        priced.subgraphs, breakdown(network, plan, chip), occupancies(network, priced), strict=True
    ):
        kept = [each for each in parts.tensors if each.role == "kept"]
        assert sum(each.main_bytes for each in kept) == cost.kept_bytes == held.kept_bytes
        others = [each for each in parts.tensors if each.role != "kept"]
        assert sum(each.held_bytes for each in others) == cost.activation_bytes == held.main_bytes + held.side_bytes
        assert len({each.tensor for each in parts.tensors if each.held_bytes}) <= len(parts.tensors)


@pytest.mark.parametrize("seed", first_of(range(60), 20))
def test_the_executed_run_moves_what_is_priced_in_the_memory_there_is(seed):
    """Each byte crosses once in its subgraph, and at no time do buffers hold more than their capacity."""
    found = random_kept(seed)
    if found is None:
        return
    network, plan, batch = found
    least = least_capacity(network, plan, batch=batch)
    for room in (0, 50, 2000):
        chip = Accelerator(shared_buffer=least.shared_buffer + room, batch=batch)
        priced, run = evaluate(network, plan, chip), simulate(network, plan, chip)
        for i, cost in enumerate(priced.subgraphs):
            moved = {kind: 0 for kind in ("inputs", "weights", "outputs")}
            for each in run.slices:
                if each.subgraph == i and each.kind in moved:
                    moved[each.kind] += each.size_bytes
            assert tuple(moved.values()) == (cost.ema_input_bytes, cost.ema_weight_bytes, cost.ema_output_bytes)
        kept = {use.kept_bytes for use in run.uses[:-1]}
        assert kept == {cost.kept_bytes for cost in priced.subgraphs}
        for use in run.uses:
            assert all(size >= 0 for held in buffers(run, use).values() for size in held.values())
        computing, crossing = priced.compute_cycles, priced.ema_bytes / chip.dram_bytes_per_cycle
        assert max(computing, crossing) <= run.cycles <= computing + crossing


@each_seed(20, 40)
def test_the_trace_has_a_slice_for_each_interval_from_its_first_step_to_the_end_of_its_last(seed):
    found = random_kept(seed)
    if found is None:
        return
    network, plan, batch = found
    priced = evaluate(network, plan, Accelerator(shared_buffer=10**8, batch=batch))
    run, clock = priced.simulation, 1000 * priced.accelerator.technology.clock_ghz
    events = chrome_trace(network, priced)["traceEvents"]
    slices = [event for event in events if event.get("cat") == "kept"]
    assert [event["name"] for event in slices] == [each.interval.tensor for each in priced.keep]
    for event, each in zip(slices, priced.keep):
        start, stop = run.spans[each.interval.from_step][0], run.spans[each.interval.until_step][1]
        assert event["ts"] == start / (clock * run.slots_per_cycle)
        assert event["dur"] == (stop - start) / (clock * run.slots_per_cycle)
        assert event["args"]["bytes"] == each.size_bytes
    for one, other in combinations(slices, 2):
        if one["tid"] == other["tid"]:
            assert one["ts"] + one["dur"] <= other["ts"] + 1e-9 or other["ts"] + other["dur"] <= one["ts"] + 1e-9
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {"kept 1"} <= names if slices else not any(name.startswith("kept") for name in names)
