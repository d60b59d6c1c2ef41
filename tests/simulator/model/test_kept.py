"""Prices beside kept tensors: a residual block in three steps by hand, and what holds of random plans."""

from __future__ import annotations

import random

import pytest

from simulator import Accelerator, Partition, evaluate
from simulator.metrics import METRIC_NAMES
from simulator.model.kept import Kept, Reserved
from simulator.model.layer.cheapest import Room, cheapest_plan
from simulator.model.layer.least_room import can_run
from simulator.model.priced import price_partition
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_layers import random_layer
from tests.helpers.random_plans import random_plan
from workloads import Builder

MAP = 8 * 8 * 8  #: bytes of every tensor of the block
STEPS = [["s"], ["a", "b"], ["add"]]


def block():
    """x -> s (1x1, 64 B of weights) -> a -> b (3x3, 576 B each) -> add, which also reads s."""
    b = Builder("block")
    s = b.conv("s", b.input("x", 8, 8, 8), 8, 1)
    second = b.conv("b", b.conv("a", s, 8, 3, padding=1), 8, 3, padding=1)
    b.add("add", [s, second])
    return b.build()


def plan_of(keep):
    return Partition.from_groups(block(), STEPS, "ema", keep)


def test_a_residual_block_in_three_steps():
    """Kept: s in steps 0 to 2, b in 1 and 2, so x comes in, add goes out, and weights cross: 512 + 512 + 1,216.

    Step 0 loads x, reads it through the windows and writes s to its map: 3 maps through the buffer. Step 1 reads s,
    makes a, reads it, makes b: 4. Step 2 reads s and b, makes add and stores it: 4. Weights are loaded and read once.
    """
    found = price_partition(block(), plan_of(["s", "b"]), Accelerator(shared_buffer=8192))
    assert [price.ema_bytes for price in found.prices] == [64 + MAP, 1152, MAP]
    assert [price.kept_bytes for price in found.prices] == [MAP, 2 * MAP, 2 * MAP]
    assert [price.global_buffer_bytes for price in found.prices] == [3 * MAP, 4 * MAP, 4 * MAP]
    assert [price.weight_buffer_bytes for price in found.prices] == [2 * 64, 2 * 1152, 0]
    assert found.prices[1].activation_bytes == MAP  # a alone: s and b have no regions


def test_what_is_saved_and_what_is_said():
    """Without, s is stored once and loaded twice, b stored and loaded: five maps."""
    found = evaluate(block(), plan_of(["s", {"tensor": "b"}]), Accelerator(shared_buffer=8192))
    content = found.to_json()
    assert content["totals"]["kept_saved_bytes"] == found.kept_saved_bytes == 5 * MAP
    assert content["keep"] == [
        {"tensor": "s", "from": "s", "until": "add", "bytes": MAP},
        {"tensor": "b", "from": "b", "until": "add", "bytes": MAP},
    ]
    assert [each["kept_bytes"] for each in content["subgraphs"]] == [MAP, 2 * MAP, 2 * MAP]
    assert set(found.subgraphs[1].regions) == {"a"}
    assert f"kept     s, b, which saves {5 * MAP:,} B" in found.summary()
    plain = evaluate(block(), plan_of([]), Accelerator(shared_buffer=8192)).to_json()
    assert (
        "keep" not in plain and "kept_saved_bytes" not in plain["totals"] and "kept_bytes" not in plain["subgraphs"][0]
    )


def test_a_step_needs_what_is_kept_beside_its_regions_and_weights():
    """Step 1: s and b whole, three rows of a (for one row of b) and 1,152 B of weights; one byte less is short."""
    need = 2 * MAP + 3 * 8 * 8 + 1152
    assert evaluate(block(), plan_of(["s", "b"]), Accelerator(shared_buffer=need, plans="paper")).fits
    found = evaluate(block(), plan_of(["s", "b"]), Accelerator(shared_buffer=need - 1, plans="paper"))
    (short,) = found.infeasible
    assert (short.step, short.layers, short.needed_bytes, short.available_bytes) == (1, ("a", "b"), need, need - 1)
    assert str(short).startswith("step 1, subgraph [a, b]: ") and short.to_json()["step"] == 1


def test_an_input_that_is_kept_from_a_reader_on_is_loaded_once():
    """s is written, loaded whole by step 1, and stays for step 2: one map less than without."""
    found = price_partition(block(), plan_of([{"tensor": "s", "from": "a"}]), Accelerator(shared_buffer=8192))
    assert [price.ema_input_bytes for price in found.prices] == [MAP, MAP, MAP]  # x; s; b
    assert [price.ema_output_bytes for price in found.prices] == [MAP, MAP, MAP]
    assert [price.kept_bytes for price in found.prices] == [0, MAP, MAP]


def test_kept_tensors_that_do_not_fit_are_an_answer():
    """What is needed is that of the whole step, so that the memory that is asked for suffices for it."""
    found = evaluate(block(), plan_of(["s"]), Accelerator(shared_buffer=MAP - 1))
    assert not found.fits
    for short in found.infeasible:
        assert short.reason == "kept tensors exceed the buffer" and short.needed_bytes > MAP
        for size, fits in ((short.needed_bytes, True), (short.needed_bytes - 1, False)):
            again = evaluate(block(), plan_of(["s"]), Accelerator(shared_buffer=size))
            assert (short.step not in [each.step for each in again.infeasible]) == fits


