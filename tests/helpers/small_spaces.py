"""Small networks on a few memories to choose from, and the cheapest plans with kept tensors of each by brute force."""

from __future__ import annotations

import random
from dataclasses import astuple
from functools import lru_cache
from itertools import product
from typing import Any

from cocco.bounds.cheapest import keep_question
from cocco.problem.objective import Objective
from cocco.problem.problem import Problem, in_memory
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from simulator.accelerator import Accelerator
from simulator.model.layer.least_room import needs
from simulator.model.layer.loops import loop_layer
from tests.helpers.every_kept_plan import cheapest
from tests.helpers.least_memory import is_refused
from tests.helpers.random_tables import random_technology, shared_technology
from tests.helpers.small_problems import METRICS, small_network


def small_space(seed: int, most_layers: int = 4, has_tables: bool = False, word: int = 1) -> Problem | None:
    """Return one or two small networks on two to six memories, None where a layer runs in no order in the smallest.

    has_tables: what buffers cost is random, by table, and mostly energy is to be least. word: sizes are multiples of
    it; addresses are in words of 8 bytes, so in other sizes a plan may fit by its bytes and have no addresses.
    """
    rng, of_tables = random.Random(seed), random.Random(seed)

    def words(size: int) -> int:
        return size + -size % word

    networks = [small_network(rng, most_layers)]
    if rng.random() < 0.2:
        networks = [small_network(rng, 3), _named(small_network(rng, 3), "other")]
    common: dict[str, Any] = {"cores": rng.choice((1, 1, 1, 2)), "batch": rng.choice((1, 1, 2, 3)), "max_regions": 64}
    if rng.random() < 0.2:
        common["max_regions"] = 5
    maps = max(sum(8 * -(-t.channels // 8) * t.height * t.width for t in network.tensors) for network in networks)
    least = [needs(loop_layer(network, v, common["batch"])) for network in networks for v in range(len(network.layers))]
    activations = max(min(need.activation for need in each) for each in least)
    together = max(min(need.activation + need.weights for need in each) for each in least)
    weights = max(min(need.weights for need in each) for each in least)
    metric = rng.choice(METRICS)
    if has_tables and of_tables.random() < 0.8:
        metric = "energy"
    alpha = rng.choice((0.0, 0.01, 0.3, 3.0, 30.0)) * {"ema": 1.0, "energy": 0.01, "latency-sum": 10.0}[metric]
    objective = Objective(metric, alpha, tuple(rng.choice((1.0, 2.5)) for _ in networks))
    if rng.random() < 0.6:
        low = words(int(together * rng.uniform(1.0, 1.6)) + 1)
        step = words(max(1, int(common["batch"] * maps * rng.uniform(0.1, 0.5))))
        if has_tables:
            common["technology"] = shared_technology(of_tables)
        machine, space = Accelerator(shared_buffer=1, **common), SharedBuffer(low, low + 3 * step, step).buffers
    else:
        low, step = words(int(activations * rng.uniform(1.5, 2.0)) + 1), words(max(1, maps // 3))
        wide, wider = words(int(weights * rng.uniform(1.2, 2.0)) + 1), words(2 * weights + 1)
        ranges = Range(low, low + step, step), Range(wide, wide + wider, wider)
        if has_tables:
            common["technology"] = random_technology(of_tables)
        machine, space = Accelerator(global_buffer=1, weight_buffer=1, **common), SeparateBuffers(*ranges).buffers
    rule = rng.choice(("exact", "exact", "paper"))
    problem = Problem(tuple(networks), machine, space, objective, rule, keep="auto")
    return None if is_refused(problem) else problem


def question_of(problem: Problem) -> dict[str, Any]:
    """Return the keywords of `explore`, `pareto` and `minimize` that such a problem comes from, its metric aside."""
    ranges = [Range(sizes[0], sizes[-1], max(1, sizes[-1] - sizes[-2])) for sizes in problem.buffers.values()]
    space = SeparateBuffers(*ranges) if len(ranges) == 2 else SharedBuffer(*astuple(ranges[0]))
    machine = problem.accelerator
    return {
        "networks": list(problem.networks), "space": space, "weights": list(problem.objective.weights),
        "tile_rule": problem.tile_rule, "cores": machine.cores, "batch": machine.batch,
        "max_regions": machine.max_regions, "technology": machine.technology,
    }  # fmt: skip


def values_by_memory(problem: Problem, may_keep: bool = True) -> dict[tuple[int, ...], float]:
    """Return Formula 1 of the cheapest plans of each memory: all partitions, orders and intervals, or without these."""
    found = {}
    for memory in product(*[range(len(sizes)) for sizes in problem.candidates]):
        given, value = in_memory(problem, memory), 0.0
        for i in range(len(problem.networks)):
            question = keep_question(given, i, may_keep)
            value += cheapest(question._replace(price=lru_cache(None)(question.price)))[0]
        found[memory] = value
    return found


def cost_of(problem: Problem, memory: tuple[int, ...], value: float) -> float:
    """Return the cost of a value of Formula 1 on a memory."""
    return problem.objective.cost(value, problem.accelerator_of(memory))


def _named(network, name):
    return type(network)(name, network.inputs, network.layers)
