"""What language models have costs in the compiled engine what it costs in the readable one, to the byte."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

import cocco
from cocco.bounds.cheapest import cheapest_plans, compiled_prices, kept_price
from cocco.effort.settings import Settings
from cocco.search.exact.question import KeptStep
from cocco.search.kernel.choice import engine_name, has_kernel
from cocco.search.kernel.compiled import Compiled
from simulator import Accelerator
from simulator.model.cost import METRICS, total
from simulator.model.kept import Kept
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.loops import loop_layer
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import connected_parts
from simulator.partition.steps import steps_of
from tests.helpers.every_kept_plan import as_set
from tests.helpers.parts import first_of
from tests.helpers.random_attention import random_attention_in_blocks, random_attention_product
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_language import KINDS, random_language_problem
from tests.helpers.twin_search import assert_same_search
from workloads import Builder, Experts

if has_kernel():
    from cocco.search.kernel._model import LoopLayers

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")

KEEPS_ROWS = (3045, 5285, 5730, 7426, 7682, 8732, 10687, 11802)  #: products whose cheapest order is TP beside a cache
FEW, MANY = first_of([range(7), range(300)], 1)


def in_memory(problem, rng):
    """Return a problem on given hardware in buffers of other sizes, too little to ample."""
    names = ["shared_buffer"] if problem.accelerator.is_shared else ["global_buffer", "weight_buffer"]
    sizes = {name: int(2 ** rng.uniform(4, 16)) for name in names}
    return replace(problem, accelerator=replace(problem.accelerator, **sizes))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_searches_are_the_same(seeds, kind):
    """Spaces and given hardware: genomes and costs of every generation."""
    for seed in seeds:
        problem = random_language_problem(seed, kind)
        assert engine_name(None, problem) == "fast"
        assert_same_search(problem, Settings(population=16, elite=3), 40)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_steps_beside_kept_tensors_are_the_same(seeds, kind):
    """Of random plans in random order, in three memories each."""
    kept = fits = 0
    for seed in seeds:
        rng = random.Random(seed)
        like = random_language_problem(seed, kind, is_given=True)
        plan = random_kept_plan(like.networks[0], seed)
        for _ in range(3):
            problem = in_memory(like, rng)
            readable, twin = kept_price(problem), compiled_prices(problem)
            metric = METRICS[problem.objective.metric]
            for group, step in zip(plan.subgraphs, steps_of(problem.networks[0], plan)):
                asked = KeptStep(
                    group, *map(as_set, (step.touched, step.loaded, step.written)),
                    sum(map(problem.rules[0].whole_bytes, step.kept)), len(step.kept) - len(step.touched),
                )  # fmt: skip
                expected = readable(asked)
                assert twin.price(*asked) == (None if expected is None else tuple(expected)), (seed, asked)
                assert twin.cost(*asked) == (math.inf if expected is None else metric(expected, problem.accelerator))
                kept, fits = kept + (asked.kept_bytes > 0), fits + (asked.kept_bytes > 0 and expected is not None)
    assert kept > 6 * len(seeds) and kept > fits > 0.3 * kept


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_parts_are_the_same(seeds, kind):
    """Connected parts of networks, in five memories each, without kept tensors."""
    found = 0
    for seed in seeds:
        rng = random.Random(seed)
        problem = random_language_problem(seed, kind, is_given=True)
        (network,), (rules,) = problem.networks, problem.rules
        twin, first = Compiled(problem), rng.randrange(problem.size)
        for part in connected_parts(network, range(first, rng.randint(first, problem.size - 1) + 1)):
            for _ in range(5):
                sizes = int(2 ** rng.uniform(6, 18)), int(2 ** rng.uniform(3, 15))
                price = SubgraphModel(rules, part).price(*sizes)
                expected = total([price], problem.accelerator) if isinstance(price, Price) else None
                assert twin.price(part, *sizes) == expected, (seed, part, sizes)
                found += expected is not None
    assert found > len(seeds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_proofs_are_the_same(seeds, kind):
    """Cost, plan, states, steps, and why there is none; with little and with ample budgets, kept or not."""
    plans = 0
    for seed in seeds:
        problem = random_language_problem(seed, kind, is_given=True)
        budget = (40, 3_000) if seed % 3 == 0 else (3_000, 20_000)
        readable = cheapest_plans(problem, *budget, seed % 5 > 0, "reference")
        assert cheapest_plans(problem, *budget, seed % 5 > 0, "fast") == readable, seed
        plans += readable.is_proven
    assert plans > len(seeds) // 4


def test_loop_orders_beside_part_of_a_second_operand_are_the_same():
    """Products of one layer whose cache, or whose new rows, are on chip; orders that keep some of its rows, too."""
    partly = 0
    for seed in (*range(150), *KEEPS_ROWS):
        rng = random.Random(seed)
        network = random_attention_product(rng)
        seconds = network.operands[0][1:]
        on_chip = frozenset(u for u in seconds if rng.random() < 0.6)
        layer = loop_layer(network, 0, 1, kept=Kept(on_chip, frozenset({1, 2, 3}) - on_chip, frozenset({0})))
        goal = Goal(rng.choice(("ema", "energy")), 100.0, 1.0, 1.0)
        for _ in range(3):
            room = Room(int(10 ** rng.uniform(1.3, 3.5)), None)
            plan = cheapest_plan(layer, room, goal)
            assert LoopLayers([layer]).cheapest(0, *room, *goal[:4]) == plan, (seed, room)
            partly += plan is not None and plan.order == "TP" and 0 < layer.coming < layer.weights
    assert partly >= len(KEEPS_ROWS)


def test_loop_orders_of_an_attention_are_the_same():
    """In any memory and metric, with an operation that costs so much that rescaling decides, beside what is on chip."""
    orders = set()
    for seed in range(250):
        rng = random.Random(seed)
        network, batch = random_attention_in_blocks(rng), rng.choice((1, 1, 3))
        inputs = frozenset(network.operands[0])
        on_chip = frozenset(u for u in (*inputs, 0) if rng.random() < 0.3)
        kept = rng.choice((None, Kept(on_chip, inputs - on_chip, frozenset({0}))))
        layer = loop_layer(network, 0, batch, kept=kept)
        for _ in range(4):
            room = Room(int(10 ** rng.uniform(1.8, 4)), None)
            goal = Goal(
                rng.choice(("ema", "energy", "latency-sum")), rng.choice((1.0, 100.0)), 1.0, 1.0, 1.0, 1.0,
                cycles=rng.choice((0, 9999)), operation=rng.choice((0.0, 0.31, 50.0)),
            )  # fmt: skip
            plan = cheapest_plan(layer, room, goal)
            assert LoopLayers([layer]).cheapest(0, *room, *goal) == plan, (seed, room, goal)
            orders.add(plan and (plan.order, plan.totals.rescalings > 0))
    assert orders == {None, ("TB", False), ("TB", True)}


@pytest.mark.parametrize(("batch", "least"), [(1, 2592), (8, 11264)])
def test_cores_are_dealt_the_weights_of_the_experts_that_a_batch_uses(batch, least):
    """2 cores hold half of the weights of 2 of 8 experts, or of all 8: then 1,699 B take no plan of 10,496 B."""
    b = Builder("experts")
    x = b.input("x", 1, 1, 16)
    for i, features in enumerate((32, 48)):
        up = b.fc(f"up{i}", x, features, experts=Experts(8, 2))
        x = b.add(f"add{i}", [b.fc(f"down{i}", up, 16, experts=Experts(8, 2)), x])
    chip = Accelerator(shared_buffer=1699, cores=2, batch=batch)
    found = cocco.partition(b.build(), chip, metric="ema", method="exact", keep="auto")
    assert (found.status, found.cost) == ("optimal", least)
