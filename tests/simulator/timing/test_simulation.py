"""The event simulation: small runs worked by hand, in slots (16 to a cycle, one byte each), and what holds for all."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulator import Accelerator, KiB, Partition, Technology, evaluate, timeline
from simulator.model.priced import price_partition
from simulator.model.pricing import Price
from simulator.partition.schemes import CORE_SCHEMES
from simulator.timing import simulate, stages
from simulator.timing.crossing import crossing_of, working_cores
from simulator.timing.simulation import simulate_priced
from tests.helpers.graphs import chain, conv
from tests.helpers.random_cores_plans import random_cores_plan
from tests.helpers.random_graphs import large_network, random_network
from tests.helpers.random_plans import random_plan
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

ROOMY = Accelerator(shared_buffer=64 * KiB)


def row(count: int, height: int, width: int, kernel: int = 1) -> Network:
    """x -> conv "0" (kernel x kernel) -> 1x1 convs "1", ...; 8 channels everywhere."""
    shape = (height, width, 8)
    first = conv("0", "x", shape, 8, kernel, 1, kernel // 2)
    return Network(
        "row", (Tensor("x", *shape),), (first, *(conv(str(i), str(i - 1), shape, 8) for i in range(1, count)))
    )


def drawn(found, *kinds):
    """Return (kind, layer, start, stop) of the slices of these kinds."""
    return [(each.kind, each.layer, each.start, each.stop) for each in found.slices if each.kind in kinds]


def test_one_layer_loads_computes_and_stores():
    """4x4x8 -> 4x4x8: 128 bytes in, 64 of weights, one cycle (16 slots), 128 bytes out."""
    network = row(1, 4, 4)
    found = simulate(network, Partition.layerwise(network), ROOMY)
    assert drawn(found, "inputs", "weights", "compute", "outputs") == [
        ("inputs", "", 0, 128), ("weights", "0", 128, 192), ("compute", "0", 192, 208), ("outputs", "", 208, 336),
    ]  # fmt: skip
    assert found.cycles == 336 / 16
    assert found.uses[0][1:5] == (256, 0, 0, 0) and found.uses[1][1:5] == (256, 0, 64, 0)


def test_the_next_weights_come_while_the_channel_is_idle():
    """As above; of the 64 bytes of the second 16 come while the first computes, the others after it."""
    network = row(2, 4, 4)
    found = simulate(network, Partition.layerwise(network), ROOMY)
    assert found.spans == ((0, 208), (208, 336 + 128 + 48 + 16 + 128))
    assert drawn(found, "weights")[1:] == [("weights", "1", 192, 208), ("weights", "1", 208, 256)]
    assert found.prefetched_bytes(1) == 16


def test_without_room_the_next_weights_come_after_the_inputs():
    network = row(2, 4, 4)
    found = simulate(network, Partition.layerwise(network), Accelerator(global_buffer=64 * KiB, weight_buffer=64))
    assert found.spans == ((0, 208), (208, 336 + 128 + 64 + 16 + 128))
    assert found.prefetched_bytes(1) == 0


def test_with_some_room_some_of_the_next_weights_come():
    """a has 1152 bytes of weights, b 2304, in a buffer of 2304: half of b's fit beside a's.

    a: 2048 + 1152 loaded, 288 cycles to 7808, 4096 stored to 11,904, when b's inputs can come. b: 4096 and the other
    half loaded, which may come from 7808 on, 144 cycles, 1024 stored.
    """
    network = Network("two", chain().inputs, chain().layers[:2])
    plan = Partition.layerwise(network)
    half = simulate(network, plan, Accelerator(global_buffer=64 * KiB, weight_buffer=2304))
    assert half.prefetched_bytes(1) == 1152
    assert half.spans == ((0, 7808), (7808, 11_904 + 4096 + 1152 + 144 * 16 + 1024))
    assert half.uses[2][3:5] == (1152, 1152)
    full = simulate(network, plan, ROOMY)
    assert full.end == half.end - 1152


def test_three_row_operations_of_a_chain_without_room_ahead():
    """6x2x8 -> 3x3 -> 1x1 in tiles of 2 rows: x takes 3, 2 and 1 rows of 16 bytes, 128 + 640 bytes are held.

    "0" takes 18 cycles (96 slots an operation), "1" two (10, 11, 11). Weights: 576 and 64.
    Operation 1: rows at 0, weights at 48 and 624, "0" from 624, "1" from 720 to 730. Its 32 bytes go then, and its
    successor's rows come at 762; so operation 2 computes from 794 to 901, operation 3 from 949 to 1056.
    """
    network = row(2, 6, 2, kernel=3)
    found = simulate(
        network, Partition.from_groups(network, [["0", "1"]]), Accelerator(shared_buffer=768, plans="paper")
    )
    assert drawn(found, "inputs") == [("inputs", "", 0, 48), ("inputs", "", 762, 794), ("inputs", "", 933, 949)]
    assert drawn(found, "weights") == [("weights", "0", 48, 624), ("weights", "1", 624, 688)]
    assert drawn(found, "compute") == [
        ("compute", "0", 624, 720), ("compute", "1", 720, 730), ("compute", "0", 794, 890),
        ("compute", "1", 890, 901), ("compute", "0", 949, 1045), ("compute", "1", 1045, 1056),
    ]  # fmt: skip
    assert found.spans == ((0, 1056 + 32),)


def test_three_row_operations_of_a_chain_with_room_ahead():
    """64 bytes more hold two rows of x ahead and two of "1" behind: computing waits for nothing after 624.

    At 720 the rows of operation 3 begin to come, until operation 1 has rows to store, at 730.
    """
    network = row(2, 6, 2, kernel=3)
    plan = Partition.from_groups(network, [["0", "1"]])
    tight = price_partition(
        network, plan, Accelerator(shared_buffer=768, plans="paper")
    )  # in 832 it would take tiles of 3 rows
    found = simulate_priced(replace(tight, accelerator=Accelerator(shared_buffer=832)))
    assert drawn(found, "inputs") == [
        ("inputs", "", 0, 48), ("inputs", "", 688, 720), ("inputs", "", 720, 730), ("inputs", "", 762, 768),
    ]  # fmt: skip
    assert drawn(found, "outputs") == [("outputs", "", 730, 762), ("outputs", "", 837, 869), ("outputs", "", 944, 976)]
    assert drawn(found, "compute")[-1] == ("compute", "1", 933, 944)
    assert max(use.row_bytes for use in found.uses) == 32 + 10


def test_chunks_of_a_layer_that_does_not_fit_come_ahead_where_there_is_room_for_two():
    """32 outputs x 8 inputs, 3x3: 2304 bytes of weights; 16 x 16 maps of 2048 and 8192 bytes are held."""
    network = Network("one", (Tensor("x", 16, 16, 8),), (conv("a", "x", (16, 16, 32), 8, 3, 1, 1),))
    plan = Partition.layerwise(network)
    narrow, wide = (Accelerator(global_buffer=64 * KiB, weight_buffer=size) for size in (576, 1152))
    priced = price_partition(network, plan, narrow)
    alone, two = (simulate_priced(replace(priced, accelerator=chip)) for chip in (narrow, wide))
    assert [each.size_bytes for each in alone.slices if each.kind == "weights"] == [576] * 4
    assert [max(use.weight_bytes for use in found.uses) for found in (alone, two)] == [576, 1152]
    assert two.end < alone.end


def test_a_partition_that_cannot_run_has_no_latency():
    with pytest.raises(ValueError, match="cannot run"):
        simulate(chain(), Partition.from_groups(chain(), [["a", "b"]]), Accelerator(shared_buffer=64))


def test_an_evaluation_simulates_when_it_is_asked_only():
    found = evaluate(chain(), Partition.layerwise(chain()), ROOMY)
    assert "simulation" not in vars(found)
    assert found.latency_executed_cycles == found.simulation.cycles == found.totals()["latency_executed_cycles"]
    tight = evaluate(chain(), Partition.from_groups(chain(), [["a", "b"]]), Accelerator(shared_buffer=64))
    assert tight.latency_executed_cycles == math.inf


def dealt(width: int) -> tuple[Network, Partition, Accelerator]:
    """Return a 1x1 convolution of 4x4x16, its channels dealt to two cores with a crossbar of this width."""
    shape = (4, 4, 16)
    network = Network("dealt", (Tensor("x", *shape),), (conv("0", "x", shape, 16),))
    technology = Technology(crossbar_bytes_per_cycle=width)
    chip = Accelerator(shared_buffer=64 * KiB, cores=2, technology=technology)
    return network, Partition.from_groups(network, [["0"]], schemes=["channels"]), chip


def test_bytes_cross_while_the_layer_computes_that_reads_them():
    """256 bytes in, 256 of weights, 256 out at 32 in a cycle. Each core makes 8 channels and reads 16 x 16 bytes, half
    of them of the other: 256 cross, at 64 in a cycle 4 cycles; it computes for 2.
    """
    network, plan, chip = dealt(32)
    found = simulate(network, plan, chip)
    (price,) = evaluate(network, plan, chip).subgraphs
    assert (price.crossbar_bytes, price.compute_cycles) == (256, 2)
    assert drawn(found, "compute", "crossbar") == [("compute", "0", 512, 576), ("crossbar", "0", 512, 640)]
    assert found.end == 640 + 256 and found.working == ({"0": (0, 1)},)


def test_a_narrow_crossbar_decides_both_latencies():
    """At 2 bytes in a cycle 256 take 128 cycles: longer than DRAM, 768 at 32 in a cycle, 24 cycles."""
    network, plan, chip = dealt(1)
    found = evaluate(network, plan, chip)
    assert found.latency_cycles == 128
    assert found.latency_executed_cycles == (256 + 256) / 32 + 128 + 256 / 32
    assert timeline(network, found).latency_cycles == found.latency_cycles
    assert timeline(network, found, prefetch=True).latency_cycles == found.latency_executed_cycles


def test_each_layer_has_the_bytes_that_it_reads_from_other_cores():
    """Summed they are those of the price, in every scheme; the cores that work are those that have some of a layer."""
    seen = set()
    for seed in [*range(57), 144, 153, 237]:
        network, plan, chip = random_cores_plan(seed)
        priced = price_partition(network, plan, chip)
        for model, price in zip(priced.models, priced.prices):
            if isinstance(price, Price):
                found = crossing_of(model, price)
                assert sum(found.values()) == price.crossbar_bytes and min(found.values()) >= 0
                working = working_cores(model, price)
                assert set(working) == set(model.subgraph.layers)
                assert all(cores and list(cores) == sorted(set(cores)) for cores in working.values())
                assert max(max(cores) for cores in working.values()) < chip.cores
                seen |= {price.scheme} if price.crossbar_bytes else set()
    assert seen == set(CORE_SCHEMES)


MACHINES = st.fixed_dictionaries({
    "cores": st.integers(1, 3), "batch": st.integers(1, 4),
    "technology": st.sampled_from([
        Technology(), Technology(dram_bytes_per_cycle=1), Technology(crossbar_bytes_per_cycle=1),
        Technology(dram_bytes_per_cycle=7, crossbar_bytes_per_cycle=3),
    ]),
})  # fmt: skip


RUNS = st.tuples(
    st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 20_000), st.integers(1, 4000), st.booleans(), MACHINES,
    st.sampled_from(["exact", "paper"]), st.booleans(), st.sampled_from([10, 10_000]),
)  # fmt: skip


def what_holds_of_a_run(seed, cuts, size, weights, is_shared, machine, rule, is_large, most):
    network = large_network(seed) if is_large else random_network(seed, whole=bool(seed % 2))
    memory = {"shared_buffer": size} if is_shared else {"global_buffer": size, "weight_buffer": weights}
    chip = Accelerator(**memory, **machine)
    plan = random_plan(network, cuts)
    plan = plan if evaluate(network, plan, chip, rule).fits else Partition.layerwise(network)
    priced = price_partition(network, plan, chip, rule)
    assume(priced.fits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "MOST_EVENTS", most)
        found = simulate_priced(priced)
    prices = [price for price in priced.prices if isinstance(price, Price)]
    computing = sum(price.compute_cycles for price in prices) * found.slots_per_cycle
    moved = sum(price.ema_bytes for price in prices)
    crossing = [
        sum(crossing_slots(size, chip) for size in crossing_of(model, price).values())
        for model, price in zip(priced.models, prices)
    ]
    assert max(computing, moved, sum(crossing)) <= found.end <= computing + moved + sum(crossing)
    check_tracks(found, computing, moved)
    passed = [each for each in found.slices if each.kind == "crossbar"]
    for i, price in enumerate(prices):
        own = [each for each in passed if each.subgraph == i]
        assert sum(each.size_bytes for each in own) == price.crossbar_bytes
        assert sum(each.stop - each.start for each in own) == crossing[i]
    check_room(found)
    check_order(found)
    loaded = 0
    for i, (price, (start, stop)) in enumerate(zip(prices, found.spans)):
        assert stop - start >= max(price.compute_cycles * found.slots_per_cycle, crossing[i])
        loaded += price.ema_bytes - price.ema_output_bytes
        assert stop >= loaded
    return found


@settings(deadline=None, max_examples=40)
@given(RUNS)
def test_what_holds_of_every_run(run):
    """Never below compute, DRAM, crossbar; per subgraph never below the longest, of DRAM what it moves meanwhile."""
    what_holds_of_a_run(*run)


@pytest.mark.slow
@settings(deadline=None, max_examples=2000)
@given(RUNS)
def test_what_holds_of_many_runs(run):
    what_holds_of_a_run(*run)


def test_looking_further_ahead_is_hardly_ever_slower():
    """What comes early takes room that rows could have used: 2.5 % at most here; few are slower at all."""
    slower = count = 0
    for seed in range(60):
        rng = random.Random(seed)
        network = (large_network if seed % 2 else random_network)(rng.randrange(10**6))
        chip = Accelerator(shared_buffer=int(2 ** rng.uniform(9, 15)))
        priced = price_partition(network, random_plan(network, rng.randrange(10**6)), chip)
        if priced.fits:
            one, every = (simulate_priced(priced, ahead).end for ahead in (1, None))
            assert every <= 1.025 * one
            slower, count = slower + (every > one), count + 1
    assert count > 20 and slower <= count // 5


def crossing_slots(size, chip):
    """Bytes of a layer over what all ports take in a slot: n ports of the crossbar in a cycle, which has n DRAM ports'
    slots.
    """
    technology = chip.technology
    return -(-size * technology.dram_bytes_per_cycle // technology.crossbar_bytes_per_cycle)


def check_tracks(found, computing, moved):
    """Nothing happens twice at once, all of it happens, and computing in the span of its subgraph."""
    array = [each for each in found.slices if each.kind == "compute"]
    dram = [each for each in found.slices if each.kind not in ("compute", "crossbar")]
    for track in (array, dram, [each for each in found.slices if each.kind == "crossbar"]):
        assert all(before.stop <= after.start for before, after in pairwise(track))
    assert sum(each.stop - each.start for each in array) == computing
    assert sum(each.stop - each.start for each in dram) == sum(each.size_bytes for each in dram) == moved
    assert [start for start, _ in found.spans] == [0, *(stop for _, stop in found.spans[:-1])]
    for each in array:
        assert found.spans[each.subgraph][0] <= each.start <= each.stop <= found.spans[each.subgraph][1]


def check_order(found):
    """What an operation loads is there before it computes, it stores after; loads wait for the rows that they read."""
    begin, end, stored = {}, {}, {}
    for each in found.slices:
        key = each.subgraph, each.stage
        if each.kind in ("compute", "crossbar"):
            begin[key] = min(begin.get(key, each.start), each.start)
            begin[*key, each.layer] = each.start
            end[key] = max(end.get(key, 0), each.stop)
        elif each.kind == "outputs":
            stored[each.subgraph] = max(stored.get(each.subgraph, 0), each.stop)
    makers = {v: i for i, model in enumerate(found.priced.models) for v in model.subgraph.layers}
    for each in found.slices:
        key = each.subgraph, each.stage
        if each.kind == "outputs":
            assert each.start >= end.get(key, 0)
        elif each.kind == "inputs":
            assert key not in begin or each.stop <= begin[key]
            made = {makers.get(u) for u in found.priced.models[each.subgraph].subgraph.loaded}
            assert all(each.start >= stored.get(i, 0) for i in made)
        elif each.kind == "weights":
            assert (*key, each.layer) not in begin or each.stop <= begin[*key, each.layer]
        assert each.until >= each.start


def check_room(found):
    chip = found.accelerator
    for use in found.uses:
        rows, weights = use.activation_bytes + use.row_bytes, use.weight_bytes + use.next_weight_bytes
        if chip.is_shared:
            assert rows + weights <= chip.activation_capacity
        else:
            assert rows <= chip.activation_capacity and weights <= chip.weight_capacity
    assert all(before.start < after.start for before, after in pairwise(found.uses))
