"""An attention with its projections, as the judge finds it among layers, and the steps of its loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simulator.execution.count.layer_facts import has_weights, second_heads
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.plan import LayerPlan, cuts
from workloads.network.network import Network


class Rows(NamedTuple):
    """Queries, keys or values: rows that are loaded, and those that a layer makes of a source."""

    inputs: tuple[int, ...]  #: tensors, one below the other
    maker: int | None  #: which of them a layer of the nest makes
    source: int | None  #: what it is made of
    width: int  #: channels of a head
    heads: int

    @property
    def loaded(self) -> tuple[int, ...]:
        """The tensors whose rows come from outside."""
        return tuple(u for u in self.inputs if u != self.maker)


class Projected(NamedTuple):
    """The layers of a nest: products, softmax, what scales the scores, and projections."""

    scores: int
    scales: tuple[int, ...]
    softmax: int
    context: int
    rows: tuple[Rows, Rows, Rows]  #: queries, keys, values

    @property
    def sources(self) -> tuple[int, ...]:
        """The distinct tensors that rows are made of."""
        return tuple(dict.fromkeys(each.source for each in self.rows if each.source is not None))


def find_heads(network: Network, layers: Iterable[int]) -> Projected:
    """Return what these layers are; raises Miss unless they are an attention with some of its projections."""
    left = set(layers)
    softmax = next((v for v in left if network.layers[v].op == "softmax"), None)
    if softmax is None:
        raise Miss("no softmax among the layers of an attention")
    scores, scales = network.operands[softmax][0], []
    while scores in left and network.layers[scores].op in ("add", "mul") and len(network.operands[scores]) == 1:
        scales.append(scores)
        scores = network.operands[scores][0]
    products = [v for v in left if network.layers[v].op == "matmul"]
    context = next((v for v in products if network.operands[v][0] == softmax), None)
    if context is None or set(products) != {scores, context}:
        raise Miss("the products of an attention are scores and context")
    left -= {scores, softmax, context, *scales}
    outside = [v for v in (scores, *scales, softmax) if network.is_output[v] or len(network.consumers[v]) > 1]
    if outside:
        raise Miss(f"{network.layers[outside[0]].name!r} is read outside its attention")
    first, second = network.layers[scores], network.layers[context]
    if (first.groups, second_heads(first)) != (second.groups, second_heads(second)):
        raise Miss("scores and context have different heads")
    inner, keys = network.operands[scores][:1], network.operands[scores][1:]
    parts = (inner, first.groups), (keys, second_heads(first)), (network.operands[context][1:], second_heads(first))
    rows = tuple(_rows(network, ids, heads, left) for ids, heads in parts)
    makers = [each.maker for each in rows if each.maker is not None]
    if sorted(makers) != sorted(left) or {each.source for each in rows} & set(layers):
        raise Miss("layers besides an attention and what makes its queries, keys and values")
    return Projected(scores, tuple(scales), softmax, context, (rows[0], rows[1], rows[2]))


def _rows(network: Network, ids: Sequence[int], heads: int, left: set[int]) -> Rows:
    makers = [u for u in ids if u in left]
    tensors = [network.tensors[u] for u in ids]
    if len(makers) > 1 or any(each.width > 1 for each in tensors):
        raise Miss("rows of one column, of which one layer makes some")
    width = tensors[0].channels // heads
    if not makers:
        return Rows(tuple(ids), None, None, width, heads)
    layer, (source, *more) = network.layers[makers[0]], network.operands[makers[0]]
    is_plain = layer.kernel == layer.stride == (1, 1) and not any(layer.padding) and layer.groups == 1
    if more or not has_weights(layer) or not is_plain or network.tensors[source].height != layer.height:
        raise Miss(f"{layer.name!r} does not make each row of one of its source")
    return Rows(tuple(ids), makers[0], source, width, heads)


class Steps(NamedTuple):
    """The loops of a plan, as ranges."""

    groups: list[range]  #: of heads of keys
    passing: bool  #: whether sources pass for each of them
    bands: list[range]  #: of queries, made together
    tile: int
    inner: int


def steps_of(nest: Projected, network: Network, plan: LayerPlan) -> Steps:
    """Return the loops of a plan; raises Miss if they are not loops of these layers."""
    queries, keys = nest.rows[0], nest.rows[1]
    length, passing = network.tensors[queries.inputs[0]].height, plan.mode == "ring"
    if plan.order != "HP" or plan.mode not in ("whole", "ring") or min(*plan.tile, *plan[3:8]) < 1 or plan.kept < 0:
        raise Miss(f"no loops of heads with projections: {plan}")
    if not passing and (plan.apart > 1 or plan.kept):
        raise Miss("with whole sources, heads come one after the other")
    if queries.maker is not None and plan.chunk < length and (passing or plan.inner < queries.width):
        raise Miss("weights of queries do not stay from band to band")
    groups, bands = cuts(keys.heads, plan.apart), cuts(length, plan.chunk)
    return Steps(groups, passing, bands, plan.tile[0], plan.inner)


def source_bands(rows: int, plan: LayerPlan) -> list[range]:
    """Return the bands in which a passing source is met: the rows that stay, then tiles of the others."""
    stay = min(plan.kept, rows)
    first = [range(stay)] if stay else []
    return first + [range(stay + each.start, stay + each.stop) for each in cuts(rows - stay, plan.tile[0])]
