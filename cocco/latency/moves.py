"""Changes of a plan: split, merge, move a layer, run a step earlier or later, keep, drop, leave bytes free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from cocco.candidates.stream import Stream
from cocco.latency.draft import Draft, Group
from simulator.connected import Connected, connected_parts, neighbours
from workloads.network.network import Network


@dataclass(frozen=True)
class Moves:
    """The changes that the plans of one question may have; one that leaves no valid plan is None."""

    network: Network
    connection: Connected
    may_keep: bool

    @cached_property
    def near(self) -> list[list[int]]:
        """Per layer those that it is joined with."""
        return neighbours(self.network, self.connection)

    def draw(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return a draft with a random change."""
        moves: list[Callable[[Draft, Stream], Draft | None]] = [self.split, self.merge, self.layer]
        if self.may_keep:
            moves += [self.shift, self.keep, self.drop]
        return moves[stream.below(len(moves))](draft, stream)

    def split(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return a subgraph cut in two along the order of layers."""
        i = stream.below(len(draft.groups))
        group = draft.groups[i]
        if len(group) == 1:
            return None
        cut = 1 + stream.below(len(group) - 1)
        parts = self._parts(group[:cut]) + self._parts(group[cut:])
        return self._valid(draft, (*draft.groups[:i], *parts, *draft.groups[i + 1 :]))

    def merge(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return two joined subgraphs as one."""
        v = stream.below(len(self.network.layers))
        if not self.near[v]:
            return None
        w = self.near[v][stream.below(len(self.near[v]))]
        first, last = sorted((_step(draft, v), _step(draft, w)))
        if first == last:
            return None
        return self._joined(draft, draft.groups[first] + draft.groups[last], first, last)

    def layer(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return a layer moved to the subgraph of one that it is joined with."""
        v = stream.below(len(self.network.layers))
        if not self.near[v]:
            return None
        w = self.near[v][stream.below(len(self.near[v]))]
        i, j = _step(draft, v), _step(draft, w)
        if i == j:
            return None
        left = self._parts(tuple(u for u in draft.groups[i] if u != v))
        groups = list(draft.groups)
        groups[j] = tuple(sorted((*groups[j], v)))
        groups[i : i + 1] = left
        return self._valid(draft, tuple(groups))

    def shift(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return a step that runs one or more steps earlier or later."""
        count = len(draft.groups)
        i, by = stream.below(count), 1 + stream.below(3)
        j = i + by if stream.below(2) else i - by
        if not 0 <= j < count:
            return None
        groups = list(draft.groups)
        groups.insert(j, groups.pop(i))
        return self._valid(draft, tuple(groups))

    def keep(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return a tensor that stays on chip from one use to a later one."""
        u = stream.below(len(self.network.tensors))
        uses = sorted({*self.network.consumers[u], *([u] if u < len(self.network.layers) else [])})
        if len(uses) < 2:
            return None
        first = stream.below(2) and stream.below(len(uses) - 1)
        last = len(uses) - 1 if stream.below(2) else first + 1 + stream.below(len(uses) - 1 - first)
        return replace(draft, stays=draft.stays | {(u, uses[first], uses[last])})

    def drop(self, draft: Draft, stream: Stream) -> Draft | None:
        """Return a tensor that goes through DRAM instead."""
        if not draft.stays:
            return None
        stays = sorted(draft.stays)
        return replace(draft, stays=draft.stays - {stays[stream.below(len(stays))]})

    def _joined(self, draft: Draft, group: Group, first: int, last: int) -> Draft | None:
        """Return a draft in which two steps are one, at the place of the first or of the last."""
        merged = tuple(sorted(group))
        between = draft.groups[first + 1 : last]
        for middle in ((merged, *between), (*between, merged)):
            found = self._valid(draft, (*draft.groups[:first], *middle, *draft.groups[last + 1 :]))
            if found is not None:
                return found
        return None

    def _parts(self, group: Group) -> list[Group]:
        return [tuple(part) for part in connected_parts(self.network, group, self.connection)]

    def _valid(self, draft: Draft, groups: tuple[Group, ...]) -> Draft | None:
        """Return the draft with these groups, None where one of them reads what is made later."""
        done: set[int] = set()
        for group in groups:
            done.update(group)
            for v in group:
                if any(u < len(self.network.layers) and u not in done for u in self.network.producers[v]):
                    return None
        return draft.with_groups(groups)


def _step(draft: Draft, v: int) -> int:
    return next(i for i, group in enumerate(draft.groups) if v in group)
