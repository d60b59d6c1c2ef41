"""Snapshot of a search for a front between two NSGA-II generations, from which it continues to the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from cocco.effort.settings import Settings
from cocco.effort.work_units import Store, key_of, store_of_states
from cocco.problem.problem import Problem
from cocco.search.genetic.population import Population


class Cloud(Protocol):
    """All samples of a search, and those on the front (cocco.search.genetic.nsga)."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return them as plain data and arrays."""

    def restore(self, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Become those of this state."""


class Parents(NamedTuple):
    """What a generation is bred from, in addition to the cloud; is_first: none was bred yet."""

    population: Population
    values: np.ndarray  #: their criteria
    is_first: bool


class CloudKeeper:
    """Writes snapshots from time to time, and finds the last one; without a store it does nothing."""

    def __init__(self, store: Store | None, key: str) -> None:
        self.store, self.key = store, key

    def find(self, cloud: Cloud, start: Parents) -> Parents:
        """Restore the cloud from the last snapshot and return its parents; return the start if there is none."""
        found = None if self.store is None else self.store.state(self.key)
        if found is None:
            return start
        plain, arrays = found
        cloud.restore(plain, arrays)
        population = Population(*(arrays[f"parents_{field}"] for field in Population._fields))
        return Parents(population, arrays["parents_values"], plain["is_first"])

    def keep(self, cloud: Cloud, parents: Parents) -> None:
        """Write a snapshot if the last one is old."""
        if self.store is None or not self.store.is_due():
            return
        plain, arrays = cloud.state()
        arrays |= {f"parents_{field}": array for field, array in parents.population._asdict().items()}
        arrays["parents_values"] = parents.values
        self.store.keep_state(self.key, plain | {"is_first": parents.is_first}, arrays)


def cloud_keeper(
    problem: Problem, names: Sequence[str], samples: tuple[int, int], seed: int, settings: Settings, start: Population,
    initial: Sequence[Sequence[int]],
) -> CloudKeeper:  # fmt: skip
    """Return the keeper of snapshots for one of the searches for a front that a question takes.

    names: of the criteria; samples: the number of the last one of this search, and of the last one of all.
    """
    store = store_of_states()
    if store is None or settings.operators:
        return CloudKeeper(None, "")
    begins = [start.labels.tolist(), start.capacities.tolist(), [list(map(int, each)) for each in initial]]
    asked = (problem, list(names), samples, seed, repr(settings), begins)
    return CloudKeeper(store, key_of("nsga", asked))
