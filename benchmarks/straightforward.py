"""The yardstick: Cocco's search the way one writes it first, with DEAP's eaSimple, networkx graphs and deepcopy.

The same questions, operators and prices as cocco.search, no memo, nothing prepared. Kept for comparison only
(search_speed.py); nothing imports it but the benchmarks.
"""

from __future__ import annotations

import random
from copy import deepcopy

import networkx as nx
from deap import algorithms, base, creator, tools

from cocco.problem.space import SharedBuffer
from simulator.accelerator import Accelerator
from simulator.model.cost import METRICS, total
from simulator.model.pricing import PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from workloads.network.network import Network

creator.create("Cost", base.Fitness, weights=(-1.0,))
creator.create("Individual", dict, fitness=creator.Cost)  # {"subgraphs": [set of layer names], "buffer_bytes": int}


class Straightforward:
    """Formula 2 on one network with a shared buffer."""

    def __init__(self, network: Network, space: SharedBuffer, alpha: float, metric: str) -> None:
        self.network, self.space, self.alpha, self.metric = network, space, alpha, metric
        self.rules = PricingRules(Geometry(network), Accelerator(shared_buffer=space.low), "exact")
        self.graph = nx.DiGraph()
        for layer in network.layers:
            self.graph.add_node(layer.name)
            self.graph.add_edges_from((name, layer.name) for name in layer.inputs if name in self.graph)

    def individual(self) -> creator.Individual:
        joining, owner = random.random(), {}
        for layer in nx.topological_sort(self.graph):
            producers = list(self.graph.predecessors(layer))
            join = producers and random.random() < joining
            owner[layer] = owner[random.choice(producers)] if join else layer
        individual = creator.Individual(buffer_bytes=random.choice(self.space.candidates))
        individual["subgraphs"] = self.repair(owner)
        return individual

    def repair(self, owner: dict[str, str]) -> list[set[str]]:
        """Return connected subgraphs without cycles between them."""
        groups: dict[str, set[str]] = {}
        for layer, name in owner.items():
            groups.setdefault(name, set()).add(layer)
        subgraphs = [part for group in groups.values() for part in self.parts(group)]
        while True:
            quotient = nx.quotient_graph(self.graph, subgraphs, relabel=False)
            cycles = [scc for scc in nx.strongly_connected_components(quotient) if len(scc) > 1]
            if not cycles:
                return subgraphs
            for scc in cycles:
                largest = max(scc, key=len)
                subgraphs.remove(set(largest))
                subgraphs += self.halves(largest)

    def parts(self, group: set[str]) -> list[set[str]]:
        return [set(part) for part in nx.weakly_connected_components(self.graph.subgraph(group))]

    def halves(self, group: set[str]) -> list[set[str]]:
        order = [layer for layer in nx.topological_sort(self.graph) if layer in group]
        cut = random.randint(1, len(order) - 1)
        return self.parts(set(order[:cut])) + self.parts(set(order[cut:]))

    def mate(self, first, second):
        children = deepcopy(first), deepcopy(second)
        for child in children:
            owner: dict[str, str] = {}
            for layer in nx.topological_sort(self.graph):
                if layer not in owner:
                    parent = random.choice((first, second))
                    group = next(group for group in parent["subgraphs"] if layer in group)
                    decided = [other for other in group if other in owner]
                    name = owner[random.choice(decided)] if decided and random.random() < 0.5 else layer
                    owner.update((other, name) for other in group if other not in owner)
            child["subgraphs"] = self.repair(owner)
            child["buffer_bytes"] = self.nearest((first["buffer_bytes"] + second["buffer_bytes"]) / 2)
        return children

    def nearest(self, size: float) -> int:
        return min(self.space.candidates, key=lambda candidate: abs(candidate - size))

    def mutate(self, individual):
        owner = {layer: str(i) for i, group in enumerate(individual["subgraphs"]) for layer in group}
        kind = random.choices(("modify", "split", "merge", "capacity"), (3, 2, 3, 2))[0]
        if kind == "modify":
            layer = random.choice(list(self.graph))
            near = [*self.graph.predecessors(layer), *self.graph.successors(layer)]
            owner[layer] = random.choice([*(owner[other] for other in near), "new"])
        elif kind == "split":
            group = random.choice(individual["subgraphs"])
            if len(group) > 1:
                for i, part in enumerate(self.halves(group)):
                    owner.update((layer, f"half {i}") for layer in part)
        elif kind == "merge":
            u, v = random.choice(list(self.graph.edges))
            owner = {layer: owner[u] if name == owner[v] else name for layer, name in owner.items()}
        else:
            individual["buffer_bytes"] = self.nearest(random.gauss(individual["buffer_bytes"], 3 * self.space.step))
        individual["subgraphs"] = self.repair(owner)
        return (individual,)

    def evaluate(self, individual) -> tuple[float]:
        """Return Formula 2; subgraphs that do not fit are split in the individual."""
        machine = Accelerator(shared_buffer=individual["buffer_bytes"])
        waiting, fitting, prices = list(individual["subgraphs"]), [], []
        while waiting:
            group = waiting.pop()
            model = SubgraphModel(self.rules, [self.network.index[layer] for layer in group])
            price = model.price(machine.activation_capacity, machine.weight_capacity)
            if isinstance(price, Shortage):
                waiting += self.halves(group)
            else:
                fitting.append(group)
                prices.append(price)
        individual["subgraphs"] = fitting
        return (machine.buffer_bytes + self.alpha * METRICS[self.metric](total(prices, machine), machine),)


def search(
    network: Network, space: SharedBuffer, alpha: float, metric: str, samples: int, seed: int
) -> tuple[int, float]:
    """Return the number of genomes priced, about `samples`, and the least cost."""
    random.seed(seed)
    problem = Straightforward(network, space, alpha, metric)
    toolbox = base.Toolbox()
    toolbox.register("population", tools.initRepeat, list, problem.individual)
    toolbox.register("mate", problem.mate)
    toolbox.register("mutate", problem.mutate)
    toolbox.register("select", tools.selTournament, tournsize=3)
    toolbox.register("evaluate", problem.evaluate)
    hall = tools.HallOfFame(1)
    generations = max(0, round(samples / 90) - 1)  # of 100 children with these probabilities about 90 are new
    _, logbook = algorithms.eaSimple(
        toolbox.population(n=min(100, samples)), toolbox, 0.8, 0.5, generations, halloffame=hall, verbose=False
    )
    return sum(logbook.select("nevals")), hall[0].fitness.values[0]
