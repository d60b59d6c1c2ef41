"""The second opinion on proofs: it finds the least cost of all plans there are, and shares no code with searches."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

import pytest

import cocco
import workloads
from cocco.second_opinion import Prover, second_opinion
from docs.rooms import imports, modules
from simulator import Accelerator, KiB, MiB, Partition, PartitionError, evaluate
from simulator.partition.intervals import Span
from tests.helpers.parts import few_seeds, first_of
from tests.helpers.small_problems import METRICS, small_machine, small_network
from workloads.network.builder import Builder
from workloads.network.network import Network

COLUMNS = {"ema": "ema_bytes", "energy": "energy_pj", "latency-sum": "latency_cycles"}


def test_the_prover_shares_nothing_with_the_searches_whose_answers_it_judges():
    """Neither itself nor through what it imports; and it is short enough to be read in one sitting."""
    known, seen, waits = modules(), set(), ["cocco.second_opinion"]
    while waits:
        name = waits.pop()
        seen.add(name)
        waits += [
            other for other in imports(known[name], known) if other not in seen and known[other].stem != "__init__"
        ]
    assert {name.split(".")[0] for name in seen} <= {"cocco", "simulator", "workloads"}
    assert sorted(name for name in seen if name.startswith("cocco.")) == [
        "cocco.problem.criteria", "cocco.problem.names", "cocco.second_opinion",
    ]  # fmt: skip
    assert len(known["cocco.second_opinion"].read_text(encoding="utf-8").splitlines()) <= 250


def every_order(count: int) -> Iterator[list[list[int]]]:
    """Yield every way to run so many layers group by group, in every order; most are no plans."""
    for labels in product(range(count), repeat=count):
        if set(labels) == set(range(max(labels) + 1)):
            yield [[v for v in range(count) if labels[v] == step] for step in range(max(labels) + 1)]


def sets_of_spans(network: Network, groups: list[list[int]], tensor: int) -> list[list[Span]]:
    """Return every set of intervals of one tensor that the simulator accepts."""
    steps = range(len(groups))
    single = [(tensor, a, z) for a in steps for z in steps if is_plan(network, groups, [(tensor, a, z)])]
    found: list[list[Span]] = [[]]
    for span in single:
        found += [[*each, span] for each in found if all(other[2] < span[1] for other in each)]
    return found


def is_plan(network: Network, groups: list[list[int]], spans: list[Span]) -> bool:
    """Whether the simulator takes this as a plan."""
    try:
        Partition.from_ids(network, groups, keep=spans)
    except PartitionError:
        return False
    return True


def every_plan(network: Network, metric: str, keeps: bool) -> Iterator[Partition]:
    """Yield every plan: partitions, orders that run, and sets of intervals; the simulator says what is one."""
    for groups in every_order(len(network.layers)):
        if not is_plan(network, groups, []):
            continue
        yield Partition.from_ids(network, groups, metric)
        if keeps:
            tensors = range(len(network.tensors))
            for spans in product(*(sets_of_spans(network, groups, tensor) for tensor in tensors)):
                if any(spans):
                    yield Partition.from_ids(network, groups, metric, [span for each in spans for span in each])


def compare_with_brute_force(seed: int, most_layers: int, most_plans: int) -> bool:
    """Compare the least cost with that of every plan; return whether there is one, and not too many to look at."""
    rng = random.Random(seed)
    network = small_network(rng, most_layers)
    chip, metric, keeps = small_machine(rng, network), rng.choice(METRICS), rng.random() < 0.8
    rule = rng.choice(("exact", "exact", "paper"))
    plans = list(islice(every_plan(network, metric, keeps), most_plans + 1))
    if len(plans) > most_plans:
        return False
    least = min(getattr(evaluate(network, plan, chip, rule), COLUMNS[metric]) for plan in plans)
    prover = Prover(network, chip, metric, rule, keeps)
    found = prover.least(chip)
    assert (math.inf if found is None else prover.judged(found, chip)) == pytest.approx(least, rel=1e-12), seed
    return least < math.inf


@few_seeds(16, 40)
def test_the_least_cost_is_that_of_every_plan_there_is(seeds):
    """Partitions x orders x intervals, on one to three cores, with batches, shared and separate buffers."""
    assert sum(compare_with_brute_force(seed, 4, 250) for seed in seeds) >= 3 * len(seeds) // 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(40, 160, 40))
def test_the_least_cost_is_that_of_every_plan_of_up_to_six_layers(first: int):
    assert sum(compare_with_brute_force(seed, 6, 1000) for seed in range(first, first + 40)) >= 12


def opinion_of(network: Network, plan: Partition, chip: Accelerator, keeps: bool, **others):
    return second_opinion(Prover(network, chip, plan.metric, "exact", keeps), plan, chip, **others)


@pytest.mark.parametrize("seed", first_of(range(16), 6))
def test_answers_of_the_exact_search_are_confirmed(seed: int):
    """Where the answer was changed for its addresses a cheaper plan may be found, which then has none."""
    rng = random.Random(1000 + seed)
    network, metric, keep = small_network(rng, 9), rng.choice(METRICS), rng.choice(("auto", "auto", "none"))
    chip = replace(small_machine(rng, network), **({"cores": 1} if seed % 2 else {}))
    try:
        answer = cocco.partition(network, chip, method="exact", metric=metric, keep=keep, samples=1000)
    except ValueError:
        return  # nothing runs there
    if answer.status == "optimal" and answer.plans and answer.evaluation.fits and not answer.moved:
        prover = Prover(network, chip, metric, "exact", keep == "auto", most_steps=200_000)
        found = second_opinion(prover, answer.plan, chip)
        assert found.status in ("confirmed", "gave_up"), seed


def test_a_plan_that_is_not_the_cheapest_is_refuted_with_one_that_is():
    """VGG16 layer by layer in 1 MB: 22.01 mJ; in fused subgraphs 19.60, the optimum of the search with nothing kept."""
    vgg, chip = workloads.load("vgg16"), Accelerator(shared_buffer=1 * MiB)
    found = opinion_of(vgg, Partition.layerwise(vgg), chip, keeps=False)
    assert found.status == "refuted" and found.better is not None
    plan, machine, cost = found.better
    assert machine == chip and cost == found.least == evaluate(vgg, plan, chip).energy_pj
    assert cost == cocco.partition(vgg, chip, metric="energy", keep="none", method="exact").evaluation.energy_pj
    assert opinion_of(vgg, plan, chip, keeps=False).status == "confirmed"
    kept = opinion_of(vgg, plan, chip, keeps=True)
    assert kept.status == "refuted" and kept.better is not None and kept.better[0].keep
    assert kept.least == cocco.partition(vgg, chip, metric="energy", method="exact").evaluation.energy_pj


def test_of_a_range_the_memory_is_confirmed_too_or_a_cheaper_choice_is_named():
    """VGG16, nothing kept, alpha 0.002: of 512, 704 and 896 KB the choice of 704 KB costs least."""
    vgg = workloads.load("vgg16")
    chips = [Accelerator(shared_buffer=size * KiB) for size in (512, 704, 896)]
    plans = [cocco.partition(vgg, chip, metric="energy", keep="none", method="exact").plan for chip in chips]
    best = opinion_of(vgg, plans[1], chips[1], keeps=False, others=(chips[0], chips[2]), alpha=0.002)
    assert best.status == "confirmed" and best.confirmed == 3
    other = opinion_of(vgg, plans[2], chips[2], keeps=False, others=chips[:2], alpha=0.002)
    assert other.status == "refuted" and other.better is not None and other.better[1] == chips[1]
    assert other.least == other.claimed, "on its own memory it is the cheapest"


def test_it_gives_up_where_the_budget_is_spent_and_confirms_nothing():
    vgg, chip = workloads.load("vgg16"), Accelerator(shared_buffer=1 * MiB)
    prover = Prover(vgg, chip, "energy", "exact", True, most_steps=500)
    found = second_opinion(prover, Partition.layerwise(vgg), chip)
    assert found.status == "gave_up" and found.least is None and found.confirmed == 0
    assert found.steps < 500 + 101


def test_what_30_alike_inputs_may_keep_spends_the_budget_too():
    """2^30 choices of one step: each is counted, so it gives up at once."""
    b = Builder("alike")
    names = [b.input(f"x{i}", 4, 4, 8) for i in range(30)]
    for i in range(3):
        b.conv(f"n{i}", names, 8, 1)
    network = b.build()
    prover = Prover(network, chip := Accelerator(shared_buffer=1 * MiB), "ema", "exact", True, most_steps=20_000)
    assert second_opinion(prover, Partition.layerwise(network, "ema"), chip).status == "gave_up"
