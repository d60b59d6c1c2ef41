"""What may run next, given what is kept, and how: the steps of the exact search, in a window or a whole network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cocco.candidates.sets import Cones, members
from cocco.effort.budgets import LOOK_STEPS, MAX_SETS, PRICE_STEPS
from cocco.search.exact.interchangeable import Alike
from cocco.search.exact.question import KeepQuestion, KeptStep, sets_of_consumers, sets_of_near, sets_of_producers
from cocco.search.exact.window import MANY_SETS, MANY_STEPS, Limits, Place, Window, all_of

DEFAULT = Limits()


class OutOfBudgetError(Exception):
    """The search has outgrown its bounds."""

    def __init__(self, why: int) -> None:
        super().__init__(why)
        self.why = why


class Memo:
    """What the windows of one network share: which sets of layers may fit, and prices of steps."""

    def __init__(self, question: KeepQuestion, most: Limits = DEFAULT) -> None:
        """most: the limits of any window; they decide how many prices are remembered."""
        network = question.network
        self.most_prices = most.steps // PRICE_STEPS + 2
        self.question, self.count = question, len(network.layers)
        self.consumers, self.reads = sets_of_consumers(network), sets_of_producers(network)
        layers = (1 << self.count) - 1
        self.producers = [tensors & layers for tensors in self.reads]
        self.near = sets_of_near(question)
        self.cones = Cones(network.producers)
        self.alone = 0 if question.may_keep else self._alone()
        self.after: dict[int, int] = {}
        self.fits: dict[int, bool | None] = {}  # None: met, not looked at
        self.prices: dict[KeptStep, float] = {}

    def _alone(self) -> int:
        """Return the layers that share a subgraph with no reader and no sibling.

        A larger subgraph with such a layer u, whose producers have run, would contain a layer v that is joined with u
        and, being convex, all layers on paths from u to v.
        """
        found = 0
        for u in range(self.count):
            between = (self.cones.down[u] & self.cones.up[v] | 1 << u | 1 << v for v in members(self.near[u]))
            found |= (not any(self.question.may_fit(tuple(members(each))) for each in between)) << u
        return found

    def after_with(self, v: int) -> int:
        """Return the descendants of a layer that may share a subgraph with it, which then has all layers between."""
        if v not in self.after:
            found, stack = 0, [v]
            while stack:
                for w in members(self.consumers[stack.pop()] & ~found):
                    if self.question.may_fit(tuple(members(self.cones.down[v] & self.cones.up[w]))):
                        found |= 1 << w
                        stack.append(w)
            self.after[v] = found
        return self.after[v]

    def make_room(self, limits: Limits) -> None:
        """Forget everything if a search might not find room for its prices."""
        if len(self.prices) + limits.steps // PRICE_STEPS + 2 > self.most_prices or len(self.fits) > MAX_SETS // 2:
            self.fits.clear()
            self.prices.clear()


class Ceiling:
    """The highest lower bound of a plan up to which steps run now; steps beyond it wait."""

    def __init__(self, cost: float, limit: float, left: Callable[[int], tuple[float, int]]) -> None:
        """cost: up to the state; left: by what has run, the least remaining cost and the tensors still read."""
        self.cost, self.limit, self.left = cost, limit, left
        self.skipped = math.inf  #: the least of all that waits

    def holds_back(self, least: float) -> bool:
        """Return whether a step with this lower bound has to wait, and record that."""
        if least <= self.limit:
            return False
        self.skipped = min(self.skipped, least)
        return True


class _Option(NamedTuple):
    """One choice of what happens to a tensor in a step."""

    unwritten: int = 0  #: kept from here on, in one of the two ways
    written: int = 0
    stores: int = 0  #: written to DRAM by this step
    more: float = 0.0  #: what it costs at least: crossings now, and the next reading
    after: int = 0  #: stays only if this one does, which is alike


class Moves:
    """The steps that lead from the states of one window; counts the work."""

    def __init__(self, memo: Memo, window: Window, limits: Limits, merges: bool = True) -> None:
        """merges: whether one plan stands for all equivalent ones: by interchangeable tensors, or by order."""
        self.memo, self.question, self.window, self.limits = memo, memo.question, window, limits
        self.inside = window.goal.executed & ~window.start.executed
        self.needed = window.goal.unwritten | window.goal.written
        self.keeps = self.question.may_keep or any((*window.start[1:], self.needed))  # or a state is only what has run
        self.in_order = merges and not self.keeps and not window.units
        self.readers = [consumers & self.inside for consumers in memo.consumers]
        self.near = [near & self.inside for near in memo.near]
        self.layers = list(members(self.inside))
        self.upward, self.heads = self._units()  # per layer: its unit and what that needs; the first layers of units
        self.groups: dict[int, list[int]] = {}
        kinds = self.question.alike if merges and window == all_of(self.question.network) else ()
        self.alike = Alike(kinds, memo.consumers, memo.count)
        self.steps = 0
        self.none = Ceiling(0.0, math.inf, lambda _: (0.0, 0))
        memo.make_room(limits)

    def _units(self) -> tuple[list[int], int]:
        if not self.window.units:
            return self.memo.cones.up, self.inside
        upward, heads = [0] * self.memo.count, 0
        for unit in self.window.units:
            needs = unit
            for v in members(unit):
                for p in members(self.memo.producers[v] & self.inside & ~unit):
                    needs |= upward[p]
            for v in members(unit):
                upward[v] = needs
            heads |= unit & -unit
        return upward, heads

    def read_beyond(self, u: int) -> bool:
        """Return whether a layer after the window reads a tensor."""
        return self.memo.consumers[u] & ~self.window.goal.executed != 0

    def from_place(self, place: Place, ceiling: Ceiling | None = None) -> Iterator[tuple[int, float, Place]]:
        """Yield subgraph, price and next state of every way to run a step, except those beyond the ceiling."""
        for group in self._groups(place.executed):
            if self.keeps:
                yield from self._steps(place, group, ceiling or self.none)
            else:
                price = self._price(KeptStep(tuple(members(group)), 0, *self._crossing(group), 0, 0))
                if price < math.inf:
                    yield group, price, Place(place.executed | group, 0, 0)

    def _groups(self, executed: int) -> list[int]:
        """Return the sets of layers that can run next and may fit, each once.

        A set S starts with a ready layer and grows by a layer w that reads it, or is a sibling of one of its layers,
        with the ancestors of w that have not run. Complete: a connected S whose producers have run or are in S is a
        union of such closures; as long as part of it is missing, something joins the part built so far with a layer w
        of the rest. It is no edge from w, since the part is closed; so w reads the part or is a sibling, and the
        ancestors of w are in S. Sound: w and its ancestors are connected by edges, and joined with the part. Growth
        stops where `may_fit` fails, as every larger set also fails.
        """
        if executed in self.groups:
            return self.groups[executed]
        found: list[int] = []
        seen: set[int] = set()
        starts, first, wanted = self._starts(executed)
        for v in starts:
            unit = self.upward[v] & ~executed
            if unit in seen:
                continue
            stack = [unit]
            self._meet(unit, seen)
            while stack:
                group = stack.pop()
                self._count(1)
                if not self._may_fit(group):
                    continue
                near = readers = 0
                for u in members(group & ~self.memo.alone):
                    near |= self.near[u]
                for u in members(group):
                    readers |= self.readers[u]
                if group & first or readers & ~group & wanted:
                    found.append(group)
                for w in members(near & ~group & ~executed):
                    grown = group | self.upward[w] & ~executed
                    if grown not in seen and not 0 < self.limits.units < (grown & self.heads).bit_count():
                        self._meet(grown, seen)
                        stack.append(grown)
        self.groups[executed] = found
        return found

    def _starts(self, executed: int) -> tuple[list[int], int, int]:
        """Return layers of which a next set has one, the layers of which it has one or a reader outside it is wanted.

        Any set begins with a ready layer. If nothing is kept, plans differ by their subgraphs only, and one order of
        each will do. A layer that can only run alone runs at once: that excludes no order of the others. Else let v be
        the first layer left; its producers have run. Next is its subgraph G, or one that G waits for, directly or
        through others: the first of these that is ready. What G waits for contains no descendant of v, as G would then
        wait for itself. So a next subgraph without v has a layer s, no descendant of v, with a reader outside it that
        is in G or in another that G waits for: a descendant of v that may share a subgraph with it, or a layer left
        that is no descendant of v.
        """
        left = self.inside & ~executed
        if not self.in_order:
            ready = [v for v in members(left) if (self.upward[v] & left & self.heads).bit_count() == 1]
            return ready, left, 0
        for v in members(self.memo.alone & left):
            if self.upward[v] & left == 1 << v:
                return [v], left, 0
        first = left & -left
        v = first.bit_length() - 1
        wanted = left & ~self.memo.cones.down[v]
        if not wanted:
            return [v], first, 0
        beside, wanted = wanted, wanted | self.memo.after_with(v) & left
        return [v, *(u for u in members(beside) if self.readers[u] & wanted)], first, wanted

    def _meet(self, group: int, seen: set[int]) -> None:
        seen.add(group)
        if group not in self.memo.fits:
            if len(self.memo.fits) == MAX_SETS:
                raise OutOfBudgetError(MANY_SETS)
            self.memo.fits[group] = None

    def _may_fit(self, group: int) -> bool:
        known = self.memo.fits[group]
        if known is None:
            self._count(LOOK_STEPS)
            known = group.bit_count() == 1 or self.question.may_fit(tuple(members(group)))
            self.memo.fits[group] = known
        return known

    def _crossing(self, group: int) -> tuple[int, int]:
        """Return the tensors that a subgraph loads and writes where nothing is kept."""
        loaded = stored = 0
        for v in members(group):
            loaded |= self.memo.reads[v]
            is_read = self.memo.consumers[v] & ~group
            stored |= bool(is_read or self.question.network.is_output[v]) << v
        return loaded & ~group, stored

    def _steps(self, place: Place, group: int, ceiling: Ceiling) -> Iterator[tuple[int, float, Place]]:
        """Yield every way to run a subgraph."""
        executed, kept = place.executed | group, place.unwritten | place.written
        inputs = 0
        for v in members(group):
            inputs |= self.memo.reads[v]
        inputs &= ~group
        loaded, stored, optional = inputs & ~kept, 0, 0
        left, live = ceiling.left(executed)
        choices: list[list[_Option]] = []
        before = self.alike.before(place.executed)
        for v in members(group):
            is_read = self.readers[v] & ~executed or self.read_beyond(v)
            if self.question.network.is_output[v]:
                stored |= 1 << v
                if is_read:
                    choices.append(self._loaded(v, executed, live))  # DRAM has it, as it has an input
                    optional |= 1 << v
            elif is_read:
                choices.append(self._made(v, executed, live))
                optional |= 1 << v
        for u in members(loaded):
            options = self._loaded(u, executed, live)
            if len(options) > 1 or options[0].written:
                if before.get(u, u) != u and loaded >> before[u] & 1:
                    options = [each._replace(after=1 << before[u]) if each.written else each for each in options]
                choices.append(options)
                optional |= 1 << u
        least = self._least(group, loaded, live & ~kept & ~optional, ceiling.cost) + left
        if ceiling.holds_back(least):
            self._count(1)
            return
        last = may_drop = 0
        for u in members(inputs & kept):
            if not self.readers[u] & ~executed:
                last |= 1 << u & ~self.needed
            elif place.written >> u & 1:
                may_drop |= 1 << u
        layers, size = tuple(members(group)), sum(self.question.whole[u] for u in members(kept))
        given = sum([1 << u for u in members(last) if not self.read_beyond(u)])
        more = self.question.most_handed(group) if given else 0
        chosen = self._choices(choices, stored, size - more, least, ceiling)
        for unwritten, written, stores, kept_bytes, _ in chosen:
            self._count(1)
            on_chip = kept | unwritten | written
            touched = on_chip & (group | inputs)
            elsewhere = (on_chip & ~touched).bit_count()
            handed = self.question.handed(group, on_chip, given) if more else 0
            kept_bytes += more - handed
            price = self._price(KeptStep(layers, touched, loaded, stores, kept_bytes, elsewhere, handed))
            if price < math.inf:
                unwritten, written = (place.unwritten | unwritten) & ~last, (place.written | written) & ~last
                for dropped in _drops(may_drop, before):
                    self._count(dropped > 0)
                    yield group, price, Place(executed, unwritten, written & ~dropped)

    def _least(self, group: int, loaded: int, live: int, cost: float) -> float:
        """Return the least cost of a plan up to a step, including the next loads of these tensors."""
        for v in members(group):
            cost += self.question.layer_floor[v]
        for u in members(loaded):
            cost += self.question.crossing_floor[u]
        for u in members(live):
            cost += self.question.crossing_floor[u]
        return cost

    def _made(self, v: int, executed: int, live: int) -> list[_Option]:
        """Return the choices for an output that is read later: written, kept until its last reader, or both.

        It need not be written if it is read in the window only, or kept unwritten beyond it. Both can pay if it is read
        more than once, beyond the window or in it.
        """
        bit, later = 1 << v, (self.readers[v] & ~executed).bit_count()
        beyond, needed = self.read_beyond(v), self.needed >> v & 1
        crossing = self.question.crossing_floor[v]
        passes = _Option(stores=bit, more=crossing + (crossing if live & bit else 0.0))
        if not self.question.may_keep:
            return [passes]
        options = []
        if later or not needed:
            options.append(passes)
        if not beyond or self.window.goal.unwritten >> v & 1:
            options.append(_Option(unwritten=bit))
            if later > 1:
                options.append(_Option(written=bit, stores=bit, more=crossing))
        elif later or needed:
            options.append(_Option(written=bit, stores=bit, more=crossing))
        return options

    def _loaded(self, u: int, executed: int, live: int) -> list[_Option]:
        """Return the choices for an input from DRAM: it passes or stays."""
        later, needed = self.readers[u] & ~executed, self.needed >> u & 1
        again = self.question.crossing_floor[u] if live >> u & 1 else 0.0
        options = [] if needed and not later else [_Option(more=again)]
        return [*options, _Option(written=1 << u)] if self.question.may_keep and (later or needed) else options

    def _choices(
        self, choices: list[list[_Option]], stored: int, size: int, least: float, ceiling: Ceiling
    ) -> Iterator[tuple[int, int, int, int, float]]:
        """Yield each choice: tensors kept unwritten, kept written, and written, the bytes kept, and a lower bound.

        These are all choices that fit and need not wait.
        """
        so_far, options = [(0, 0, stored, size, least)], [iter(each) for each in choices[:1]]
        if not choices:
            yield so_far.pop()
        while options:
            option = next(options[-1], None)
            if option is None:
                options.pop()
                so_far.pop()
                continue
            unwritten, written, stores, kept_bytes, below = so_far[-1]
            if option.after & ~written:
                continue
            more = kept_bytes + sum(self.question.whole[u] for u in members(option.unwritten | option.written))
            if more > self.question.room:
                first = choices[len(options) - 1][0]
                self._count(bool(first.unwritten | first.written))  # it cannot pass instead
                continue
            if ceiling.holds_back(below + option.more):
                self._count(1)
                continue
            unwritten, written, stores = unwritten | option.unwritten, written | option.written, stores | option.stores
            chosen = unwritten, written, stores, more, below + option.more
            if len(options) == len(choices):
                yield chosen
            else:
                so_far.append(chosen)
                options.append(iter(choices[len(options)]))

    def _price(self, step: KeptStep) -> float:
        if step not in self.memo.prices:
            self._count(PRICE_STEPS)
            self.memo.prices[step] = self.question.price(step)
        return self.memo.prices[step]

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.limits.steps:
            raise OutOfBudgetError(MANY_STEPS)


def _drops(tensors: int, before: dict[int, int]) -> Iterator[int]:
    """Yield the sets of these tensors to drop, from none to all; a tensor only with the interchangeable one before it.

    Each set is the next larger one: the first tensor that stays is dropped, and of those before it only those that
    other dropped ones require.
    """
    ids, dropped = list(members(tensors)), 0
    following = {before[u]: u for u in ids if u in before}
    while True:
        yield dropped
        at = next((i for i, u in enumerate(ids) if not dropped >> u & 1), None)
        if at is None:
            return
        dropped |= 1 << ids[at]
        for u in reversed(ids[:at]):
            if u not in following or not dropped >> following[u] & 1:
                dropped &= ~(1 << u)
