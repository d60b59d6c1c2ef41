"""The intervals that save the most DRAM bytes: a dynamic program over the steps, exact or as a beam.

A state after a step is the set of tensors that are kept beyond it, each in one of two ways:

    unwritten   DRAM has no copy, so it stays until its last reader
    written     DRAM has one; it stays until its next reader, and may be dropped there

Every other tensor lies in DRAM. Of two ways to one state, the one that moved fewer bytes stays; of equal ones, the one
that kept fewer bytes over the steps so far (our choice: useless kept tensors only take room). A state that costs no
less and keeps no fewer bytes than another, but keeps other tensors, may still win: kept tensors save later reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from cocco.search.exact.state import START, State, bits, members, spans_of
from cocco.search.keeping.beam import narrow
from cocco.search.keeping.problem import Chosen, KeepProblem, Need


def choose_intervals(problem: KeepProblem, need: Need, width: int | None = None) -> Chosen | None:
    """Return the intervals that save the most DRAM bytes; None if the steps cannot run whatever is kept.

    width: the most states to continue with (cocco.search.keeping.beam); None: all, so the answer is exact. With a
    width, the answer None may also mean that the beam was too narrow, but never if the steps run with nothing kept.
    """
    table = _Table(problem, need)
    states, most, exact = [START], 1, True
    for step in range(len(problem.made)):
        for tensor in problem.read[step]:
            states, all_left = narrow(list(table.load(step, tensor, states)), width)
            exact &= all_left
        for tensor in problem.made[step]:
            states, all_left = narrow(list(table.make(step, tensor, states)), width)
            exact &= all_left
        states = [state.ran() for state in states if table.fits(step, state)]
        for tensor in problem.read[step]:
            states = list(table.let_go(step, tensor, states))
        states, all_left = narrow(_distinct(states), width)
        exact &= all_left
        if not states:
            return None
        most = max(most, len(states))
        states = [state.passed() for state in states]
    (last,) = states
    return Chosen(spans_of(last.trail), table.moved_without_keeping() - last.moved, exact, most)


class _Table:
    """The numbers of a problem in the form that steps need; every method of a step maps states to states."""

    def __init__(self, problem: KeepProblem, need: Need) -> None:
        self.problem, self.need = problem, need
        self.touched = [bits(both[0] + both[1]) for both in zip(problem.made, problem.read)]
        self.needs: dict[tuple[int, int], int] = {}
        least = problem.least or (0,) * len(problem.made)
        self.free = [room - floor for room, floor in zip(problem.room, least)]
        self.reads: dict[int, list[int]] = {}
        for step, tensors in enumerate(problem.read):
            for tensor in tensors:
                self.reads.setdefault(tensor, []).append(step)

    def moved_without_keeping(self) -> int:
        """Return the bytes that cross DRAM with nothing kept, of the tensors that may be kept."""
        return sum(self.problem.moved[u] for u in chain(*self.problem.made, *self.problem.read))

    def load(self, step: int, tensor: int, states: Iterable[State]) -> Iterator[State]:
        """Read a tensor: from the chip, or from DRAM, and then it may stay."""
        bit, moved, whole = 1 << tensor, self.problem.moved[tensor], self.problem.whole[tensor]
        following = [each for each in self.reads[tensor] if each > step]
        may_stay = bool(following) and self._has_room(whole, step, following[0])
        for state in states:
            if state.kept & bit:
                yield state
                continue
            loaded = state._replace(moved=state.moved + moved)
            yield loaded
            if may_stay and state.bytes + whole <= self.free[step]:
                yield loaded.keep(0, bit, whole)

    def make(self, step: int, tensor: int, states: Iterable[State]) -> Iterator[State]:
        """Make a tensor: write it, keep it, or both; both only where it need not stay until its last reader."""
        bit, moved, whole = 1 << tensor, self.problem.moved[tensor], self.problem.whole[tensor]
        reads, stored = self.reads[tensor], tensor in self.problem.stored
        may_stay = not stored and self._has_room(whole, step, reads[-1])
        may_both = (stored or len(reads) > 1) and self._has_room(whole, step, reads[0])
        for state in states:
            written = state._replace(moved=state.moved + moved)
            yield written
            if state.bytes + whole <= self.free[step]:
                if may_stay:
                    yield state.keep(bit, 0, whole)
                if may_both:
                    yield written.keep(0, bit, whole)

    def fits(self, step: int, state: State) -> bool:
        """Return whether a step runs next to the kept tensors."""
        spare, kept = self.problem.spare, state.kept
        if spare is not None and (kept & ~self.touched[step]).bit_count() > spare[step]:
            return False
        here = kept & self.touched[step]
        if (step, here) not in self.needs:
            self.needs[step, here] = self.need(step, frozenset(members(here)))
        return state.bytes + self.needs[step, here] <= self.problem.room[step]

    def let_go(self, step: int, tensor: int, states: Iterable[State]) -> Iterator[State]:
        """Drop a tensor that was kept until here: always after its last reader, else or not if DRAM has it."""
        bit, whole = 1 << tensor, self.problem.whole[tensor]
        following = [each for each in self.reads[tensor] if each > step]
        may_stay = bool(following) and self._has_room(whole, step, following[0])
        for state in states:
            if not state.trail.kept & bit:  # read from DRAM by this step
                yield state
                continue
            if not following or state.written & bit:
                yield state.drop(bit, whole)
            if following and (state.unwritten & bit or may_stay):
                yield state

    def _has_room(self, whole: int, first: int, last: int) -> bool:
        """Return whether a tensor alone finds room in all steps from the first to the last."""
        return whole <= min(self.free[first : last + 1])


def _distinct(states: Iterable[State]) -> list[State]:
    """Return the best of the ways to each state; of equal ones the first."""
    best: dict[tuple[int, int], State] = {}
    for state in states:
        key = state.unwritten, state.written
        if key not in best or state.cost < best[key].cost:
            best[key] = state
    return list(best.values())
