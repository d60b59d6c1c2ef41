"""Results that take the place of an operand, executed: values, bytes, addresses; and plans that give up too early."""

from __future__ import annotations

import random

import pytest

from cocco.allocation.address_map import map_of
from simulator import Accelerator, Partition
from simulator.execution import verify
from simulator.execution.judge import judge
from simulator.execution.layer.common import following
from simulator.model import rules as rules_of_model
from simulator.model.buffer_plan import make_plan
from simulator.model.nests.epilogue import Followed
from simulator.model.priced import price_partition
from tests.helpers.parts import few_seeds, in_parts
from tests.helpers.place_networks import place_network
from tests.helpers.random_kept import random_kept_plan
from workloads import Builder

MAP = 12 * 3 * 16  #: bytes of every tensor of the blocks


def block(*ends: str):
    """x -> s -> a; then b (3x3) of a, what follows it, and the sum with s or, if ends has "window", b of s itself."""
    b = Builder("block")
    s = b.conv("s", b.input("x", 12, 3, 16), 16)
    made = b.conv("b", s if "window" in ends else b.conv("a", s, 16), 16, 3, padding=1)
    for each in ends:
        made = b.layernorm("norm", made) if each == "norm" else made
    b.conv("end", b.add("sum", [made, s]), 16)
    return b.build()


def plan_of(network, keep):
    names = [layer.name for layer in network.layers]
    middle = [name for name in names if name in ("b", "norm", "sum")]
    steps = [[name] for name in names if name in ("s", "a")] + [middle, ["end"]]
    return Partition.from_groups(network, steps, "ema", keep)


def test_a_sum_lies_where_its_operand_lay():
    """Kept: s and a, then s where the sum is, which stays: two maps in step 2, not three, beside 8 x 16 weights x 9."""
    network = block()
    plan = plan_of(network, ["s", "a", "sum"])
    found = price_partition(network, plan, Accelerator(shared_buffer=8192))
    assert [price.kept_bytes for price in found.prices] == [MAP, 2 * MAP, 2 * MAP, MAP]
    need = max(price.kept_bytes + price.activation_bytes + price.weight_bytes for price in found.prices)
    for size, fits in ((2 * MAP + 32 + 72 * 8, True), (2 * MAP + 31, False)):
        assert price_partition(network, plan, Accelerator(shared_buffer=size)).fits == fits, need


def check(network, plan, accelerator) -> int:
    """Execute a plan, at addresses where it has them, and in one byte less; return how many results take a place."""
    found = price_partition(network, plan, accelerator)
    if not found.fits or not plan.keep:
        return 0
    placed = map_of(make_plan(found))
    addresses = {each.memory: each.addresses for each in placed.memories} if placed.fits else None
    said = verify(network, plan, accelerator, addresses=addresses)
    assert said.verified, said.message
    needs = [price.kept_bytes + price.activation_bytes + price.weight_bytes for price in found.prices]
    assert not judge(network, Accelerator(shared_buffer=max(needs), batch=accelerator.batch), plan, found.prices)[1]
    assert judge(network, Accelerator(shared_buffer=max(needs) - 1, batch=accelerator.batch), plan, found.prices)[1]
    sizes = [sum(found.rules.whole_bytes(u) for u in step.kept) for step in found.steps]
    return sum(price.kept_bytes < size for price, size in zip(found.prices, sizes))


def check_random(seed: int) -> int:
    rng = random.Random(seed)
    network = place_network(rng, rng.randint(3, 7))
    plan, size = random_kept_plan(network, seed), rng.choice((10**6, 4096, 2048, 1024))
    return check(network, plan, Accelerator(shared_buffer=size, batch=rng.choice((1, 2))))


@few_seeds(30, 80)
def test_random_plans_run_with_results_in_places_of_operands(seeds):
    assert sum(check_random(seed) for seed in seeds) > len(seeds) // 8


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(60, 1_060))
def test_many_random_plans_run(seeds):
    assert sum(check_random(seed) for seed in seeds) > 0


@pytest.mark.parametrize("ends", [("window",), ("norm",)])
def test_an_operand_that_is_still_read_does_not_give_its_place(ends, monkeypatch):
    """Windows of later rows read it, or what is stored before the sum would overwrite it."""
    network = block(*ends)
    plan, machine = plan_of(network, ["s", "sum"]), Accelerator(shared_buffer=4 * MAP)
    assert check(network, plan, machine) == 0
    honest = rules_of_model.places_of

    def wrong(network, layers, nest=None):
        pairs = honest(network, layers, nest)
        return (*pairs, (network.index["s"], nest.result)) if isinstance(nest, Followed) else pairs

    monkeypatch.setattr(rules_of_model, "places_of", wrong)
    said = verify(network, plan, machine)
    assert not said.verified and "kept_bytes" in said.message
    pair = network.index["s"], network.index["sum"]

    def blind(found, lies, elsewhere):
        small = {layer.name: v for v, layer in enumerate(found.network.layers)}
        if found.network.name == network.name and pair[1] in lies.on_chip and "sum" in small:
            return pair
        return None

    monkeypatch.setattr(following, "_place_of", blind)
    said = verify(network, plan, machine)
    assert not said.verified and "differs" in said.message
