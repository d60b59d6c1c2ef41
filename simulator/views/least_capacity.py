"""The least memory on which a partition runs: what each subgraph takes, and how prefetched weights add to it.

Whether a subgraph is held is a question of thresholds: its own bytes and, with prefetch="resident", those of the next
weights. So between two of the sums that can be made of them nothing changes, and the answer is one of these sums.
With "resident" a larger memory is not always enough: there a layer that was streamed is held, and wants its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Unpack

from simulator.accelerator import Machine, MachineFields, machine_of
from simulator.evaluate import Infeasible
from simulator.keywords import check_keywords
from simulator.model.priced import check_partition
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph import Geometry
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network


class Need(NamedTuple):
    """What a subgraph takes at least where it is held, bytes of one core; a single layer may be streamed instead."""

    activation_bytes: int
    weight_bytes: int
    may_stream: bool


class Room(NamedTuple):
    """Buffers of one core in bytes; one of both where `weights` is None."""

    activations: int
    weights: int | None


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
    streaming: bool  #: whether single layers may be streamed, which then need one byte only
    shared_buffer: int | None  #: if activations and weights share one
    global_buffer: int | None  #: the least of all pairs
    weight_buffer: int | None  #: the least beside that
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
        return asdict(self) | {"needs": [need._asdict() for need in self.needs]}


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
    network : Network
        What is computed, such as `workloads.load("resnet50")`.
    partition : Partition
        Which layers run together; a partition of this network.
    machine : Machine, optional
        Everything but the buffers; by default one core of the paper.
    tile_rule : {"exact", "paper"}
        "exact" sizes the regions so that the schedule really runs; "paper" reproduces Cocco, Sec. 3.1.
    streaming : bool
        A single layer runs in any memory, because it can be streamed. False: the least memory on which nothing is.
    **fields
        Fields of the machine by their names, in place of its own: cores, batch, max_regions, prefetch, ...

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
    accelerator = machine_of(machine, fields).with_buffers(shared_buffer=1)
    rules = PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule)
    models = [SubgraphModel(rules, group) for group in partition.subgraphs]
    broken = tuple(
        Infeasible(names, *model.rule_broken) for names, model in zip(partition.names, models) if model.rule_broken
    )
    if broken:
        return LeastCapacity(network.name, streaming, None, None, None, (), (), (), infeasible=broken)
    needs = [need_of(model) for model in models]
    is_resident = accelerator.prefetch == "resident"

    def runs(room: Room) -> bool:
        held = held_in(needs, room, is_resident)
        return all(is_held or (streaming and need.may_stream) for is_held, need in zip(held, needs))

    wanted = [need for need in needs if not (streaming and need.may_stream)]
    shared = next(size for size in shared_thresholds(needs, is_resident) if runs(Room(size, None)))
    activations = max([1, *(need.activation_bytes for need in wanted)])
    weights = next(size for size in weight_thresholds(needs, is_resident) if runs(Room(activations, size)))

    def short(smaller: Room) -> tuple[str, ...]:
        """The first subgraph that does not run in a memory that is too small; none where that has no byte."""
        if 0 in smaller:
            return ()
        held = held_in(needs, smaller, is_resident)
        return next(n for n, is_held, need in zip(partition.names, held, needs) if not is_held and need in wanted)

    return LeastCapacity(
        network.name, streaming, shared, activations, weights,
        short(Room(shared - 1, None)), short(Room(activations - 1, weights)), short(Room(activations, weights - 1)),
        tuple(needs),
    )  # fmt: skip


def need_of(model: SubgraphModel) -> Need:
    """Return what a subgraph takes that breaks no rule."""
    return Need(model.least_activation, model.weight_need, model.is_single)


def held_in(needs: Sequence[Need], room: Room, is_resident: bool) -> list[bool]:
    """Return, in execution order, whether each subgraph is held whole, as `cost.price_subgraphs` decides."""
    held = []
    reserved = 0
    for need in reversed(needs):
        if room.weights is None:
            fits = need.activation_bytes + need.weight_bytes <= room.activations - reserved
        else:
            fits = need.activation_bytes <= room.activations and need.weight_bytes <= room.weights - reserved
        held.append(fits)
        reserved = need.weight_bytes if fits and is_resident else 0
    return held[::-1]


def shared_thresholds(needs: Sequence[Need], is_resident: bool) -> list[int]:
    """Return the sizes of a shared buffer, ascending, between which no subgraph changes; 1 is the first."""
    return _sums([need.activation_bytes + need.weight_bytes for need in needs], needs, is_resident)


def weight_thresholds(needs: Sequence[Need], is_resident: bool) -> list[int]:
    """Return the sizes of a weight buffer, ascending, between which no subgraph changes; 1 is the first."""
    return _sums([need.weight_bytes for need in needs], needs, is_resident)


def _sums(own: Sequence[int], needs: Sequence[Need], is_resident: bool) -> list[int]:
    found = {1, *own}
    if is_resident:
        found |= {size + following.weight_bytes for size, following in zip(own, needs[1:])}
    return sorted(found - {0})


def threshold(sizes: Iterable[int], at: int, holds: Callable[[int], bool]) -> int:
    """Return where `holds` begins, seen from a size: the least size from which it holds up to there, else the next one.

    sizes: between which `holds` does not change, ascending.
    """
    sizes = sorted(sizes)
    if not holds(at):
        return next(size for size in sizes if size > at and holds(size))
    least = at
    for size in reversed([size for size in sizes if size <= at]):
        if not holds(size):
            break
        least = size
    return least
