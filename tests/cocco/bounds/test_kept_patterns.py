"""Patterns: no state of any small problem costs less to finish than they say, and all states are in them."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import partial

import pytest

import workloads
from cocco.bounds import cheapest
from cocco.bounds.cheapest import cheapest_plans, compiled_prices, keep_question
from cocco.bounds.floors.layer_order import LayerOrder
from cocco.bounds.patterns import tables
from cocco.bounds.patterns.runs import Budget, Runs
from cocco.bounds.patterns.tables import Small, Twin, patterns_of
from cocco.effort.budgets import PRICE_STEPS
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, on_hardware, part_of
from cocco.search.exact.question import Pattern
from cocco.search.exact.window import Place
from cocco.search.kernel.choice import has_twin
from cocco.search.kernel.compiled import twin_of
from simulator.accelerator import Accelerator
from simulator.technology import KiB
from tests.helpers.exact_plan import exact_plan
from tests.helpers.kept_questions import random_question
from tests.helpers.kept_states import every_state, floor_of
from tests.helpers.parts import few_seeds, in_parts
from tests.helpers.place_networks import place_problem
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import dag


def test_layers_that_come_after_what_cannot_run_together_are_not_looked_at():
    """What may run next is the same as if each layer that is left were tried with all before it."""
    groups = dropped = 0
    for seed in range(40):
        question = random_question(seed, 6)
        order, count = LayerOrder(question), len(question.network.layers)
        every = (1 << count) - 1
        for executed in {0, *order.up}:
            runs = Runs(question, order, every, 0, 0, Budget(10**9))
            left = every & ~executed
            tried = [order.up[v] & left for v in range(count) if left >> v & 1]
            fitting = [group for group in tried if runs._run(group) is not None]
            assert runs._starts(left) == fitting, seed
            groups, dropped = groups + len(tried), dropped + len(tried) - len(fitting)
    assert groups > 300 and dropped > 30


def wide_problem(seed: int, layers: int) -> Problem:
    """Return a network with many branches, in little memory."""
    stream = random.Random(seed)
    producers: list[list[int]] = []
    for v in range(layers):
        producers.append(sorted(stream.sample(range(v), min(v, stream.choice((0, 1, 1, 2, 2, 3))))))
    size = stream.choice((700, 1000, 1400, 2000, 3000, 4500))
    common = {"cores": stream.choice((1, 1, 2)), "batch": stream.choice((1, 1, 2)), "max_regions": 64}
    machine = Accelerator(shared_buffer=size, **common)
    if stream.random() < 0.4:
        machine = Accelerator(global_buffer=size, weight_buffer=stream.choice((200, 1200)), **common)
    network = dag(producers, kernel=stream.choice((1, 3)))
    return on_hardware(network, machine, metric=stream.choice(("ema", "energy", "latency-sum")))


def check(problem: Problem, seed: int) -> tuple[int, int, int]:
    """Look at every state of a problem; return how many there are, how many late layers, and how often it is more."""
    stream = random.Random(seed)
    question = keep_question(problem)
    tables.MOST_FREE = stream.choice((0, 0, 1, 2))
    patterns, _ = patterns_of(question, problem.objective.metric == "ema")
    more = 0
    left = every_state(question)
    for place, truth in left.items():
        for pattern in patterns:
            assert state_of(pattern, place) in pattern.left, (seed, place)
        floor = floor_of(question, patterns, place)
        assert floor <= truth * (1 + 1e-12), (seed, place, floor, truth)
        more += floor > floor_of(question, (), place)
    found = exact_plan(question._replace(patterns=patterns))
    plain = exact_plan(question)
    assert found.status == plain.status and found.cost == pytest.approx(plain.cost, rel=1e-12), seed
    return len(left), sum(each.bit_count() for pattern in patterns for _, each in pattern.late), more


def small_problems(seed: int, most_layers: int) -> list[Problem]:
    """Return a problem of every kind, and a wide one."""
    found = [random_problem(seed, most_layers), wide_problem(seed, most_layers)]
    return [problem for problem in found if problem.size <= most_layers]


def state_of(pattern: Pattern, place: Place) -> tuple[int, int, int]:
    """Return the state of a pattern in which a state of the network appears."""
    seen, tensors = pattern.layers, pattern.tensors
    for trigger, late in pattern.late:
        if place.executed >> trigger & 1:
            seen |= late
        else:
            tensors &= ~late
    return place.executed & seen, place.unwritten & tensors, place.written & tensors


@pytest.fixture(autouse=True)
def small_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of any size, and of every problem."""
    monkeypatch.setattr(tables, "LEAST_LAYERS", 1)
    monkeypatch.setattr(tables, "MOST_FREE", 0)
    monkeypatch.setattr(cheapest, "FIRST_STATES", 1)


