"""The DEAP toolbox: its operators on single genomes, in eaSimple as DEAP has it."""

from __future__ import annotations

import random

import pytest
from deap import algorithms, tools

import cocco.search
from simulator.accelerator import Accelerator
from simulator.evaluate import evaluate
from tests.helpers.search_graphs import SPACE, chain, diamond


def evolve(seed):
    toolbox = cocco.search.toolbox(chain(9), SPACE, seed=seed, alpha=0.01)
    statistics = tools.Statistics(lambda individual: individual.fitness.values[0])
    statistics.register("min", min)
    hall = tools.HallOfFame(3)
    population, logbook = algorithms.eaSimple(
        toolbox.population(n=20),
        toolbox,
        cxpb=0.7,
        mutpb=0.4,
        ngen=15,
        stats=statistics,
        halloffame=hall,
        verbose=False,
    )
    return toolbox, population, logbook, hall


def test_works_in_ea_simple_unchanged():
    toolbox, population, logbook, hall = evolve(1)
    assert len(population) == 20
    assert hall[0].fitness.values[0] <= logbook[0]["min"]
    assert len({individual.genome.key for individual in hall}) == len(hall)
    machine, (plan,) = toolbox.decode(hall[0])
    evaluation = evaluate(chain(9), plan, machine)
    assert machine.shared_buffer + 0.01 * evaluation.energy_pj == hall[0].fitness.values[0]


def test_the_same_seed_gives_the_same_evolution():
    """Although eaSimple draws from the global random, whose state is changed in between."""
    first = evolve(1)
    random.seed(99)
    again, other = evolve(1), evolve(2)
    assert again[1] == first[1]
    assert again[2] == first[2]
    assert other[2] != first[2]


def test_operators_return_what_deap_expects():
    toolbox = cocco.search.toolbox([chain(4), diamond()], Accelerator(shared_buffer=4000), metric="latency")
    first, second = toolbox.individual(), toolbox.individual()
    assert toolbox.mate(first, second) == (first, second)
    assert toolbox.mutate(first) == (first,)
    (cost,) = toolbox.evaluate(first)
    machine, plans = toolbox.decode(first)
    assert [plan.network_name for plan in plans] == ["chain", "diamond"]
    assert cost == sum(evaluate(net, plan, machine).latency_cycles for net, plan in zip([chain(4), diamond()], plans))
    copy = toolbox.clone(first)
    assert copy == first and copy is not first


def test_a_question_that_is_none():
    with pytest.raises(ValueError, match="seed must be an integer"):
        cocco.search.toolbox(chain(2), seed=-1)
    with pytest.raises(ValueError, match="metric must be one of"):
        cocco.search.toolbox(chain(2), metric="speed")
