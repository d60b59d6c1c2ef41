"""Kept intervals by price: against every set of intervals of random plans, and as a beam."""

from __future__ import annotations

import math
import random
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from cocco.bounds.cheapest import cheapest_plans, keep_question
from cocco.problem.problem import on_hardware
from cocco.search.keeping.priced import narrow, priced_intervals
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.partition.intervals import Span, Uses
from tests.helpers.many_alike import many
from tests.helpers.parts import first_of
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_order
from tests.helpers.random_plans import random_plan

COLUMNS = {"ema": "ema_bytes", "energy": "energy_pj", "latency-sum": "latency_cycles"}


def choices(uses: Uses, tensor: int) -> list[tuple[Span, ...]]:
    """Return every set of intervals of a tensor that share no step."""
    made, reads = uses.made(tensor), uses.reads(tensor)
    places = reads if made is None else [made, *reads]
    spans = [(tensor, a, z) for a in places for z in places if a < z]
    sets = [tuple(s for s, pick in zip(spans, picks) if pick) for picks in product((0, 1), repeat=len(spans))]
    return [each for each in sets if all(one[2] < other[1] for one, other in zip(each, each[1:]))]


def check_no_intervals_cost_less(seed):
    """Small memories, so that a kept tensor may cost a step more than it saves; cores and batch as well."""
    network, rng = random_network(seed, most_layers=5, whole=True), random.Random(seed)
    metric = rng.choice(sorted(COLUMNS))
    order = random_order(network, random_plan(network, seed), rng)
    size = rng.choice((2, 8, 64)) * max(tensor.size_bytes for tensor in network.tensors) + 1024
    buffers = {"shared_buffer": size} if seed % 2 else {"global_buffer": size, "weight_buffer": 64 * KiB}
    chip = Accelerator(**buffers, cores=rng.choice((1, 1, 2)), batch=rng.choice((1, 2)))
    uses, found = Uses(network, order), []
    for picked in product(*(choices(uses, tensor) for tensor in range(len(network.tensors)))):
        plan = Partition.from_ids(network, order, metric, [span for spans in picked for span in spans])
        found.append(getattr(evaluate(network, plan, chip), COLUMNS[metric]))
        if len(found) > 400:
            return  # too many to try
    question = keep_question(on_hardware(network, chip, metric=metric, keep="auto"))
    chosen = priced_intervals(question, order, None)
    if min(found) == math.inf:
        assert chosen is None
        return
    assert chosen is not None and chosen.exact
    assert chosen.cost == pytest.approx(min(found), rel=1e-12)
    priced = evaluate(network, Partition.from_ids(network, order, metric, chosen.spans), chip)
    assert getattr(priced, COLUMNS[metric]) == pytest.approx(chosen.cost, rel=1e-12)
    narrower = priced_intervals(question, order, 2)
    assert narrower is None or narrower.cost >= chosen.cost * (1 - 1e-12)


@pytest.mark.parametrize("examples", first_of([25, 60], 1))
def test_no_intervals_of_a_plan_cost_less(examples):
    settings(deadline=None, max_examples=examples)(given(st.integers(0, 10**6))(check_no_intervals_cost_less))()


def test_on_the_optimum_s_subgraphs_it_finds_the_optimum():
    """The exact search over partitions, orders and intervals costs as much as the intervals of its own partition."""
    network = workloads.load("resnet50")
    problem = on_hardware(network, Accelerator(shared_buffer=512 * KiB), metric="energy", keep="auto")
    best = cheapest_plans(problem)
    (plan,) = best.partitions
    found = priced_intervals(keep_question(problem), plan.subgraphs)
    assert (found.cost, found.exact) == (best.cost, True)
    again = Partition.from_ids(network, plan.subgraphs, "energy", found.spans)
    assert evaluate(network, again, problem.accelerator).energy_pj == pytest.approx(best.cost, rel=1e-12)


def test_what_a_step_may_drop_is_no_more_than_a_beam_wide():
    """Of forty inputs that differ each may be dropped after the first reader: 2 ** 40 ways for each that was kept."""
    question = keep_question(on_hardware(many(40, shapes=40), Accelerator(shared_buffer=80_000, max_regions=None)))
    found = priced_intervals(question, [(0,), (1,), (2,)], width=20)
    assert found is not None and not found.exact
    none = priced_intervals(question._replace(room=0), [(0,), (1,), (2,)])
    assert none is None or found.cost < none.cost


def test_a_beam_leaves_the_state_with_nothing_kept_and_different_amounts():
    """10, 20, ... 100 bytes, the cheaper the more they keep. Nothing; the cheapest two; the best of each half."""
    states = [SimpleNamespace(kept=1 << i, bytes=10 * i, cost=(100 - i, 0)) for i in range(1, 11)]
    states.insert(3, SimpleNamespace(kept=0, bytes=0, cost=(100, 0)))
    left, all_left = narrow(states, 5)
    assert not all_left and [state.bytes for state in left] == [0, 50, 80, 90, 100]
    assert narrow(states, 11) == (states, True)
