"""An attention with its projections, as the judge finds it among layers, and the steps of its loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.execution.count.layer_facts import has_weights, second_heads
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.plan import LayerPlan, cuts
from workloads.network.network import Network


class Projection(NamedTuple):
    """A layer that makes queries, keys or values."""

    layer: int
    source: int
    width: int  #: channels of a head
    heads: int


class Projected(NamedTuple):
    """The layers of a nest."""

    scores: int
    inner: tuple[int, ...]  #: what scales the scores, and softmax
    context: int
    made: tuple[Projection, Projection, Projection]  #: queries, keys, values
    keys: int  #: rows of keys

    @property
    def sources(self) -> tuple[int, ...]:
        """The distinct tensors that queries, keys and values are made of."""
        return tuple(dict.fromkeys(each.source for each in self.made))

    def at_once(self, place: int, groups: int) -> int:
        """Return how many heads of queries (0), keys (1) or values (2) belong to so many heads of keys."""
        return groups * self.made[place].heads // self.made[1].heads


def find_heads(network: Network, layers: Iterable[int]) -> Projected:
    """Return what these layers are; raises Miss unless they are an attention with its projections."""
    left = set(layers)
    softmax = next((v for v in left if network.layers[v].op == "softmax"), -1)
    inner = [softmax]
    while inner[-1] in left and network.layers[inner[-1]].op != "matmul":
        inner.append(network.operands[inner[-1]][0])
    scores, context = inner.pop(), next((v for v in left if network.operands[v][0] == softmax), -1)
    if {scores, context} != {v for v in left if network.layers[v].op == "matmul"}:
        raise Miss("no attention among these layers: scores, softmax, context")
    first, second = network.layers[scores], network.layers[context]
    left -= {scores, context, *inner}
    read = [v for v in (scores, *inner) if network.is_output[v] or len(network.consumers[v]) > 1]
    odd = [v for v in inner if len(network.operands[v]) > 1]
    makers = (*network.operands[scores], *network.operands[context][1:])
    if read or odd or sorted(makers) != sorted(left) or len(left) != 3 or first.groups != second.groups:
        raise Miss("no attention whose queries, keys and values are made here, and whose scores nothing else reads")
    if not first.mask == network.layers[softmax].mask == second.mask:
        raise Miss("scores, softmax and context hide different keys")
    heads = first.groups, second_heads(first), second_heads(second)
    made = [_projection(network, v, *each) for v, each in zip(makers, enumerate(heads))]
    if heads[1] != heads[2] or {each.source for each in made} & set(layers):
        raise Miss("keys and values have other heads, or are made of each other")
    return Projected(scores, tuple(inner), context, (made[0], made[1], made[2]), network.layers[makers[1]].height)


def _projection(network: Network, v: int, place: int, heads: int) -> Projection:
    layer, (source, *more) = network.layers[v], network.operands[v]
    is_plain = layer.kernel == layer.stride == (1, 1) and not any(layer.padding) and layer.groups == layer.width == 1
    if more or not has_weights(layer) or not is_plain or network.tensors[source].height != layer.height:
        raise Miss(f"{layer.name!r} does not make each row of one of its source")
    return Projection(v, source, layer.channels // heads, heads)


class Steps(NamedTuple):
    """The loops of a plan, as ranges."""

    groups: list[range]  #: of heads of keys
    passing: bool  #: whether sources pass for each of them
    bands: list[range]  #: of queries, made together
    tile: int
    inner: int
    kept: int  #: rows of each source that stay

    def of_source(self, rows: int) -> list[range]:
        """Return the bands in which a passing source is met: the rows that stay, then tiles of the others."""
        stay = min(self.kept, rows)
        return [range(stay)][: stay > 0] + [range(stay + t.start, stay + t.stop) for t in cuts(rows - stay, self.tile)]


def steps_of(nest: Projected, network: Network, plan: LayerPlan) -> Steps:
    """Return the loops of a plan; raises Miss if they are not loops of these layers."""
    length, passing = network.layers[nest.scores].height, plan.mode == "ring"
    if plan.order != "HP" or plan.mode not in ("whole", "ring") or min(*plan.tile, *plan[3:8]) < 1 or plan.kept < 0:
        raise Miss(f"no loops of heads with projections: {plan}")
    if not passing and (plan.apart > 1 or plan.kept):
        raise Miss("with whole sources, heads come one after the other")
    if plan.chunk < length and (passing or plan.inner < nest.made[0].width):
        raise Miss("weights of queries do not stay from band to band")
    groups, bands = cuts(nest.made[1].heads, plan.apart), cuts(length, plan.chunk)
    return Steps(groups, passing, bands, plan.tile[0], plan.inner, plan.kept)
