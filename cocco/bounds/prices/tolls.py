"""What a tensor that is not kept on chip costs, shared out over the layers that run while it is live.

Between the step that makes a tensor u and the last one that reads it, u is live: it is kept on chip, or has a copy in
DRAM, and then it is written once and loaded at least once. A step S that runs a layer w while u is live without keeping
u proves that u has such a copy. u is live in S if its maker runs in S or earlier and not all its readers ran before S,
except where S has the maker and all readers. So a plan pays at least, for u, the shares a(u, w) of all such w, plus a
price l(u), at most the bytes of one load, for each load. This holds for all shares and prices with

    sum over w of a(u, w)  <=  bytes written + bytes loaded - l(u)

The shares couple the steps of a plan: no plan keeps a tensor at its maker and then loads it at its reader, and a tensor
kept during a step that does not touch it takes room there as well. The pairs (u, w) considered are *fixed* or *loose*.
Fixed: w is the maker, a reader or a layer on a path between them, where u is always live or inside the step. Loose:
whether u is live depends on what ran before S. Of the layers on the way, only those with several operands or readers
count: any other runs in a row with one of these.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.crossings import Tensors


class Pairs(NamedTuple):
    """Pairs of a tensor and a layer at which a share of the tensor's cost may be due."""

    pairs: list[tuple[int, int]]  #: (tensor, layer)
    of_layer: list[list[int]]  #: positions in `pairs`
    of_tensor: dict[int, list[int]]
    budgets: dict[int, int]  #: per tensor what shares and the price of loading it add up to at most
    loose: frozenset[int]  #: positions of those where it depends on what ran before whether the tensor is live


class Tolls(NamedTuple):
    """What shares and loads cost, in whole bytes of one sample."""

    shares: Sequence[int]  #: per pair, where a step runs the layer while the tensor is live and not on chip
    loads: Sequence[int]  #: per tensor, where a step loads it


class Taken(NamedTuple):
    """A step: its layers, the tensors kept while it runs, and the layers that ran before it, as a bit set."""

    layers: tuple[int, ...]
    kept: frozenset[int]
    before: int


def pairs_of(
    tensors: Tensors, hulls: Hulls, network_of: Sequence[int], loose_at: Collection[int] | None = None
) -> Pairs:  # fmt: skip
    """Return the pairs of all tensors that layers make and read; loose_at: layers allowed in loose pairs, None: all."""
    count, loose = len(tensors.read), set[int]()
    pairs: list[tuple[int, int]] = []
    found = Pairs(pairs, [[] for _ in range(count)], {}, {}, frozenset())
    forks = [v for v in range(count) if len(tensors.read[v]) > 1 or len(tensors.readers[v]) > 1]
    joins = {v for v in range(count) if len(tensors.read[v]) > 1}
    for u in range(count):
        readers = tensors.readers[u]
        if not readers:
            continue
        before, after = 0, ~0
        for v in readers:
            before, after = before | hulls.up[v], after & hulls.down[v]
        near = {u, *readers}
        fixed = [w for w in forks if w not in near and (hulls.down[u] & before) >> w & 1]
        others: list[int] = []
        if len(readers) > 1 or joins.issuperset(readers):
            never = hulls.up[u] | after | hulls.down[u] & before
            others = [w for w in forks if w not in near and not never >> w & 1 and network_of[w] == network_of[u]]
            others = [w for w in others if loose_at is None or w in loose_at]
        found.of_tensor[u] = list(range(len(pairs), len(pairs) + len(near) + len(fixed) + len(others)))
        found.budgets[u] = tensors.goes[u] + tensors.comes[u]
        for w in (u, *readers, *fixed, *others):
            if len(pairs) >= found.of_tensor[u][0] + len(near) + len(fixed):
                loose.add(len(pairs))
            found.of_layer[w].append(len(pairs))
            pairs.append((u, w))
    return found._replace(loose=frozenset(loose))


def makers(tensors: Tensors) -> Pairs:
    """Return the pairs of tensors with their makers: nothing is kept, so all that is written is due there."""
    count = len(tensors.read)
    found = Pairs([], [[] for _ in range(count)], {}, {}, frozenset())
    for u in range(count):
        if tensors.readers[u]:
            found.of_tensor[u], found.budgets[u] = [len(found.pairs)], tensors.goes[u] + tensors.comes[u]
            found.of_layer[u].append(len(found.pairs))
            found.pairs.append((u, u))
    return found


def plain_tolls(tensors: Tensors, pairs: Pairs) -> Tolls:
    """Return the tolls that couple no steps: the maker pays for the write, and each step for what it loads."""
    shares = [tensors.goes[u] if u == w else 0 for u, w in pairs.pairs]
    return Tolls(shares, tensors.comes)


def due(tensors: Tensors, pairs: Pairs, step: Taken) -> tuple[list[int], list[int]]:
    """Return what a step has to pay: the positions in `pairs` of the shares it owes, and the tensors it loads.

    It owes the share of (u, w) if it runs layer w while tensor u is live (see above) and does not keep u on chip.
    """
    inside = set(step.layers)
    loaded = sorted({u for v in step.layers for u in tensors.read[v]} - inside - step.kept)
    shares = []
    for v in step.layers:
        for i in pairs.of_layer[v]:
            u = pairs.pairs[i][0]
            if u in inside:
                is_live = not inside.issuperset(tensors.readers[u])
            else:
                is_live = _is_live(tensors, u, step.before)
            if is_live and u not in step.kept:
                shares.append(i)
    return shares, loaded


def paid(tensors: Tensors, pairs: Pairs, tolls: Tolls, step: Taken) -> int:
    """Return the bytes that a step pays."""
    shares, loaded = due(tensors, pairs, step)
    return sum([tolls.shares[i] for i in shares]) + sum([tolls.loads[u] for u in loaded])


def _is_live(tensors: Tensors, u: int, before: int) -> bool:
    """Return whether the maker of tensor u has run and some reader of it has not."""
    return bool(before >> u & 1) and not all([before >> v & 1 for v in tensors.readers[u]])


def ancestors(hulls: Hulls, group: Sequence[int]) -> int:
    """Return the layers that run before a step in every order: those that its layers wait for."""
    before = 0
    for v in group:
        before |= hulls.up[v]
    for v in group:
        before &= ~(1 << v)
    return before


def all_but_later(hulls: Hulls, group: Sequence[int], count: int) -> int:
    """Return the layers that can run before a step: those that do not wait for its layers."""
    after = 0
    for v in group:
        after |= hulls.down[v]
    return (1 << count) - 1 & ~after