def test_each_kept_tensor_is_a_region():
    """Step 1 has a and b, reads s, and x stays on chip meanwhile: four."""
    b = Builder("block")
    x = b.input("x", 8, 8, 8)
    s = b.conv("s", x, 8, 1)
    second = b.conv("b", b.conv("a", s, 8, 3, padding=1), 8, 3, padding=1)
    b.add("add", [x, second])
    network = b.build()
    plan = Partition.from_groups(network, STEPS, "ema", ["x"])
    assert evaluate(network, plan, Accelerator(shared_buffer=2**20, max_regions=4)).fits
    found = evaluate(network, plan, Accelerator(shared_buffer=2**20, max_regions=3))
    assert [each.step for each in found.infeasible] == [1]
    assert found.infeasible[0].reason.startswith("4 tensors (layers, inputs, kept) exceed the 3 regions")


def random_machine(rng):
    """Return a machine of any size: shared or not, one core or more, a few samples."""
    buffers = {"shared_buffer": int(10 ** rng.uniform(2.5, 5))}
    if rng.random() < 0.5:
        buffers = {"global_buffer": int(10 ** rng.uniform(2.5, 5)), "weight_buffer": int(10 ** rng.uniform(2, 4))}
    return Accelerator(**buffers, batch=rng.choice((1, 1, 2, 3)), cores=rng.choice((1, 1, 2)))


@each_seed(20, 40)
def test_where_nothing_stays_prices_are_as_before(seed):
    """A subgraph whose inputs are all loaded and whose outputs are all written, in all its numbers."""
    rng, network = random.Random(seed), random_network(seed, whole=seed % 2 == 1)
    chip = random_machine(rng)
    rules = PricingRules(Geometry(network), chip, "exact", rng.choice(METRIC_NAMES))
    for group in random_plan(network, seed).subgraphs:
        plain = SubgraphModel(rules, group)
        nothing = Kept(frozenset(), frozenset(plain.subgraph.inputs), frozenset(plain.subgraph.outputs))
        capacities = chip.activation_capacity, chip.weight_capacity
        assert SubgraphModel(rules, group, nothing).price(*capacities)[:7] == plain.price(*capacities)[:7]
        assert SubgraphModel(rules, group, nothing).price(*capacities, Reserved()) == plain.price(*capacities)


@each_seed(30, 60)
def test_totals_are_those_of_the_definition(seed):
    """Bytes that cross where everything fits, and what is kept, from the intervals alone, step by step."""
    network = random_network(seed, whole=False)  # x times x, both from DRAM, is read twice in loops
    plan, batch = random_kept_plan(network, seed), 1 + seed % 3
    found = price_partition(network, plan, Accelerator(shared_buffer=10**8, batch=batch))
    size = [tensor.size_bytes for tensor in network.tensors]
    on_chip = {(u, step) for u, first, last in (each.span for each in plan.keep) for step in range(first + 1, last + 1)}
    reads = [{p for v in group for p in network.producers[v]} - set(group) for group in plan.subgraphs]
    loads = [{u for u in each if (u, step) not in on_chip} for step, each in enumerate(reads)]
    for step, (group, price) in enumerate(zip(plan.subgraphs, found.prices)):
        if isinstance(price, Shortage):
            assert price.needed_bytes is None  # a rule is broken
            continue
        stores = {v for v in group if not network.consumers[v] or any(v in each for each in loads)}
        assert price.ema_input_bytes == batch * sum(size[u] for u in loads[step])
        assert price.ema_output_bytes == batch * sum(size[v] for v in stores)
        assert price.ema_weight_bytes == sum(network.layers[v].weight_bytes for v in group)
        kept = {each.tensor_id for each in plan.keep if each.from_step <= step <= each.until_step}
        sizes = {u: t.height * t.width * -(-t.channels // 8) * 8 * batch for u, t in enumerate(network.tensors)}
        ending = {u for u in kept if (u, step) in on_chip and not any(u in each for each in reads[step + 1 :])}
        made = kept.intersection(group) if price.loops is not None else set()  # in the place of one that ends
        assert sum(sizes[u] for u in kept) - price.kept_bytes in {0, *(sizes[v] for v in made if ending)}


@each_seed(30, 60)
def test_what_stays_never_makes_a_step_larger_or_dearer(seed):
    """In the same room: less is needed, fewer bytes cross and move."""
    network = random_network(seed, whole=seed % 2 == 1)
    plan = random_kept_plan(network, seed)
    chip = Accelerator(shared_buffer=10**8)
    found = price_partition(network, plan, chip)
    for group, model, price in zip(plan.subgraphs, found.models, found.prices):
        if isinstance(price, Shortage) or model.kept is None:
            continue
        plain = SubgraphModel(found.rules, group)
        assert model.least_activation <= plain.least_activation
        least = plain.price(10**8, 0)
        assert isinstance(least, Price)
        assert price.ema_bytes <= least.ema_bytes and price.global_buffer_bytes <= least.global_buffer_bytes


@pytest.mark.parametrize("seed", first_of(range(150), 50))
def test_a_layer_runs_wherever_its_least_room_says(seed):
    """Loops of a layer with kept operands and results: some order fits if and only if the least room does."""
    rng = random.Random(seed)
    network = random_layer(rng)
    inputs = set(network.operands[0])
    on_chip = frozenset(u for u in (*sorted(inputs), 0) if rng.random() < 0.6)
    kept = Kept(on_chip, frozenset(inputs - on_chip), frozenset({0} - on_chip))
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=1, batch=rng.choice((1, 2, 3))), "exact")
    layer, goal = rules.loop_layer(0, kept), rules.goal(1024, 1024)
    for _ in range(12):
        room = Room(int(10 ** rng.uniform(0.8, 4)), rng.choice((None, int(10 ** rng.uniform(0.8, 4)))))
        assert (cheapest_plan(layer, room, goal) is not None) == can_run(layer, room)
