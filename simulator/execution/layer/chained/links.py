"""Which layer of a chain does what, found from its operands: openers, what keeps channels apart, closer, residual."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.execution.count.layer_facts import has_weights, is_depthwise
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.windows import Line, lines_of
from workloads.network.layers.ops import WINDOW_OPS
from workloads.network.network import Network

Lines = tuple[Line, Line]


class Links(NamedTuple):
    """The layers of a chain by id: x -> openers -> join -> middle -> closer -> residual."""

    x: int  #: the tensor that the openers read
    openers: tuple[int, ...]  #: one, or two whose results a join multiplies or adds
    join: int | None
    middle: int | None  #: a depth-wise convolution or a pool
    closer: int
    residual: int | None  #: adds x to what the closer makes

    @property
    def layers(self) -> list[int]:
        """All of them."""
        every = (*self.openers, self.join, self.middle, self.closer, self.residual)
        return [v for v in every if v is not None]

    @property
    def opened(self) -> list[int]:
        """The layers whose results lie in E: of two openers, what the first makes and what the join makes."""
        return [self.openers[0]] if self.join is None else [self.openers[0], self.join]

    @property
    def last(self) -> int:
        """The layer that makes the output."""
        return self.closer if self.residual is None else self.residual


def links_of(network: Network, layers: Iterable[int]) -> Links:
    """Return who is who in a chain; raises Miss if these layers are none."""
    left, outside = sorted(layers), set(layers)
    firsts = [v for v in left if not outside & set(network.operands[v])]
    if not firsts or len(firsts) > 2 or any(not _is_dense(network, v) for v in firsts):
        raise Miss("a chain begins with one or two layers that reduce over all channels of the same tensor")
    (x,), *others = (network.operands[v] for v in firsts)
    if any(other != (x,) for other in others):
        raise Miss("the openers of a chain read the same tensor")
    found: dict[str, int | None] = dict.fromkeys(("join", "middle", "closer", "residual"))
    made = firsts[0]
    for v in left[len(firsts) :]:
        role = _role(network, v, x, made, firsts, found)
        found[role], made = v, v
    closer = found["closer"]
    if closer is None or (len(firsts) == 2 and found["join"] is None):
        raise Miss("a chain ends with a layer that reduces over the middle channels")
    _check_readers(network, set(left), made)
    return Links(x, tuple(firsts), found["join"], found["middle"], closer, found["residual"])


def _role(network: Network, v: int, x: int, made: int, firsts: list[int], found: dict[str, int | None]) -> str:
    """Return what a layer does that comes after the openers; raises Miss if a chain has no place for it."""
    layer, operands = network.layers[v], network.operands[v]
    if layer.whole:
        raise Miss(f"layer {layer.name!r} broadcasts a map, for which a chain has no place")
    if found["closer"] is None:
        if len(firsts) == 2 and found["join"] is None:
            if layer.op in ("add", "mul") and sorted(operands) == sorted(firsts):
                return "join"
        elif operands == (made,) and layer.op in WINDOW_OPS:
            if _is_dense(network, v):
                return "closer"
            if layer.op in ("conv", "maxpool", "avgpool") and is_depthwise(layer) and found["middle"] is None:
                return "middle"
    elif found["residual"] is None and layer.op == "add" and sorted(operands) == sorted((made, x)):
        return "residual"
    raise Miss(f"layer {layer.name!r} has no place in a chain")


def _is_dense(network: Network, v: int) -> bool:
    layer = network.layers[v]
    return has_weights(layer) and layer.groups == 1 and len(network.operands[v]) == 1


def _check_readers(network: Network, layers: set[int], last: int) -> None:
    """Raise Miss if anything but the last map is read outside, or is an output of the model."""
    for v in layers - {last}:
        readers = {w for w, operands in enumerate(network.operands) if v in operands}
        if network.is_output[v] or not readers <= layers:
            raise Miss(f"layer {network.layers[v].name!r} is read outside the chain")


class Lined(NamedTuple):
    """The windows of a chain: of the openers, the middle and the closer, rows and columns."""

    openers: Lines
    middle: Lines | None
    closer: Lines


def lines_of_chain(network: Network, links: Links) -> Lined:
    """Return the windows of a chain; raises Miss if they leave rows or columns out."""
    both = [lines_of(network, v) for v in links.openers]
    if any(lines != both[0] for lines in both):
        raise Miss("the openers of a chain have the same windows")
    middle = None if links.middle is None else lines_of(network, links.middle)
    found = Lined(both[0], middle, lines_of(network, links.closer))
    for lines in filter(None, found):
        for line in lines:
            met = {row for i in range(line.outputs) for _, row in line.met(i)}
            if len(met) < line.extent:
                raise Miss("windows in a chain leave rows or columns of a map out")
    return found
