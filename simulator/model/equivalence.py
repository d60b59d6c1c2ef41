"""Equivalent steps cost the same: what a price depends on, without the names and ids of layers.

A language model repeats one layer n times, a residual network repeats its blocks, and the three projections of
attention differ by name only. The price of a subgraph depends on the shapes of its layers, on which of them reads which
tensor as which operand, on the shapes of its inputs, and on what is stored, loaded and kept. A key holds exactly that,
so steps with equal keys are priced once. (Our choice: a longer key would only share less.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields
from functools import lru_cache

from simulator.model.kept import Kept
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from workloads.network.layers.layer import Layer

MEMO = 2**12  #: our choice: models kept, those not used for longest are forgotten
SHAPE = [item.name for item in fields(Layer) if item.name not in ("name", "inputs")]


class Alike:
    """The layers and tensors of a network, numbered so that equivalent ones have the same number.

    Examples
    --------
    The three projections of attention, and those of the next layer:

    >>> import workloads
    >>> from simulator import Accelerator, MiB
    >>> from simulator.model.subgraph.subgraph import Geometry
    >>> network = workloads.load("gpt2", layers=2)
    >>> alike = Alike(PricingRules(Geometry(network), Accelerator(shared_buffer=MiB), "exact"))
    >>> q, again = [[layer.name for layer in network.layers].index(name) for name in ("l1_q", "l2_q")]
    >>> alike.key((q,)) == alike.key((again,))
    True
    >>> alike.key((q,)) == alike.key((q + 1,))  # whose rows are appended to a cache
    False
    """

    def __init__(self, rules: PricingRules) -> None:
        network, numbers = rules.geometry.network, dict[Hashable, int]()
        self.network = network
        self.readers = [{reader.layer for reader in readers} for readers in rules.geometry.readers]

        def number(what: Hashable) -> int:
            return numbers.setdefault(what, len(numbers))

        self.tensors = [number((t.height, t.width, t.channels, t.number)) for t in network.tensors]
        self.layers = [
            number((unit, network.is_output[v], *(getattr(layer, name) for name in SHAPE)))
            for v, (layer, unit) in enumerate(zip(network.layers, rules.units))
        ]

    def key(self, layers: Iterable[int], kept: Kept | None = None) -> Hashable:
        """Return what the price of these layers depends on, apart from the machine; kept: which tensors stay."""
        group, network = tuple(sorted(layers)), self.network
        inside = set(group)
        outside = dict.fromkeys(p for v in group for p in network.producers[v] if p not in inside)
        place = {u: i for i, u in enumerate([*group, *outside])}
        if kept is None:
            made: list[Hashable] = [bool(self.readers[v] - inside) for v in group]
            came: list[Hashable] = [self.tensors[u] for u in outside]
        else:
            made = [(v in kept.on_chip, v in kept.written) for v in group]
            came = [(self.tensors[u], u in kept.on_chip, u in kept.loaded) for u in outside]
        operands = tuple(tuple([place[u] for u in network.operands[v]]) for v in group)
        return kept is None, tuple([self.layers[v] for v in group]), operands, tuple(made), tuple(came)


class Models:
    """Subgraphs of one network under given rules, for prices only: equivalent ones are made once."""

    def __init__(self, rules: PricingRules) -> None:
        self.rules, self.alike = rules, Alike(rules)
        self._asked: tuple[Iterable[int], Kept | None] = ((), None)
        self._model: Callable[[Hashable], SubgraphModel] = lru_cache(MEMO)(self._make)

    def of(self, layers: Iterable[int], kept: Kept | None = None) -> SubgraphModel:
        """Return a subgraph with the same price as this one; its tensors may be those of another."""
        self._asked = layers, kept
        return self._model(self.alike.key(layers, kept))

    def _make(self, key: Hashable) -> SubgraphModel:
        return SubgraphModel(self.rules, *self._asked)
