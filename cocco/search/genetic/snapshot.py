"""Snapshot: the state of the genetic algorithm between two generations, from which it continues to the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocco.effort.settings import Settings
from cocco.effort.work_units import Store, key_of, store_of_states
from cocco.problem.problem import Problem
from cocco.search.genetic.islands import Islands
from cocco.search.genetic.population import Population
from cocco.search.genetic.trace import Trace

Labels = list[list[int]]


@dataclass
class Snapshot:
    """What a generation is bred from, in addition to the trace and the islands.

    waiting: founders of the populations to come, the next one last; initial: those of the current one.
    """

    population: Population
    waiting: list[Labels]
    initial: Labels
    generation: int = 0
    improved: int = 0  #: the last generation that was better than the one before


class Keeper:
    """Writes snapshots from time to time, and finds the last one; without a store it does nothing."""

    def __init__(self, store: Store | None, key: str) -> None:
        self.store, self.key = store, key

    def find(self, snapshot: Snapshot, trace: Trace, islands: Islands) -> None:
        """Restore the last snapshot, if there is one."""
        found = None if self.store is None else self.store.state(self.key)
        if found is None:
            return
        plain, arrays = found
        snapshot.population = _population(arrays, "population")
        snapshot.waiting, snapshot.initial = plain["waiting"], plain["initial"]
        snapshot.generation, snapshot.improved = plain["generation"], plain["improved"]
        islands.begun, islands.is_reunion = plain["begun"], plain["is_reunion"]
        islands.kept = [_population(arrays, f"kept{i}") for i in range(plain["kept"])]
        trace.restore(plain["trace"], arrays)

    def keep(self, snapshot: Snapshot, trace: Trace, islands: Islands) -> None:
        """Write a snapshot if the last one is old."""
        if self.store is None or not self.store.is_due():
            return
        told, arrays = trace.state()
        arrays |= _arrays(snapshot.population, "population")
        for i, kept in enumerate(islands.kept):
            arrays |= _arrays(kept, f"kept{i}")
        plain = {
            "waiting": snapshot.waiting, "initial": [list(map(int, each)) for each in snapshot.initial],
            "generation": snapshot.generation, "improved": snapshot.improved, "begun": islands.begun,
            "is_reunion": islands.is_reunion, "kept": len(islands.kept), "trace": told,
        }  # fmt: skip
        self.store.keep_state(self.key, plain, arrays)


def keeper_of(problem: Problem, samples: int, seed: int, settings: Settings, founders: Sequence[Any]) -> Keeper:
    """Return the keeper of snapshots for one of the searches that a question may take."""
    store = store_of_states()
    if store is None or settings.operators:
        return Keeper(None, "")
    asked = (problem, samples, seed, repr(settings), [[list(map(int, each)) for each in island] for island in founders])
    return Keeper(store, key_of("genetic", asked))


def _arrays(population: Population, name: str) -> dict[str, np.ndarray]:
    return {f"{name}_{field}": array for field, array in population._asdict().items()}


def _population(arrays: Mapping[str, np.ndarray], name: str) -> Population:
    return Population(*(arrays[f"{name}_{field}"] for field in Population._fields))
