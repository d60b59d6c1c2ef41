"""The least traffic to DRAM, and the layers that move far more (docs/model.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from simulator.model.layer.least_room import one_pass
from simulator.model.price import Price, Shortage
from simulator.model.pricing import SubgraphModel
from simulator.model.subgraph.subgraph import Geometry, Subgraph
from workloads.display import span

OFTEN = 4  #: times; our choice: what is moved more often than that is named


class Reread(NamedTuple):
    """A layer that moves its weights, its inputs (on average) or its outputs more than OFTEN times.

    activation_bytes, weight_bytes: what one core needs to hold the layer whole; then everything moves once.
    """

    layer: str
    what: str  #: "weights", "inputs" or "outputs"
    times: float
    activation_bytes: int
    weight_bytes: int


def compulsory_bytes(geometry: Geometry, batch: int) -> int:
    """Return the bytes of all weights once, plus the model's inputs and outputs once per sample."""
    whole = Subgraph(geometry, range(len(geometry.network.layers)))
    return whole.weight_bytes + batch * (whole.input_bytes + whole.output_bytes)


def _enough(model: SubgraphModel, price: Price) -> tuple[int, int]:
    """Return the bytes of activations and weights of one core in which a layer, or a nest, moves everything once.

    On several cores: to hold it as it is shared now, or with its channels dealt.
    """
    if model.rules.has_loop_orders:
        loops = model.rules.loops_of(model.subgraph.layers)
        assert loops is not None, "it is streamed"
        return one_pass(loops)
    if model.in_loops_only:
        return one_pass(model.loop_way(price).loops)
    shared = [need for way, need in zip(model.ways, model.least_needs) if way.scheme == price.scheme]
    return shared[0] if shared else (model.least_activation, model.weight_need)


def rereads(
    names: Sequence[Sequence[str]], models: Sequence[SubgraphModel], prices: Iterable[Price | Shortage]
) -> Iterator[Reread]:
    """Yield what layers and nests move more than OFTEN times; what is held moves everything once."""
    for group, model, price in zip(names, models, prices):
        if isinstance(price, Shortage) or not price.is_streamed:
            continue
        batch = model.rules.batch
        moved = {
            "weights": (price.ema_weight_bytes, model.weights),
            "inputs": (price.ema_input_bytes, batch * model.inputs),
            "outputs": (price.ema_output_bytes, batch * model.outputs),
        }
        for what, (size, once) in moved.items():
            if size > OFTEN * once:
                yield Reread(span(group), what, size / once, *_enough(model, price))
