"""What a layer costs at least among several: no step of any small problem undercuts it, with whatever kept."""

from __future__ import annotations

import math

import workloads
from cocco.bounds.cheapest import keep_question
from cocco.bounds.floors.elsewhere import bytes_beside, sums_of
from cocco.bounds.floors.layer_order import LayerOrder
from cocco.candidates.sets import bits, members
from cocco.problem.problem import Problem, on_hardware
from cocco.search.exact.moves import Memo, Moves
from cocco.search.exact.question import KeptStep
from cocco.search.exact.window import Limits, all_of
from simulator.accelerator import Accelerator
from simulator.technology import KiB
from tests.helpers.parts import over_seeds
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import dag


def every_step(problem: Problem) -> dict[KeptStep, float]:
    """Return the price of each step that any plan may have."""
    question = keep_question(problem)
    memo = Memo(question)
    window = all_of(question.network)
    moves, seen, stack = Moves(memo, window, Limits()), {window.start}, [window.start]
    while stack:
        for _, _, there in moves.from_place(stack.pop()):
            if there not in seen:
                seen.add(there)
                stack.append(there)
    return memo.prices


def check(problem: Problem) -> tuple[int, int]:
    """Compare all steps that are held; return how many, and how many of them have a floor above that of one layer."""
    question, compared, higher = keep_question(problem), 0, 0
    if question.inside is None:
        return 0, 0
    outputs = bits(tuple(v for v, is_output in enumerate(question.network.is_output) if is_output))
    for step, price in every_step(problem).items():
        if len(step.layers) == 1 or price == math.inf or bits(step.layers) in question.nests:
            continue
        least = 0.0
        weights, held = question.least_held(step.layers)
        for v in step.layers:
            touched = {v, *question.network.producers[v]}
            others = sum(size for u, size in held.items() if u not in touched and not step.on_chip >> u & 1)
            room = question.room - step.kept_bytes - weights - others
            inside = question.inside(v, room, step.on_chip)
            higher += inside > question.layer_floor[v] * (1 + 1e-9)
            least += max(inside, question.layer_floor[v])
        for u in members((step.loaded | step.written) & ~outputs):
            least += question.crossing_floor[u]
        assert least <= price * (1 + 1e-12), (step, least, price)
        compared += 1
    return compared, higher


def test_no_step_costs_less():
    """Up to 5 layers, shared and separate, batches, least energy."""
    results = [check(problem) for problem in map(random_energy, range(60))]
    assert sum(compared for compared, _ in results) > 500
    assert sum(higher for _, higher in results) > 100


test_no_step_of_more_problems_costs_less = over_seeds(lambda seed: check(random_energy(seed)), 60, 2_000)


def random_energy(seed: int) -> Problem:
    """Return a problem of least energy on one core."""
    problem = random_problem(seed, 5)
    machine = problem.accelerator
    if machine.is_shared:
        given = Accelerator(shared_buffer=machine.shared_buffer, batch=machine.batch)
    else:
        given = Accelerator(
            global_buffer=machine.global_buffer, weight_buffer=machine.weight_buffer, batch=machine.batch
        )
    return on_hardware(problem.networks[0], given, metric="energy", keep="auto")


def test_less_room_takes_more_pieces():
    """Weights are read once for each piece: the less room, the dearer; with the operands kept there are no regions."""
    network = workloads.load("vgg16")
    question = keep_question(on_hardware(network, Accelerator(shared_buffer=512 * KiB), keep="auto"))
    floors = [question.inside(4, room * KiB, 0) for room in (512, 256, 128, 64)]
    assert floors == sorted(floors) and floors[0] < floors[-1]
    assert question.inside(4, 64 * KiB, 1 << 3) < floors[-1]
    assert question.inside(4, 0, 0) == math.inf


def test_other_tensors_beside_a_step():
    """0 -> 1 -> 2 and 0 -> 3, 1 -> 3: beside layer 2 (reads 1) there may be 0 and 3, where less room may be cheaper."""
    assert sums_of([4, 4, 6], 11) == (0, 4, 6, 8, 10)
    assert sums_of([1 << i for i in range(6)], 1 << 6) == ()
    network = dag([[], [0], [1], [0, 1]])
    question = keep_question(on_hardware(network, Accelerator(shared_buffer=1 << 16), keep="auto"))
    order, whole = LayerOrder(question), question.whole
    assert bytes_beside(question, order, 1 << 2) == (0,)
    two = question._replace(more_room_pays=False)
    assert bytes_beside(two, order, 1 << 2) == (0, whole[0])
    assert bytes_beside(two, order, 1 << 2, seen=1) == (0,)
