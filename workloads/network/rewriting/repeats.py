"""Which part of a network is one repeated block: the layers of a language model, or the blocks of a stage.

Blocks repeat one another if their layers have the same shapes, read the same layers inside the block, and read tensors
of the same shapes from outside: what the block before made, what all blocks read, or an own model input (a cache).
Names do not matter. This is only about what is computed; a search decides what runs together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields
from typing import NamedTuple

from workloads.network.layers.layer import Layer
from workloads.network.network import Network

LEAST_TIMES = 3  #: two of a kind are no pattern; our choice
SHAPE = [item.name for item in fields(Layer) if item.name not in ("name", "inputs")]


class Repeats(NamedTuple):
    """Equal stretches of a sequence, one after the other."""

    first: int  #: position
    period: int  #: how many of a stretch
    times: int  #: how many stretches

    @property
    def covered(self) -> int:
        """Members of all stretches."""
        return self.period * self.times


def longest_run(keys: Sequence[Hashable]) -> tuple[Repeats, int] | None:
    """Return the equal stretches that cover most (the shortest in a tie), and by how much they may start later.

    Examples
    --------
    >>> longest_run("abcdcdcde")
    (Repeats(first=2, period=2, times=3), 0)
    """
    best: tuple[Repeats, int] | None = None
    for period in range(1, len(keys) // LEAST_TIMES + 1):
        start = 0
        for i in range(len(keys) - period + 1):
            if i < len(keys) - period and keys[i] == keys[i + period]:
                continue
            length = i - start + period
            run = Repeats(start, period, length // period)
            if run.times >= LEAST_TIMES and (best is None or run.covered > best[0].covered):
                best = run, length % period
            start = i + 1
    return best


def repeat_of(network: Network) -> Repeats | None:
    """Return the block that repeats if its copies make up at least half of all layers, else None.

    Examples
    --------
    >>> import workloads
    >>> repeat_of(workloads.load("gpt2"))
    Repeats(first=0, period=13, times=12)
    >>> repeat_of(workloads.load("vgg16")) is None
    True
    """
    numbers: dict[Hashable, int] = {}
    shapes = [(t.height, t.width, t.channels, t.number, t.kind) for t in network.tensors]
    keys = []
    for v, layer in enumerate(network.layers):
        key = (*(getattr(layer, name) for name in SHAPE), *(shapes[u][:4] for u in network.operands[v]))
        keys.append(numbers.setdefault(key, len(numbers)))
    found = longest_run(keys)
    if found is None or 2 * found[0].covered < len(keys):
        return None
    run, later = found
    starts = (run._replace(first=run.first + i) for i in range(later + 1))
    return next((each for each in starts if _is_repeat(network, each)), None)


def _is_repeat(network: Network, run: Repeats) -> bool:
    """Return whether the operands of all blocks are those of the first one."""
    first, period, count = run.first, run.period, len(network.layers)
    for copy in range(1, run.times):
        for v in range(first, first + period):
            now = network.operands[v + copy * period]
            for u, there, before in zip(network.operands[v], now, network.operands[v + (copy - 1) * period]):
                if first <= u < first + period or first + copy * period <= there < count:
                    if there - u != copy * period:
                        return False
                elif copy > 1 and there < count and there not in (before, before + period):
                    return False
    return True


def repeat_text(network: Network) -> str:
    """Return one line on the block that repeats; empty if there is none.

    Examples
    --------
    >>> import workloads
    >>> repeat_text(workloads.load("gpt2"))
    'l2_norm1 .. l12_add2 are l1_norm1 .. l1_add2 (13 layers) 11 times more'
    """
    run = repeat_of(network)
    if run is None:
        return ""
    names = [layer.name for layer in network.layers]
    first, end, last = run.first, run.first + run.period, run.first + run.covered
    one = f"{names[first]} .. {names[end - 1]} ({run.period} layers)" if run.period > 1 else names[first]
    return f"{names[end]} .. {names[last - 1]} are {one} {run.times - 1} times more"
