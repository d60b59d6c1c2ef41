"""The input of the exact search over partitions, orders and kept intervals of one network: numbers and a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from simulator.connected import Connected, siblings
from workloads.network.network import Network

Group = tuple[int, ...]  #: layers of a step, ascending ids


class KeptStep(NamedTuple):
    """A step and where its tensors lie; sets of tensors are integers, bit u for tensor u."""

    layers: Group
    on_chip: int  #: of what it makes or reads: kept whole while it runs
    loaded: int  #: of what it reads from elsewhere: comes from DRAM
    written: int  #: of what it makes: goes to DRAM
    kept_bytes: int  #: of one core, of all tensors that are kept meanwhile, without `handed`
    elsewhere: int  #: how many of those it neither makes nor reads
    handed: int = 0  #: bytes of a result that lies where an operand lay


class Pattern(NamedTuple):
    """A table of the least remaining cost of some layers and their tensors (cocco.bounds.patterns.tables)."""

    layers: int  #: whose floors are in it
    tensors: int
    late: tuple[tuple[int, int], ...]  #: (trigger, layers): layers that are looked at once their trigger has run
    left: dict[tuple[int, int, int], float]  #: by what has run, is kept unwritten, and kept written, of these

    def least(self, executed: int, unwritten: int, written: int) -> float:
        """Return the least remaining cost of the pattern from a state of the whole network."""
        seen, tensors = self.seen(executed), self.tensors
        for trigger, late in self.late:
            if not executed >> trigger & 1:
                tensors &= ~late
        return self.left.get((executed & seen, unwritten & tensors, written & tensors), 0.0)

    def seen(self, executed: int) -> int:
        """Return the layers that belong to the pattern by now: late ones once their trigger has run."""
        seen = self.layers
        for trigger, late in self.late:
            if executed >> trigger & 1:
                seen |= late
        return seen

    def by_layers(self) -> dict[int, float]:
        """Return the least remaining cost by what has run, whatever is kept."""
        least: dict[int, float] = {}
        for (executed, _, _), left in self.left.items():
            least[executed] = min(left, least.get(executed, left))
        return least


def _nothing_held(_: Group) -> tuple[int, dict[int, int]]:
    return 0, {}


class KeepQuestion(NamedTuple):
    """One network on given hardware.

    The floors may be any lower bounds: of what a layer adds to the cost in any step, including the write of a model
    output, and of what each crossing of DRAM adds. The search is exact even if all are 0, only slower.
    """

    network: Network
    room: int  #: bytes of one core for activations, and for weights where these share the buffer
    whole: tuple[int, ...]  #: per tensor the bytes that it takes in one core while it is kept
    price: Callable[[KeptStep], float]  #: the cost of a step, inf where it does not fit
    may_fit: Callable[[Group], bool]  #: False only where neither these layers nor any larger set fits as a step
    layer_floor: tuple[float, ...]
    crossing_floor: tuple[float, ...]  #: per tensor
    may_keep: bool = True  #: False: nothing is kept, as in Cocco
    crosses: int = 0  #: tensors that every plan writes to DRAM and reads there, a bit for each
    least_held: Callable[[Group], tuple[int, dict[int, int]]] = _nothing_held  #: by layers: bytes of weights, by tensor
    more_room_pays: bool = True  #: no layer alone is cheaper where more is kept beside it
    is_general: bool = False  #: it stands for smaller memories, where several layers that are held may cost less
    inside: Callable[[int, int, int], float] | None = None  #: by layer, room and kept: its floor among several layers
    alike: tuple[int, ...] = ()  #: per tensor: those of one number are read alike, below 0 like no other; ()
    may_hold: Callable[[Group], bool] | None = None  #: the same of steps that are held; None: all are, but layers alone
    nests: tuple[int, ...] = ()  #: sets of several layers that may run as one loop nest, without being held
    connected: Connected = "all"  #: what connects the layers of a step
    patterns: tuple[Pattern, ...] = ()  #: that share no layers and no tensors; for searches of the whole network
    places: Mapping[int, tuple[tuple[int, int], ...]] = MappingProxyType({})  #: by layers: PricingRules.places

    def pair(self, layers: int, on_chip: int, last: int) -> tuple[int, int] | None:
        """Return an operand and the result that takes its place in a step, if it runs in loops; None if none does.

        on_chip: what is kept while it runs; last: of what an earlier step left there, what no later step reads.
        """
        pairs = self.places.get(layers, ())
        return next(((x, y) for x, y in pairs if last >> x & 1 and on_chip >> y & 1), None)

    def handed(self, layers: int, on_chip: int, last: int) -> int:
        """Return the bytes of that result."""
        found = self.pair(layers, on_chip, last)
        return 0 if found is None else self.whole[found[1]]

    def most_handed(self, layers: int) -> int:
        """Return the most bytes of such a result."""
        return max([self.whole[y] for _, y in self.places.get(layers, ())], default=0)


def sets_of_consumers(network: Network) -> list[int]:
    """Return per tensor the set of layers that read it."""
    return [sum(1 << v for v in consumers) for consumers in network.consumers]


def sets_of_siblings(question: KeepQuestion) -> list[int]:
    """Return per layer those joined with it without an edge, itself among them where there are any."""
    found = [0] * len(question.network.layers)
    for layers in siblings(question.network, question.connected):
        together = sum(1 << v for v in layers)
        for v in layers:
            found[v] |= together
    return found


def sets_of_near(question: KeepQuestion) -> list[int]:
    """Return per layer its readers and its siblings."""
    pairs = zip(question.network.consumers, sets_of_siblings(question))
    return [(sum(1 << w for w in readers) | beside) & ~(1 << v) for v, (readers, beside) in enumerate(pairs)]


def sets_of_producers(network: Network) -> list[int]:
    """Return per layer the set of tensors that it reads."""
    return [sum(1 << u for u in set(producers)) for producers in network.producers]
