"""The least memory on which a partition runs: what each subgraph takes decides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Unpack

from simulator.accelerator import Machine, MachineFields, machine_of
from simulator.keywords import check_keywords
from simulator.model.fixed_scheme import GivenScheme
from simulator.model.kept import NOTHING, Reserved
from simulator.model.layer.least_room import one_pass
from simulator.model.priced import check_partition, models_of, reserved_in
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.subgraph_cost import Infeasible
from workloads.network.network import Network

Way = tuple[int, int]  #: bytes of activations and of weights


class Need(NamedTuple):
    """What a subgraph takes at least where it is held, bytes of one core; layers and nests may pass in pieces."""

    activation_bytes: int
    weight_bytes: int
    may_stream: bool


@dataclass(frozen=True)
class LeastCapacity:
    """The least buffers on which a partition runs, bytes of one core; None where it runs in no memory.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Partition, least_capacity
    >>> vgg = workloads.load("vgg16")
    >>> least_capacity(vgg, Partition.from_groups(vgg, [["conv1_1..pool1"]]))
    LeastCapacity(vgg16, shared_buffer=72320, global_buffer=33728, weight_buffer=38592)
    """

    network: str
    streaming: bool  #: whether layers and nests may pass in pieces, in whatever loop order takes least
    shared_buffer: int | None  #: if activations and weights share one
    global_buffer: int | None  #: the least of all pairs
    weight_buffer: int | None  #: the least next to that
    shared_layers: tuple[str, ...]  #: the subgraph that takes most, by which the capacity is decided
    global_layers: tuple[str, ...]
    weight_layers: tuple[str, ...]
    needs: tuple[Need, ...] = ()  #: of each subgraph where it is held, in execution order
    infeasible: tuple[Infeasible, ...] = ()  #: subgraphs that break a rule whatever the memory

    def __repr__(self) -> str:
        buffers = (f"{name}={getattr(self, name)}" for name in ("shared_buffer", "global_buffer", "weight_buffer"))
        return f"LeastCapacity({self.network}, {', '.join(buffers)})"

    @property
    def fits(self) -> bool:
        """Whether there is such a memory."""
        return not self.infeasible

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        infeasible = [each.to_json() for each in self.infeasible]
        return asdict(self) | {"needs": [need._asdict() for need in self.needs], "infeasible": infeasible}


def least_capacity(
    network: Network,
    partition: Partition,
    *,
    machine: Machine | None = None,
    tile_rule: TileRule = "exact",
    streaming: bool = True,
    **fields: Unpack[MachineFields],
) -> LeastCapacity:
    """Return the least memory on which every subgraph runs, shared and as a pair; one byte less, and one does not.

    Parameters
    ----------
    network, partition, tile_rule
        As in `simulator.evaluate`.
    machine : Machine, optional
        Everything but the buffers; by default one core of the paper.
    streaming : bool
        A single layer may pass through the buffers in pieces, which takes far less. False: the least memory on which
        none does.
    **fields
        Fields of the machine by their names, in place of its own: cores, batch, max_regions, ...

    Returns
    -------
    LeastCapacity
        Bytes of one core, and the subgraph that decides each.

    Raises
    ------
    TypeError
        An argument is of another type (the message shows one that would do), or a keyword is no field.
    ValueError
        The partition is of another network, the machine breaks a rule, or there is no such tile rule.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Partition, least_capacity
    >>> vgg = workloads.load("vgg16")
    >>> found = least_capacity(vgg, Partition.layerwise(vgg), streaming=False)
    >>> found.shared_buffer, found.shared_layers  # 7 * 7 * 512 * 4096 weights, and its maps
    (102789632, ('fc6',))
    """
    check_keywords(least_capacity, fields, MachineFields.__optional_keys__)
    check_partition(network, partition)
    found = machine_of(machine, fields)
    technology = replace(found.technology, activation_sram=None, weight_sram=None)  # tables say nothing of what fits
    accelerator = replace(found, technology=technology).with_buffers(shared_buffer=1)
    rules = PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule)
    models, steps = models_of(rules, partition)
    beside = [reserved_in(rules, step) for step in steps] or [NOTHING] * len(models)
    broken = tuple(
        Infeasible(names, *shortage, step if steps else None)
        for step, (names, model, reserved) in enumerate(zip(partition.names, models, beside))
        if (shortage := model.broken_beside(reserved))
    )
    if broken:
        return LeastCapacity(network.name, streaming, None, None, None, (), (), (), infeasible=broken)
    ways = [
        [(a + reserved.size_bytes, w) for a, w in least_ways(model, streaming, reserved.handed)]
        for model, reserved in zip(models, beside)
    ]

    def most(size: Callable[[Sequence[Way]], int]) -> tuple[int, tuple[str, ...]]:
        """The largest of what the subgraphs take, one byte at least, and the first that takes so much."""
        sizes = [(size(each), names) for names, each in zip(partition.names, ways)]
        largest = max([1, *(each for each, _ in sizes)])
        return largest, next((names for each, names in sizes if each == largest > 1), ())

    shared, shared_layers = most(lambda each: min(a + w for a, w in each))
    activations, global_layers = most(lambda each: min(a for a, _ in each))
    weights, weight_layers = most(lambda each: min(w for a, w in each if a <= activations))
    held = [need_of(model, reserved) for model, reserved in zip(models, beside)]
    return LeastCapacity(
        network.name, streaming, shared, activations, weights,
        shared_layers, global_layers, weight_layers, tuple(held),
    )  # fmt: skip


def least_ways(model: SubgraphModel, streaming: bool = True, handed: int = 0) -> Sequence[Way]:
    """Return the bytes of activations and weights that a subgraph takes at least, one pair for each way to run it.

    handed: bytes of a result that has a place of its own if all regions of several layers are held.
    """
    if isinstance(model, GivenScheme):
        return [*model.least_needs, *(model.loop_needs if streaming else [])]
    if not streaming or not model.is_single:
        if model.is_single and (model.rules.has_loop_orders or model.in_loops_only):
            return [need_of(model)[:2]]
        held = [(a + handed, w) for a, w in model.least_needs]
        return [*held, *(model.loop_needs if streaming else [])]
    held = [] if model.rules.has_loop_orders else model.least_needs
    return [*held, *model.loop_needs]


def need_of(model: SubgraphModel, reserved: Reserved = NOTHING) -> Need:
    """Return what a subgraph takes that breaks no rule, in the way that takes least, with all that is kept on chip."""
    return Need(*min(held_needs(model, reserved), key=sum), bool(model.loop_ways) or model.is_single)


def held_needs(model: SubgraphModel, reserved: Reserved = NOTHING) -> list[Way]:
    """Return what a subgraph takes that breaks no rule, for each way to hold it, with all that is kept on chip.

    Of a single layer on one core, and of one that no way holds, to move everything once.
    """
    needs_ = (
        [one_pass(way.loops) for way in model.loop_ways]
        if model.in_loops_only and model.loop_ways
        else model.least_needs
    )
    if model.is_single and model.rules.has_loop_orders:
        needs_ = [one_pass(model.rules.loop_layer(model.subgraph.layers[0], model.kept))]
    beside = reserved.size_bytes + (0 if model.is_single else reserved.handed)
    return [(activations + beside, weights) for activations, weights in needs_]