@few_seeds(25, 60)
def test_no_state_costs_less(seeds):
    """Up to 5 layers: separate and shared, all metrics, cores, batches, both tile rules, few regions."""
    results = [check(problem, seed) for seed in seeds for problem in small_problems(seed, 5)]
    assert sum(states for states, _, _ in results) > 35 * len(seeds) - 100
    assert sum(late for _, late, _ in results) > len(seeds) // 6
    assert sum(more for _, _, more in results) > 2 * len(seeds) - 20


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(60, 3_000))
def test_no_state_of_more_problems_costs_less(seeds):
    for seed in seeds:
        for problem in small_problems(seed, 6):
            check(problem, seed)


def test_no_state_costs_less_where_rows_go_to_a_cache():
    """Some layers are written whoever reads them: no crossing of theirs is counted twice."""
    results = []
    for seed in range(40):
        stream, wide = random.Random(seed), wide_problem(seed, 5)
        (network,), size = wide.networks, stream.choice((700, 1400, 3000))
        network = replace(
            network, layers=tuple(replace(layer, appended=stream.random() < 0.5) for layer in network.layers)
        )
        metric = stream.choice(("ema", "energy", "latency-sum"))
        results.append(check(on_hardware(network, Accelerator(shared_buffer=size), metric=metric), seed))
    assert sum(states for states, _, _ in results) > 1_000
    assert sum(more for _, _, more in results) > 50


@few_seeds(60, 2_000)
def test_no_state_costs_less_where_rows_that_a_nest_reads_go_to_a_cache(seeds):
    """A pattern prices the nest as it is: that its rows are written is not counted once more."""
    for seed in seeds:
        stream, problem = random.Random(seed), place_problem(seed, 4)
        (network,) = problem.networks
        layers = tuple(replace(layer, appended=stream.random() < 0.4) for layer in network.layers)
        check(on_hardware(replace(network, layers=layers), problem.accelerator, metric=problem.metric), seed)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_nest_that_reads_rows_of_a_cache_is_not_ruled_out(engine: EngineName, monkeypatch: pytest.MonkeyPatch):
    """conv -> conv, appended -> their sum -> conv, 194 bytes, three samples: 4,992 bytes; it was said to take 5,376."""
    monkeypatch.setattr(cheapest, "FIRST_STEPS", 1)
    monkeypatch.setattr(cheapest, "FAR_OFF", math.inf)
    b = workloads.Builder("rows")
    first = b.conv("first", b.input("x", 4, 2, 16), 16, 1)
    total = b.add("total", [b.append_to_cache(b.conv("rows", first, 16, 1)), first])
    b.conv("last", total, 16, 1)
    machine = Accelerator(shared_buffer=194, batch=3, max_regions=5)
    problem = on_hardware(b.build(), machine, metric="ema", keep="auto")
    assert cheapest_plans(problem, engine=engine, below=5_000.0).cost == 4_992


def test_both_engines_agree_with_patterns():
    """The same plan, cost and counts."""
    proven = 0
    for seed in range(40):
        problem = wide_problem(seed, 6) if seed % 2 else random_problem(seed, 6)
        tables.MOST_FREE = seed // 2 % 3
        found = [cheapest_plans(problem, engine=engine) for engine in ("fast", "reference")]
        assert found[0] == found[1], seed
        proven += found[0].is_proven
    assert proven > 20


def twin(problem: Problem) -> Twin:
    """Return the compiled engine's patterns of a problem of one network."""
    return partial(twin_of(problem).pattern_left, compiled_prices(problem), PRICE_STEPS)


