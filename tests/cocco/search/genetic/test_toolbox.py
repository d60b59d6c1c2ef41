"""The DEAP toolbox: its operators on single genomes, in eaSimple as DEAP has it."""

from __future__ import annotations

import random

import pytest
from deap import algorithms, tools

import cocco
import cocco.search
import workloads
from cocco.candidates.genome import Genome, canonical
from cocco.problem.problem import over_space
from cocco.search.genetic.operators.repair import repair
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from tests.helpers.parts import first_of
from tests.helpers.random_graphs import random_network
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
    toolbox = cocco.search.toolbox([chain(4), diamond()], Accelerator(shared_buffer=4000), metric="latency-sum")
    first, second = toolbox.individual(), toolbox.individual()
    assert toolbox.mate(first, second) == (first, second)
    assert toolbox.mutate(first) == (first,)
    (cost,) = toolbox.evaluate(first)
    machine, plans = toolbox.decode(first)
    assert [plan.network_name for plan in plans] == ["chain", "diamond"]
    assert cost == sum(evaluate(net, plan, machine).latency_cycles for net, plan in zip([chain(4), diamond()], plans))
    copy = toolbox.clone(first)
    assert copy == first and copy is not first


def test_labels_that_are_no_partition_are_repaired_before_they_are_priced():
    """Ends of a chain of nine are no subgraph: any names, disconnected and on a cycle; the price is a partition's."""
    toolbox = cocco.search.toolbox(chain(9), Accelerator(shared_buffer=4000), metric="ema", seed=3)
    individual = toolbox.individual()
    individual.genome = Genome([5, -2, 5, 7, 7, 5, 900, 900, 5], ())
    (cost,) = toolbox.evaluate(individual)
    _, (plan,) = toolbox.decode(individual)
    assert cost == evaluate(chain(9), plan, Accelerator(shared_buffer=4000)).ema_bytes
    assert canonical(individual.genome.labels) == individual.genome.labels


def drift(toolbox, individual):
    """An operator of somebody else's: a random layer goes to a random subgraph."""
    labels = list(individual.genome.labels)
    labels[random.randrange(len(labels))] = random.randrange(len(labels))
    individual.genome = Genome(labels, individual.genome.capacities)
    return (individual,)


@pytest.mark.parametrize(("seed", "name"), first_of([(0, "vgg16"), (1, ""), (2, ""), (3, ""), (0, "googlenet")], 4))
def test_an_operator_of_ones_own_leaves_partitions(seed, name):
    """All of the last population are valid, as decode is strict about what it makes of them; graphs, too."""
    network = workloads.load(name) if name else random_network(seed, 15)
    toolbox = cocco.search.toolbox(network, seed=seed)
    toolbox.register("mutate", drift, toolbox)
    population, _ = algorithms.eaSimple(toolbox.population(n=30), toolbox, 0.5, 0.5, ngen=4, verbose=False)
    for individual in population:
        machine, (plan,) = toolbox.decode(individual)
        if not individual.fitness.valid:
            continue
        evaluation = evaluate(network, plan, machine)
        cost = machine.buffer_bytes + 0.002 * evaluation.energy_pj
        assert individual.fitness.values[0] == pytest.approx(cost, rel=1e-12)
        assert individual.genome.labels == repair_labels(network, individual.genome.labels)


def repair_labels(network, labels):
    return repair(over_space(network, None), labels)


def test_every_operator_has_a_name_and_leaves_a_partition():
    network = workloads.load("googlenet")
    toolbox = cocco.search.toolbox(network, seed=5)
    changed = set()
    for name in ("modify_node", "split_subgraph", "merge_subgraphs", "shift_layers", "mutate_capacity", "mutate"):
        for _ in range(20):
            individual = toolbox.individual()
            before = individual.genome
            assert getattr(toolbox, name)(individual) == (individual,)
            assert individual.genome.labels == repair_labels(network, individual.genome.labels)
            changed |= {name} if individual.genome != before else set()
    assert len(changed) == 6
    assert not hasattr(cocco.search.toolbox(network, Accelerator(shared_buffer=2**20)), "mutate_capacity")


def test_an_individual_of_a_partition_is_priced_as_the_simulator_does():
    network, memory = workloads.load("vgg16"), Accelerator(shared_buffer=704 * 2**10)
    plan = cocco.partition(network, memory, method="greedy", keep="none").plan
    toolbox = cocco.search.toolbox(network, alpha=0.01)
    individual = toolbox.individual_from(plan, memory=memory)
    (cost,) = toolbox.evaluate(individual)
    assert cost == memory.shared_buffer + 0.01 * evaluate(network, plan, memory).energy_pj
    assert toolbox.decode(individual)[1] == (plan,)
    with pytest.raises(ValueError, match="shared_buffer of 1000 bytes, which is no candidate"):
        toolbox.individual_from(plan, memory=Accelerator(shared_buffer=1000))


def test_several_objectives_in_nsga2():
    network = workloads.load("vgg16")
    toolbox = cocco.search.toolbox(network, objectives=("capacity", "energy"), seed=2)
    population = toolbox.population(n=12)
    for individual in population:
        individual.fitness.values = toolbox.evaluate(individual)
    population, _ = algorithms.eaMuPlusLambda(population, toolbox, 12, 12, 0.4, 0.5, ngen=3, verbose=False)
    front = tools.sortNondominated(population, len(population), first_front_only=True)[0]
    for individual in front:
        machine, (plan,) = toolbox.decode(individual)
        assert individual.fitness.values == (machine.buffer_bytes, evaluate(network, plan, machine).energy_pj)
    assert len({individual.fitness.values for individual in front}) > 1


@pytest.mark.parametrize(
    "genome, words",
    [
        ("abc", "has labels and capacities, got 'abc'"),
        (Genome("abc", ()), "one label per layer, 4, got 3"),
        (Genome("abcd", (0,)), "labels must be integers, got 'a' for layer 0"),
        (Genome([0, 0, 0], (0,)), "one label per layer, 4, got 3"),
        (Genome([0, 0, 0, True], (0,)), "labels must be integers, got True for layer 3"),
        (Genome([0, 0, 0, 0], ()), "one position per buffer that is chosen, 1, got"),
        (Genome([0, 0, 0, 0], (9,)), "shared_buffer must be a position from 0 to 8, got 9"),
    ],
)
def test_what_is_no_genome_is_refused(genome, words):
    toolbox = cocco.search.toolbox(chain(4), SPACE)
    individual = toolbox.individual()
    individual.genome = genome
    for tool in (toolbox.evaluate, toolbox.repair, toolbox.decode, toolbox.mutate, toolbox.split_subgraph):
        with pytest.raises(ValueError, match=words):
            tool(individual)


def test_a_question_that_is_none():
    with pytest.raises(ValueError, match="objectives must be two or more"):
        cocco.search.toolbox(chain(2), objectives=("energy",))
    with pytest.raises(ValueError, match="seed must be an integer"):
        cocco.search.toolbox(chain(2), seed=-1)
    with pytest.raises(ValueError, match="metric must be one of"):
        cocco.search.toolbox(chain(2), metric="speed")
