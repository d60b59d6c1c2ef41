"""Breeder: how a genome is made: at random, from a given partition, or from parents (Cocco, Sec. 4.4)."""

from __future__ import annotations

from collections.abc import Container, Sequence

from cocco.candidates.genome import Genome, random_capacities, random_labels, uniform_labels
from cocco.candidates.stream import ONE, Stream, threshold
from cocco.effort.settings import Settings
from cocco.problem.problem import Problem
from cocco.search.genetic.operators.crossover import crossover
from cocco.search.genetic.operators.mutation import (
    merge_subgraphs,
    modify_node,
    mutate_capacity,
    shift_layers,
    split_subgraph,
)
from cocco.search.genetic.operators.own import Own
from cocco.search.genetic.operators.repair import repair
from cocco.search.pricing.genomes import Sample


class Breeder:
    """Makes genomes by the operators of Sec. 4.4, each from the random numbers of its own stream."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem = problem
        self.settings = settings
        self.crossing, self.again = threshold(settings.crossover), threshold(settings.again)
        self.modify_end, self.split_end, self.merge_end, self.shift_end = settings.shares(bool(problem.buffers))
        self.deviation = settings.deviation
        kinds = {count: [each for each in settings.operators if each.parents == count] for count in (1, 2)}
        self.mutations = Own(problem, kinds[1], settings.mutation_shares(bool(problem.buffers)))
        self.crossovers = Own(problem, kinds[2], 1.0)

    def founder(self, initial: Sequence[Sequence[int]], child: int, stream: Stream) -> Genome:
        """Return a genome of the first generation: the initial partitions, then mutants of them and random ones.

        Without initial partitions all are random (Sec. 4.4.1); with them, half of the rest (our choice).
        """
        if child < len(initial):
            return Genome(list(initial[child]), random_capacities(self.problem, stream))
        if initial and stream.chance(ONE // 2):
            labels = list(initial[stream.below(len(initial))])
            genome = self.mutate(Genome(labels, random_capacities(self.problem, stream)), stream)
            while stream.chance(self.again):
                genome = self.mutate(genome, stream)
        else:
            drawn = uniform_labels if self.settings.uniform else random_labels
            genome = Genome(drawn(self.problem, stream), random_capacities(self.problem, stream))
        return self.repaired(genome)

    def child(self, parents: Sequence[Sample], known: Container[tuple[int, ...]], stream: Stream) -> Genome:
        """Return a child of parents that are sorted by cost; known: the keys of their genomes.

        A child that is known already would be a wasted sample, so it is mutated again (our choice).
        """
        genome = self.select(parents, stream)
        if stream.chance(self.crossing):
            other = self.select(parents, stream)
            if self.crossovers.is_next(stream):
                genome = self.crossovers.apply((genome, other), stream)
            else:
                genome = crossover(self.problem, genome, other, stream)
        else:
            genome = self.mutate(genome, stream)
        while stream.chance(self.again):
            genome = self.mutate(genome, stream)
        genome = self.repaired(genome)
        for _ in range(self.settings.retries):
            if genome.key not in known:
                break
            genome = self.repaired(self.mutate(genome, stream))
        return genome

    def select(self, parents: Sequence[Sample], stream: Stream) -> Genome:
        """Return the winner of a tournament (Sec. 4.4.5); ties go to the one made first, as parents are sorted."""
        return parents[min([stream.below(len(parents)) for _ in range(self.settings.tournament)])].genome

    def mutate(self, genome: Genome, stream: Stream) -> Genome:
        """Return the genome after one of the mutations (Sec. 4.4.3, and shift-layers), to be repaired."""
        if self.mutations.is_next(stream):
            return self.mutations.apply((genome,), stream)
        kind = stream.draw() >> 32
        if kind < self.modify_end:
            return modify_node(self.problem, genome, stream)
        if kind < self.split_end:
            return split_subgraph(self.problem, genome, stream)
        if kind < self.merge_end:
            return merge_subgraphs(self.problem, genome, stream)
        if kind < self.shift_end:
            return shift_layers(self.problem, genome, stream)
        return mutate_capacity(self.problem, genome, self.deviation, stream)

    def repaired(self, genome: Genome) -> Genome:
        """Return the genome with a valid partition."""
        return Genome(repair(self.problem, genome.labels), genome.capacities)