@few_seeds(40, 120)
def test_the_compiled_engine_builds_the_same_patterns(seeds):
    """The same states in the same order, to the bit what is left of them, in as many steps, also if these are spent."""
    states = late = spent = 0
    for seed in seeds:
        stream = random.Random(seed)
        tables.MOST_FREE, most = stream.choice((0, 1, 2, 3)), stream.choice((300, 3_000, 10**7))
        for problem in (wide_problem(seed, 6), random_problem(seed, 6)):
            if not has_twin(problem):
                continue
            question, is_whole = keep_question(problem), problem.objective.metric == "ema"
            readable = patterns_of(question, is_whole, most)
            compiled = patterns_of(question, is_whole, most, twin(part_of(problem, 0)))
            assert compiled == readable, seed
            assert [list(each.left) for each in compiled[0]] == [list(each.left) for each in readable[0]], seed
            states += sum(len(each.left) for each in readable[0])
            late += sum(len(each.late) for each in readable[0])
            spent += readable[1] == most
    assert states > 18 * len(seeds) - 160 and late > len(seeds) // 24 and spent > len(seeds) // 12


def test_a_step_that_touches_more_tensors_than_a_word_has_bits_is_left_to_the_readable_engine(
    monkeypatch: pytest.MonkeyPatch,
):
    """A layer that reads 70 others; what the compiled engine counted before it is not counted twice."""
    asked: list[int] = []

    def left(small: Small) -> dict[tuple[int, int, int], float]:
        asked.append(small.budget.steps)
        return readable(small)

    readable = tables.left_of
    monkeypatch.setattr(tables, "left_of", left)
    producers = [[], *([v - 1] for v in range(1, 70)), [*range(70)]]
    problem = on_hardware(dag(producers), Accelerator(shared_buffer=6_000), metric="ema")
    question = keep_question(problem)
    assert patterns_of(question, True, 20_000, twin(problem)) == patterns_of(question, True, 20_000) == ((), 20_000)
    assert len(asked) == 2 and asked[0] > 0 == asked[1]


def test_less_room_may_be_cheaper_on_several_cores():
    """There a layer alone is not cheapest with all the room there is: what else may be kept is looked at, too."""
    check(random_problem(202, 6), 202)


def test_patterns_of_more_layers_than_a_word_has_bits():
    """80 layers in rows of three that join: both engines count the same, and find what the search without does."""
    producers: list[list[int]] = [[]]
    for v in range(1, 80):
        producers.append([v - 1, v - 3] if v % 4 == 3 else [v - 1])
    problem = on_hardware(dag(producers, kernel=3), Accelerator(shared_buffer=1_200), metric="ema")
    question = keep_question(problem)
    patterns, _ = patterns_of(question, True)
    assert max(pattern.layers for pattern in patterns) >= 1 << 64
    found = [cheapest_plans(problem, engine=engine) for engine in ("fast", "reference")]
    assert found[0] == found[1] and found[0].is_proven
    assert found[0].cost == exact_plan(question).cost


def test_a_pattern_that_grows_too_large_ends(monkeypatch: pytest.MonkeyPatch):
    """DenseNet121 keeps so many tensors that states of one step are thousands; each is counted.

    25 of them fit into half of the room at once, which is known before.
    """
    network = workloads.load("densenet121")
    question = keep_question(on_hardware(network, Accelerator(shared_buffer=512 * KiB), metric="ema"))
    assert patterns_of(question, True, 16_000_000) == ((), 0)
    monkeypatch.setattr(tables, "SPARE_BITS", -60)
    assert patterns_of(question, True, 100_000) == ((), 100_000)


def test_steps_that_cost_clearly_more_wait():
    """GoogleNet at 896 KB: all fits, and nearly every step writes what might stay; 100 million proved nothing."""
    problem = on_hardware(workloads.load("googlenet"), Accelerator(shared_buffer=896 * KiB), metric="energy")
    found = cheapest_plans(problem, max_steps=4_000_000)
    assert found.is_proven and found.plans[0].states < 1_000
    assert found.cost == pytest.approx(1_234_144_056, rel=1e-9)
