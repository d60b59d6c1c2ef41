"""Which tensors take a subgraph's bytes: MAIN, SIDE and weights on chip, and what crosses to DRAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.kept import NOTHING
from simulator.model.price import OF_LOOPS, Price, Shortage
from simulator.model.priced import PricedPartition, price_partition, reserved_in
from simulator.model.pricing import SubgraphModel
from simulator.model.schemes.moved import CoreScheme
from simulator.model.subgraph.regions import Region
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.partition.steps import Step
from simulator.views.least_capacity import held_needs
from workloads.display import span
from workloads.network.network import Network

Role = Literal["input", "inner", "output", "kept"]


class TensorBytes(NamedTuple):
    """What one tensor takes in one core and moves; shapes are rows x columns."""

    tensor: str
    role: Role  #: "input" comes from DRAM, "output" goes there, "inner" never leaves; "kept" stays over steps, whole
    main: tuple[int, int]
    side: tuple[int, int]
    main_bytes: int
    side_bytes: int
    dram_bytes: int | None  #: whole batch; None where a streamed layer reads several tensors

    @property
    def held_bytes(self) -> int:
        """MAIN and SIDE together."""
        return self.main_bytes + self.side_bytes


class WeightBytes(NamedTuple):
    """The weights of one layer; all cores together hold them once."""

    layer: str
    weight_bytes: int


@dataclass(frozen=True)
class Breakdown:
    """Where the bytes of one subgraph are, in one core.

    fits_from: of a subgraph that runs, how far each buffer alone may shrink; else what they must grow to.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, breakdown
    >>> vgg = workloads.load("vgg16")
    >>> found = breakdown(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))[1]
    >>> found
    Breakdown(conv1_2: held, tile 56x224, 1634304 B of activations, 36864 B of weights)
    >>> [(each.tensor, each.role, each.main, each.side) for each in found.tensors]
    [('conv1_1', 'input', (58, 224), (0, 0)), ('conv1_2', 'output', (56, 224), (0, 0))]
    >>> found.fits_from
    {'shared_buffer': 66176}
    """

    layers: tuple[str, ...]
    status: Literal["held", "streamed", "infeasible"]
    reason: str | None  #: why it does not fit
    tile: tuple[int, int] | None  #: that runs; of one that does not fit what takes least, None where none can
    activation_bytes: int
    weight_bytes: int
    fits_from: dict[str, int] | None  #: by buffer, the least capacity to hold it as it is; None where none is enough
    tensors: tuple[TensorBytes, ...]  #: those that take most first
    weights: tuple[WeightBytes, ...]  #: the same of layers
    order: str | None = None  #: the loop order of a single layer (docs/model.md, section 3)
    scheme: CoreScheme = ""  #: how several cores share it (docs/model.md, section 7)

    def __repr__(self) -> str:
        tile = "no tile" if self.tile is None else f"tile {self.tile[0]}x{self.tile[1]}"
        needs = f"{self.activation_bytes} B of activations, {self.weight_bytes} B of weights"
        return f"Breakdown({span(self.layers)}: {self.status}, {tile}, {needs})"


def breakdown(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> tuple[Breakdown, ...]:
    """Return where the bytes of each subgraph are, whether it fits or not.

    Parameters
    ----------
    network, partition, accelerator, tile_rule
        As in `simulator.evaluate`.

    Returns
    -------
    tuple of Breakdown
        One for each subgraph, in execution order.

    Raises
    ------
    TypeError, ValueError
        As in `simulator.evaluate`.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, KiB, Partition, breakdown
    >>> vgg = workloads.load("vgg16")
    >>> plan = Partition.from_groups(vgg, [["conv1_1..pool1"]])
    >>> found = breakdown(vgg, plan, Accelerator(shared_buffer=64 * KiB))[0]
    >>> found.status, found.tile, found.fits_from
    ('infeasible', (1, 1), {'shared_buffer': 72320})
    """
    return breakdown_of(price_partition(network, partition, accelerator, tile_rule))


def breakdown_of(priced: PricedPartition) -> tuple[Breakdown, ...]:
    """Return where the bytes of each subgraph are that is priced already."""
    accelerator = priced.accelerator
    beside = None if accelerator.is_shared else accelerator.weight_capacity
    found = []
    steps = priced.steps or [None] * len(priced.models)
    for model, price, step in zip(priced.models, priced.prices, steps):
        reserved = NOTHING if step is None else reserved_in(priced.rules, step)
        start = None if model.broken_beside(reserved) else fits_from(held_needs(model, reserved), accelerator)
        found.append(_with_kept(_breakdown(model, price, start, beside), model, price, step))
    return tuple(found)


def _with_kept(found: Breakdown, model: SubgraphModel, price: Price | Shortage, step: Step | None) -> Breakdown:
    """Add what is kept on chip during a step, one of two in one place, and what of it crosses to DRAM there."""
    if step is None or not step.kept:
        return found
    is_held = isinstance(price, Price) and price.loops is None
    pair = None if is_held else model.rules.handed(step.layers, step.touched, step.last)
    geometry, crossing = model.rules.geometry, {*step.loaded, *step.written}
    kept = [
        TensorBytes(
            geometry.network.tensors[u].name, "kept", (geometry.extent[0][u], geometry.extent[1][u]), (0, 0),
            0 if pair and u == pair[0] else model.rules.whole_bytes(u), 0,
            model.rules.batch * geometry.size_bytes[u] if u in crossing else 0,
        )
        for u in step.kept
    ]  # fmt: skip
    return replace(found, tensors=tuple(sorted([*kept, *found.tensors], key=lambda each: -each.held_bytes)))


def fits_from(needs: Sequence[tuple[int, int]], accelerator: Accelerator) -> dict[str, int]:
    """Return by buffer the least capacity on which a subgraph is held, as Breakdown says.

    needs: bytes of activations and weights, for each way to hold it.
    """
    if accelerator.is_shared:
        return {"shared_buffer": max(1, min(sum(need) for need in needs))}
    room, weight_room = accelerator.activation_capacity, accelerator.weight_capacity
    beside_weights = [activations for activations, weights in needs if weights <= weight_room]
    beside_activations = [weights for activations, weights in needs if activations <= room]
    if beside_weights and min(beside_weights) <= room:
        return {"global_buffer": max(1, min(beside_weights)), "weight_buffer": max(1, min(beside_activations))}
    activations, weights = min(needs, key=lambda need: (max(0, need[1] - weight_room), need[0]))
    return {"global_buffer": max(1, activations, room), "weight_buffer": max(1, weights, weight_room)}  # none shrinks


def _breakdown(
    model: SubgraphModel, price: Price | Shortage, start: dict[str, int] | None, weight_capacity: int | None
) -> Breakdown:
    geometry = model.rules.geometry
    names, bringing = geometry.network.names(model.subgraph.layers), geometry.bringing(model.subgraph.layers)
    weights = tuple(map(WeightBytes, geometry.network.names(bringing), [geometry.weight_bytes[v] for v in bringing]))
    weights = tuple(sorted(weights, key=lambda each: -each.weight_bytes))
    if isinstance(price, Price):
        status: Literal["held", "streamed"] = "streamed" if price.is_streamed else "held"
        tensors = _tensors(model, model.residency(price).regions, price)
        return Breakdown(
            names, status, None, price.tile, price.activation_bytes, price.weight_bytes, start,
            tensors, weights, None if price.loops is None else price.loops.order, price.scheme,
        )  # fmt: skip
    found = model.tiling((1, 1))
    if found is None:
        return Breakdown(
            names, "infeasible", price.reason, None, 0, model.weight_need, start, (), weights
        )  # fmt: skip
    if model.loop_ways and (price.reason in OF_LOOPS or (model.is_single and model.rules.has_loop_orders)):
        return _short_layer(model, price, start, weights)
    way, activations, held = model.least_way(weight_capacity)
    return Breakdown(
        names, "infeasible", price.reason, model.least_tile(way), activations, held, start,
        _tensors(model, model.least_regions(way), None), weights,
    )  # fmt: skip


def _short_layer(
    model: SubgraphModel, price: Shortage, start: dict[str, int] | None, weights: tuple[WeightBytes, ...]
) -> Breakdown:
    """Return what a layer, or a nest, takes in the least of its loop orders."""
    names = model.rules.geometry.network.names(model.subgraph.layers)
    least = min(model.loop_needs, key=sum)
    return Breakdown(names, "infeasible", price.reason, None, *least, start, (), weights)


def _tensors(model: SubgraphModel, regions: dict[int, Region], price: Price | None) -> tuple[TensorBytes, ...]:
    """Return MAIN, SIDE and traffic by tensor; on several cores a layer may hold no regions."""
    subgraph, geometry = model.subgraph, model.rules.geometry
    found = []
    for u in subgraph.tensors:
        region = regions.get(u, Region((0, 0), (0, 0), 0, 0))
        if u in subgraph.on_chip and not region.main_bytes + region.side_bytes:
            continue
        role: Role = "input" if u in subgraph.inputs else "output" if u in subgraph.outputs else "inner"
        moved: int | None = 0 if role == "inner" else model.rules.batch * geometry.size_bytes[u]
        if role == "input" and price is not None and price.is_streamed:
            moved = price.ema_input_bytes if len(subgraph.inputs) == 1 else None
        found.append(TensorBytes(geometry.network.tensors[u].name, role, *region, moved))
    return tuple(sorted(found, key=lambda each: -each.held_bytes))
