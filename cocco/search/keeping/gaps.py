"""Choose which tensors stay on chip over which steps of a given order: first what saves most per byte and step.

A tensor has a place at each step that makes or reads it. A gap leads from one place to the next: a tensor that stays
over it saves one read, and over all gaps from its maker on also the write. Single gaps, and all gaps of a tensor
together, are taken in the order of bytes saved per byte and step (our choice: the greedy rule of the knapsack); of
equal ones those that save more, then those of earlier tensors, then those that begin earlier. The room in a step is
what its least need leaves, plus what a tensor of its own takes there, which is freed if that tensor stays whole.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.partition.intervals import Span

NO_LIMIT = 1 << 40  #: slots of a step that may keep any number of tensors; our choice: above any number of tensors


class Place(NamedTuple):
    """A step that makes or reads a tensor."""

    step: int
    takes: int  #: bytes of the tensor there where it is not kept


class Kin(NamedTuple):
    """A tensor and its places: the first is its maker's, unless it is a model input."""

    tensor: int
    is_made: bool  #: by a step, and need not be written where it stays over all its places
    whole: int  #: bytes while it is kept
    moved: int  #: bytes of one crossing of DRAM, all samples
    places: tuple[Place, ...]

    def saved(self, first: int, last: int) -> int:
        """Return the bytes saved if the tensor stays from one place to another."""
        is_all = self.is_made and first == 0 and last == len(self.places) - 1
        return (last - first + is_all) * self.moved

    def worth(self, first: int, last: int) -> float:
        """Return the bytes saved per byte and step."""
        steps = self.places[last].step - self.places[first].step
        return float(self.saved(first, last)) / float(self.whole * steps)


class Stay(NamedTuple):
    """A tensor that stays from one of its places to another."""

    kin: Kin
    first: int
    last: int

    @property
    def span(self) -> Span:
        """Tensor, first step, last step."""
        return self.kin.tensor, self.kin.places[self.first].step, self.kin.places[self.last].step

    @property
    def saved(self) -> int:
        """Bytes that need not cross DRAM."""
        return self.kin.saved(self.first, self.last)

    @property
    def worth(self) -> float:
        """Bytes saved per byte and step."""
        return self.kin.worth(self.first, self.last)

    @property
    def is_unwritten(self) -> bool:
        """Whether DRAM never has it: it stays from its maker to its last reader."""
        return self.kin.is_made and self.first == 0 and self.last == len(self.kin.places) - 1


def chosen_stays(tensors: list[Kin], free: list[int], slots: list[int]) -> list[Stay]:
    """Return the tensors that stay and over which steps, by tensor and first step.

    free: per step the bytes beyond its least need. slots: per step how many tensors it does not touch may stay;
    negative: nothing may stay there at all. Both lists are used up.
    """
    taken = [[False] * (len(kin.places) - 1) for kin in tensors]
    kept = [[False] * len(kin.places) for kin in tensors]
    candidates = [
        (-kin.worth(*ends), -kin.saved(*ends), i, ends) for i, kin in enumerate(tensors) for ends in _candidates(kin)
    ]
    for _, _, i, (first, last) in sorted(candidates):
        kin = tensors[i]
        gaps = [gap for gap in range(first, last) if not taken[i][gap]]
        places = [kin.places[at] for at in range(first, last + 1) if not kept[i][at]]
        between = [step for gap in gaps for step in range(kin.places[gap].step + 1, kin.places[gap + 1].step)]
        if not all(free[step] >= kin.whole - takes and slots[step] >= 0 for step, takes in places):
            continue
        if not all(free[step] >= kin.whole and slots[step] > 0 for step in between):
            continue
        for step, takes in places:
            free[step] -= kin.whole - takes
        for step in between:
            free[step] -= kin.whole
            slots[step] -= 1
        for gap in gaps:
            taken[i][gap] = kept[i][gap] = kept[i][gap + 1] = True
    return [stay for i, kin in enumerate(tensors) for stay in _stays(kin, taken[i])]


def _candidates(kin: Kin) -> list[tuple[int, int]]:
    """Return each gap by its ends, plus all gaps together if that also saves the write; one gap may be both."""
    last = len(kin.places) - 1
    gaps = [(at, at + 1) for at in range(last)]
    return gaps + [(0, last)] if kin.is_made and last > 1 else gaps


def _stays(kin: Kin, taken: list[bool]) -> list[Stay]:
    """Return the runs of consecutive gaps that are taken."""
    found, first = [], None
    for at, is_taken in enumerate([*taken, False]):
        if is_taken and first is None:
            first = at
        if not is_taken and first is not None:
            found.append(Stay(kin, first, at))
            first = None
    return found
