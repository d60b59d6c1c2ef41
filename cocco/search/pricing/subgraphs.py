"""The cost of one subgraph on given hardware, and a condition that every subgraph that can run meets.

The baselines of Cocco, Sec. 4.2, are built on these: Formula 1 is a sum over subgraphs there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

from cocco.problem.problem import Problem
from cocco.search.kernel.compiled import first_of
from cocco.search.pricing.genomes import Group, Pricer
from simulator.model.cost import Totals
from simulator.model.layer.goal import Room
from simulator.model.layer.least_room import can_run
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Geometry

MEMO = 2**17  #: our choice: prices kept, some 50 MB where subgraphs have 30 layers

GroupPrice = Callable[[Group], Totals | None]  #: what a subgraph adds to the totals, None where it does not fit
Step = tuple[int, int]  # rows and columns that a tensor gets at a time
Asked = tuple[int, int, int, int, bool]  # steps and slacks, by rows and by columns; whether in full
Reads = tuple[tuple[int, bool, bool], ...]  # of one layer: (tensor, through its window, in full)
Held = tuple[int, int, int, int]  # height, width, band, bytes of an element

NOTHING: Asked = (1, 1, 0, 0, False)


class Spent(Exception):
    """More layers would be priced than allowed."""


def _fitting_nests(problem: Problem) -> Iterator[Group]:
    """Yield the layers of each nest that some loops of it run in this memory, as ids of the union."""
    machine = problem.accelerator
    room = Room(machine.activation_capacity, None if machine.is_shared else machine.weight_capacity)
    for rules, offset in zip(problem.rules, problem.offsets):
        for layers in rules.nests:
            loops = rules.loops_of(layers)
            if loops is not None and can_run(loops, room):
                yield tuple([offset + v for v in layers])


class SubgraphCosts:
    """Prices single subgraphs of a problem with given hardware, and counts the layers that it priced.

    Raises Spent instead of a price that would make them more than `most_layers`.

    price, may_fit, twin: another engine for the same answers; twin: of costs, until they outgrow 64 bits. memo: how
    many subgraphs are remembered, the most recently used; None: all, until `forget`.
    """

    def __init__(
        self,
        problem: Problem,
        price: GroupPrice | None = None,
        memo: int | None = MEMO,
        may_fit: Callable[[Group], bool] | None = None,
        twin: Callable[[Group], float] | None = None,
    ) -> None:
        if problem.buffers:
            raise ValueError(
                f"the cost of a subgraph needs given hardware, but {', '.join(problem.buffers)} is to be chosen; "
                "use a problem of on_hardware"
            )
        self.problem = problem
        self.layers_priced = 0
        self.most_layers = math.inf
        machine = self._machine = problem.accelerator
        self._metric = problem.objective.of
        self._price = price or self._reference()
        self._cost = self._readable if twin is None else first_of(twin, self._readable)
        self.costs = lru_cache(memo)(self._costs)
        self.may_fit = lru_cache(memo)(may_fit or self._may_fit)
        self.may_hold = lru_cache(memo)(self._may_hold)
        #: sets of several layers that may run as one loop nest here, without being held; ascending ids of the union
        self.nests = tuple(_fitting_nests(problem))
        self._nests = list(map(frozenset, self.nests))
        self._cores, self._most_tensors = machine.cores, machine.max_regions
        self._room, self._is_shared = machine.activation_capacity, machine.is_shared
        self._weight_room = machine.weight_capacity
        self._shares = [(1, machine.cores)] + [(machine.bands, 1)] * (machine.bands > 1)  # of columns and channels
        self._read_geometry()

    @property
    def samples(self) -> int:
        """The work done in samples: layers priced over layers of the problem, rounded up (our choice)."""
        return -(-self.layers_priced // self.problem.size)

    @property
    def remembered(self) -> int:
        """Number of prices in the memo."""
        return self.costs.cache_info().currsize

    def forget(self) -> None:
        """Empty the memos."""
        self.costs.cache_clear()
        self.may_fit.cache_clear()
        self.may_hold.cache_clear()

    def _reference(self) -> GroupPrice:
        pricer, machine = Pricer(self.problem, model_memo=1, price_memo=1), self._machine
        weights = 0 if machine.is_shared else machine.weight_capacity
        return lambda group: pricer.price(group, machine.activation_capacity, weights)

    def _costs(self, group: Group) -> float:
        """Return Formula 1 of a connected subgraph of ascending union ids, with its network's weight; inf: no fit."""
        if self.layers_priced + len(group) > self.most_layers:
            raise Spent
        self.layers_priced += len(group)
        return self._cost(group)

    def _readable(self, group: Group) -> float:
        totals = self._price(group)
        if totals is None:
            return math.inf
        weight = self.problem.objective.weights[self.problem.network_of[group[0]]]
        return weight * self._metric(totals, self._machine)

    def _read_geometry(self) -> None:
        """Flatten the networks, for one sample: tensors are layers of the union, then inputs of each network.

        On several cores, each has at least the channels dealt to it, or the columns of its band.
        """
        problem = self.problem
        layers: list[tuple[int, int, list[int]]] = []
        inputs: list[tuple[int, int, list[int]]] = []
        mine, theirs = list[tuple[Geometry, int]](), list[tuple[Geometry, int]]()
        reads: list[Reads] = []
        windows: list[tuple[int, int, int, int, int, int]] = []
        first_input = problem.size
        self.most_groups = [most for rules in problem.rules for most in rules.most_groups]
        for network, rules, offset in zip(problem.networks, problem.rules, problem.offsets):
            geometry, count = rules.geometry, len(network.layers)
            for u in range(len(network.tensors)):
                height, width = geometry.extent[ROWS][u], geometry.extent[COLUMNS][u]
                sizes = [geometry.held_bytes(u, cores=cores) for _, cores in self._shares]
                (layers if u < count else inputs).append((height, width, sizes))
                (mine if u < count else theirs).append((geometry, u))
            read: list[list[tuple[int, bool, bool]]] = [[] for _ in range(count)]
            for u, readers in enumerate(geometry.readers):
                union = offset + u if u < count else first_input + u - count
                for v, local, whole in readers:
                    read[v].append((union, local, whole))
            first_input += len(network.tensors) - count
            reads += [tuple(each) for each in read]
            for v in range(count):
                stride_h, stride_w, down, across = (
                    each[axis][v] for each in (geometry.stride, geometry.upsample) for axis in (ROWS, COLUMNS)
                )
                more_h = (geometry.reach[ROWS][v] - stride_h) // down
                more_w = (geometry.reach[COLUMNS][v] - stride_w) // across
                windows.append((stride_h, stride_w, down, across, more_h, more_w))
        self._tensors: list[list[Held]] = [  # for each share
            [(height, width, -(-width // bands), sizes[i]) for height, width, sizes in layers + inputs]
            for i, (bands, _) in enumerate(self._shares)
        ]
        self._reads, self._places = reads, mine + theirs
        self.touched_by = [*self.most_groups, *[1] * (len(layers + inputs) - problem.size)]  #: most groups, by tensor
        for most, operands in zip(self.most_groups, reads):
            for tensor, _, _ in operands:
                self.touched_by[tensor] = max(self.touched_by[tensor], most)
        self._windows = windows  # strides, upsampling, then how far the window is longer than the stride

    def _may_fit(self, group: Group) -> bool:
        """Return False only if neither this set of layers nor any larger one can run on chip.

        Necessary: a subgraph of several layers that runs meets it. Monotone: if T contains S and T meets it, so does
        S; a search that grows sets may stop where it fails. (A single layer that fails can still be streamed.)
        """
        return self.may_hold(group) or any(nest.issuperset(group) for nest in self._nests)

    def _may_hold(self, group: Group) -> bool:
        """Return False only if neither this set of layers nor any larger one can be held.

        Weights of one core, the number of tensors and `least_activation` only grow with the set.
        """
        groups = self._groups(group)
        weights = self._weights(group, groups)
        room = self._room - weights if self._is_shared else self._room
        if room < 0 or weights > self._weight_room:
            return False
        asked = self._asked(group)
        if self._most_tensors is not None and len(asked) > self._most_tensors and len(group) > 1:
            return False
        return self._bytes_held(asked, groups) <= room

    def _groups(self, group: Group) -> int:
        """Return a bound of the groups of channels in which these layers, or any set around them, run."""
        return min(self.most_groups[v] for v in group)

    def _weights(self, group: Group, groups: int) -> int:
        """Return the least bytes of weights in one core that these layers, or any set around them, hold."""
        total = self.problem.weights_of(group)
        return total // groups if groups > 1 else -(-total // self._cores)

    def least_activation(self, group: Group) -> int:
        """Return a lower bound of the bytes that these layers, or any set around them, hold in one core's buffer.

        Let T contain S, for any tile t >= 1 and either tile rule; u a tensor of S, so one of T.

        * Steps: step_T(u) >= step(u) = min(H, max over readers v in S of s_v step(v) / u_v, rounded up), and 1 without
          a reader: stage 2
          takes the least common multiple over more readers, or the extent H where one of T needs u whole. (A least
          common multiple here would not be monotone, as that extent need be no multiple of it.)
        * Sizes: size_T(u) - step_T(u) >= slack(u) = max over v in S of (F_v - s_v) / u_v, rounded down, and 0. The
          paper's rule says so; in the exact one, lead(u) >= (s_v lead(v) + F_v - s_v - pad(v)) / u_v rounded up, and
          size(u) >= step(u) + lead(u) - (s_v lead(v) - pad(v)) / u_v, this rounded up as well. So size_T(u) >= size(u)
          = step(u) + slack(u), by rows and by columns.
        * Regions: u holds at least size_T(u) rows. If its columns span the band W, it holds min(size_h, H) W. Else, if
          SIDE vanishes because all H rows are held, H size_w. Else MAIN + SIDE, with SIDE >= min(slack_h, H) W.
          The least of the three is a bound whichever it is, grows with T, and never exceeds the whole map, which is
          what u holds where a layer of T needs it whole.
        * Several cores: the channels of all tensors are dealt, or all their columns are shared; the less of both.
        """
        return self._bytes_held(self._asked(group), self._groups(group))

    def least_held(self, group: Group) -> tuple[int, dict[int, int]]:
        """Return the least that these layers take: weights, if the buffer is shared, and bytes by tensor.

        The bytes are the parts of `least_activation`: no step with these and more layers takes less, for any tensor.
        """
        groups = self._groups(group)
        weights = self._weights(group, groups) if self._is_shared else 0
        return weights, {u: self._bytes_held({u: asked}, groups) for u, asked in self._asked(group).items()}

    def bytes_of(self, u: int, asked: Asked, groups: int = 1) -> int:
        """Return the least bytes that tensor u holds of which so much is asked: a part of `least_activation`.

        Tensors are the layers of the union, then the model inputs of each network. groups: a bound of the groups of
        channels in which the layers of S run.
        """
        return self._bytes_held({u: asked}, groups)

    def _asked(self, group: Group) -> dict[int, Asked]:
        """Return what the layers of S need of each tensor of S and in(S): steps, slacks, and whether in full."""
        asked = dict.fromkeys(group, NOTHING)
        for v in reversed(group):
            rows, columns, _, _, is_whole = asked[v]
            for u, (a, b, c, d, whole) in self.asked_by(v, self.whole_step(v) if is_whole else (rows, columns)):
                e, f, g, h, other = asked.get(u, NOTHING)
                asked[u] = (max(a, e), max(b, f), max(c, g), max(d, h), whole or other)
        return asked

    def whole_step(self, u: int) -> Step:
        """Return the rows and columns of a tensor."""
        return self._tensors[0][u][:2]

    def asked_by(self, v: int, step: Step) -> Iterator[tuple[int, Asked]]:
        """Yield what a layer needs of each tensor that it reads if it makes so many rows and columns at a step."""
        height, width, *_ = self._tensors[0][v]
        stride_h, stride_w, down, across, more_h, more_w = self._windows[v]
        rows, columns = -(-min(step[0], height) * stride_h // down), -(-min(step[1], width) * stride_w // across)
        for u, local, whole in self._reads[v]:
            yield (
                u,
                (max(1, rows), max(1, columns), max(0, more_h), max(0, more_w), whole)
                if local
                else (1, 1, 0, 0, whole),
            )

    def _bytes_held(self, asked: dict[int, Asked], groups: int) -> int:
        return min([self._bytes_in_share(asked, tensors, groups) for tensors in self._tensors])

    def _bytes_in_share(self, asked: dict[int, Asked], tensors: list[Held], groups: int) -> int:
        """Return the bytes on a core that has such a share of all tensors.

        groups: of channels, of which it holds one.
        """
        held = 0
        for u, (rows, columns, slack_h, slack_w, is_whole) in asked.items():
            height, width, band, element_bytes = tensors[u]
            if groups > 1:
                geometry, place = self._places[u]
                element_bytes = geometry.held_bytes(place, groups)
            if is_whole:
                held += height * width * element_bytes
                continue
            size_h = min(min(rows, height) + slack_h, height)
            size_w = min(min(columns, width) + slack_w, band)
            side = min(slack_h, height) * band
            held += min(size_h * size_w + side, height * size_w, size_h * band) * element_bytes
        return held
