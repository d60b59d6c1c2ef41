"""The hyper-parameters of the genetic algorithm, checked, with defaults that were tuned by measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cocco.candidates.operators import Operator, operators_of
from cocco.candidates.stream import STEP_BITS, threshold

MAX_POPULATION = 2**20  #: our choice: 2000 times the paper's population
MAX_DEVIATION = 4096.0  #: candidates; keeps a normal step within 64-bit integers


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters of the search; a ValueError names the field, the rule and the value.

    The paper names them and gives no values (Cocco, Sec. 4.4); all defaults are our choice, from trials on GoogleNet,
    RandWire-A, RandWire-B and NASNet of 10,000 samples and up to 9 seeds (benchmarks/search_quality.py --ablation). The
    exact sizes and shares lie within the noise between seeds.

    Examples
    --------
    >>> Settings.paper().elite, Settings().elite
    (0, 50)
    """

    population: int = 100  #: genomes of a generation (the paper's Fig. 13 has 500, for 20 generations)
    elite: int = 50  #: of these, the best of the generation before, unchanged and not priced again
    tournament: int = 3  #: genomes drawn for each parent; the best of them is the parent
    crossover: float = 0.5  #: probability that a child has two parents; a child of one is mutated at least once
    again: float = 0.3  #: probability of each further mutation
    modify: float = 0.1  #: share of modify-node among the mutations; shares are relative to their sum
    split: float = 0.1  #: share of split-subgraph
    merge: float = 0.5  #: share of merge-subgraph
    shift: float = 1.0  #: share of shift-layers
    capacity: float = 0.3  #: share of mutation-DSE, where there is a capacity to choose
    capacity_deviation: float = 3.0  #: standard deviation of mutation-DSE, in candidates
    retries: int = 3  #: mutations more for a child that equals a genome of the generation before
    patience: int = 50  #: generations without improvement before a population starts anew; 0: never
    islands: int = 4  #: populations from random genomes before one from the best of them; 1: all are random
    island: float = 0.15  #: share of all samples that one of them has at most
    anneal: float = 0.5  #: share of all samples for annealing from the best genome (exploration.searching.annealed)
    polish: float = (
        0.25  #: share of the others for iterated order DP from the best genome (exploration.searching.polish)
    )
    seeds: bool = True  #: whether islands start from founders beside random genomes (exploration.searching.founders)
    uniform: bool = False  #: whether random genomes draw each P(v) uniformly in its valid range, as in the paper
    model_memo: int = 4096  #: subgraph models kept; a memo changes the time, never the result
    price_memo: int = 65536  #: subgraph prices kept
    operators: tuple[Operator, ...] = ()  #: mutations and crossovers of one's own; they breed in Python

    def __post_init__(self) -> None:
        for name, least, most in (
            ("population", 2, MAX_POPULATION),
            ("elite", 0, MAX_POPULATION),
            ("tournament", 1, MAX_POPULATION),
            ("retries", 0, 100),
            ("patience", 0, 2**31),
            ("islands", 1, MAX_POPULATION),
            ("model_memo", 1, 2**31),
            ("price_memo", 1, 2**31),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ValueError(f"settings.{name} must be an integer from {least} to {most}, got {value!r}")
        if self.elite >= self.population:
            raise ValueError(f"settings.elite must be below population={self.population}, got {self.elite}")
        for name, limit in (
            ("crossover", 1.0),
            ("again", 0.9),
            ("modify", 1.0),
            ("split", 1.0),
            ("merge", 1.0),
            ("shift", 1.0),
            ("capacity", 1.0),
            ("island", 1.0),
            ("anneal", 1.0),
            ("polish", 1.0),
            ("capacity_deviation", MAX_DEVIATION),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= limit:
                raise ValueError(f"settings.{name} must be a number from 0 to {limit:g}, got {value!r}")
        for name in ("seeds", "uniform"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"settings.{name} must be true or false, got {getattr(self, name)!r}")
        if self.modify + self.split + self.merge + self.shift == 0:
            raise ValueError("settings.modify, split, merge and shift must not all be 0, got 0, 0, 0 and 0")
        object.__setattr__(self, "operators", operators_of(self.operators))

    @classmethod
    def paper(cls, population: int = 100) -> Settings:
        """Return the genetic algorithm of the paper and nothing else (Cocco, Sec. 4.4).

        Random valid partitions, tournaments whose winners replace the whole population, its crossover and its four
        mutations; children may repeat. The paper gives no values of its hyper-parameters but Figure 13's population of
        500: these are our choice.
        """
        return cls(
            population=population, elite=0, crossover=0.8, modify=0.3, split=0.2, merge=0.3, shift=0.0, retries=0,
            patience=0, islands=1, anneal=0.0, polish=0.0, seeds=False, uniform=True,
        )  # fmt: skip

    @classmethod
    def of(cls, method: str) -> Settings:
        """Return the settings that a method has by default."""
        return cls.paper() if method == "paper" else cls()

    def shares(self, has_capacities: bool) -> tuple[int, int, int, int]:
        """Return where modify-node, split, merge and shift end on a 32-bit random scale; the rest is mutation-DSE."""
        shares = self._shares(has_capacities)
        whole = math.fsum(shares)
        first, second, third, fourth = (threshold(math.fsum(shares[:count]) / whole) for count in (1, 2, 3, 4))
        return first, second, third, fourth

    def mutation_shares(self, has_capacities: bool) -> float:
        """Return the sum of the shares of our mutations."""
        return math.fsum(self._shares(has_capacities))

    def _shares(self, has_capacities: bool) -> list[float]:
        return [self.modify, self.split, self.merge, self.shift, self.capacity if has_capacities else 0.0]

    @property
    def deviation(self) -> int:
        """Standard deviation of mutation-DSE, in the unit of `Stream.normal_step`."""
        return round(self.capacity_deviation * 2**STEP_BITS)
