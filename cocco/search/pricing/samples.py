"""Samples: what a search saw, in arrays that grow; its tables are made when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.accelerator import Accelerator

if TYPE_CHECKING:
    import pandas


class Rows:
    """Rows of several columns, in the order in which they were appended.

    columns: an array each, of the right type, whose rows are the first ones.
    """

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        self._columns = dict(columns)
        self.count = len(next(iter(self._columns.values())))

    def append(self, *columns: np.ndarray) -> None:
        """Append rows, the columns in their order: all of them, or none where Ctrl-C comes."""
        count = self.count + len(columns[0])
        for (name, old), new in zip(self._columns.items(), columns):
            if not self.count:
                self._columns[name] = np.asarray(new, old.dtype)  # no copy, where it has this type
                continue
            if len(old) < count:
                grown = np.empty((2 * count, *old.shape[1:]), old.dtype)
                grown[: self.count] = old[: self.count]
                self._columns[name] = old = grown
            old[self.count : count] = new
        self.count = count

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns by name, without a copy."""
        return {name: column[: self.count] for name, column in self._columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """What a search saw: its samples and its generations, as arrays by name, of a problem with this machine."""

    samples: Mapping[str, np.ndarray]
    generations: Mapping[str, np.ndarray]
    machine: Accelerator
    buffers: Mapping[str, tuple[int, ...]]  #: the sizes that each chosen buffer can have

    @cached_property
    def history(self) -> pandas.DataFrame:
        """One row per generation; costs are those of the generation, its elite included."""
        import pandas

        return pandas.DataFrame(self.generations, copy=False)

    @cached_property
    def points(self) -> pandas.DataFrame:
        """One row per genome, in order, with its number among the samples.

        Bytes of one core, subgraphs in all networks; `value` is Formula 1.
        """
        import pandas

        return pandas.DataFrame(self.columns, copy=False)  # there may be millions

    def cheapest(self) -> list[dict[str, Any]]:
        """The row of the cheapest sample of each size, the first of several, in the order of the sizes."""
        columns = self.columns
        sizes = [column for name, column in columns.items() if name.endswith("_bytes")]
        order = np.lexsort((columns["cost"], *reversed(sizes)))
        is_first = np.any([np.diff(size[order], prepend=-1) for size in sizes], axis=0)
        return [{name: column[i].item() for name, column in columns.items()} for i in order[is_first]]

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns of `points` by name."""
        of, machine, buffers = self.samples, self.machine, self.buffers
        names = ("shared_buffer",) if machine.is_shared else ("global_buffer", "weight_buffer")
        columns = {"sample": of["number"], "generation": of["generation"]}
        for i, name in enumerate(names):
            chosen = of["capacities"][:, i] if buffers else np.zeros(len(of["cost"]), int)
            columns[f"{name}_bytes"] = np.array(buffers.get(name, [getattr(machine, name)]))[chosen]
        columns |= {name: of[name] for name in ("subgraphs", "value", "cost")}
        columns["best_cost"] = np.minimum.accumulate(of["cost"])
        return columns
