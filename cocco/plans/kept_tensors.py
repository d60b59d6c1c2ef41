"""Why tensors are kept on chip, the room that each step has for them, and what others would have needed.

The saving of an interval is counted in whole DRAM transfers: a read for each later step that finds the tensor on chip,
and the write if no step reads it from DRAM. A tensor that is transferred could have been kept from the last step that
made, read or kept it until the step that reads it from DRAM. Each such interval is tried by itself in addition to all
that are kept, and priced: either a step lacks bytes, or it fits and the plan costs more or less with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cocco.problem.names import Metric
from simulator.model.cost import METRICS, total
from simulator.model.kept import Reserved
from simulator.model.priced import PricedPartition, price_partition, reserved_in
from simulator.model.pricing import Price, Shortage, SubgraphModel
from simulator.partition.intervals import KeptInterval, Span, Uses
from simulator.partition.partition import Partition
from simulator.partition.steps import Step, steps_with
from simulator.views.least_capacity import need_of

MISSED = 5  #: our choice: tensors that cross DRAM and are looked at, those that would save most


@dataclass(frozen=True)
class KeptReason:
    """An interval and the DRAM transfers that it saves."""

    interval: KeptInterval
    size_bytes: int  #: of one core, in every step of the interval
    reads: int  #: readings of DRAM that it saves
    is_written: bool  #: whether DRAM gets a copy all the same
    saved_bytes: int  #: whole batch


@dataclass(frozen=True)
class StepRoom:
    """The buffer for activations (and for weights, if they share it) during a step, bytes of one core.

    needed: the least bytes for everything that is not kept to move nothing twice; for a layer that moves something
    twice, and for a step that does not fit, what it takes now.
    """

    position: int
    layers: tuple[str, ...]
    kept: tuple[str, ...]  #: tensors
    capacity_bytes: int
    kept_bytes: int
    needed_bytes: int
    free_bytes: int  #: negative where the step does not fit


@dataclass(frozen=True)
class Missed:
    """A tensor that is transferred, the interval that would avoid that, and why it is not kept."""

    tensor: str
    from_step: int
    until_step: int
    until_layer: str
    size_bytes: int
    saved_bytes: int  #: of DRAM, whole batch, if it had the interval
    missing_bytes: int | None  #: the most that a step lacks; 0 where all fit, None where bytes are not the reason
    step: int | None  #: that lacks most; None where all fit
    reason: str | None
    change: float | None  #: of the metric with it, negative where that is cheaper; None where it does not fit


@dataclass(frozen=True)
class KeptReasons:
    """All of it, for one plan."""

    metric: Metric
    kept: tuple[KeptReason, ...]  #: as in the plan
    rooms: tuple[StepRoom, ...]  #: of every step
    missed: tuple[Missed, ...]  #: those that would save most first

    def to_json(self) -> dict[str, Any]:
        """Return what `cocco evaluate --explain --json` adds for a plan with kept tensors (docs/partitions.md)."""
        kept = [
            each.interval.to_json()
            | {"bytes": each.size_bytes, "from_step": each.interval.from_step, "until_step": each.interval.until_step}
            | {"reads": each.reads, "written": each.is_written, "saved_bytes": each.saved_bytes}
            for each in self.kept
        ]
        rooms, missed = [asdict(each) for each in self.rooms], [asdict(each) for each in self.missed]
        return {"kept_because": kept, "rooms": rooms, "not_kept": missed}


def kept_reasons(priced: PricedPartition) -> KeptReasons:
    """Return why each tensor is kept, what room each step has, and what the next tensors would have needed."""
    partition = priced.partition
    spans = [each.span for each in partition.keep]
    steps = priced.steps or steps_with(priced.network, partition.subgraphs, spans)
    uses = Uses(priced.network, partition.subgraphs)
    rooms = tuple(_room(priced, steps, i) for i in range(len(partition)))
    return KeptReasons(partition.metric, reasons_of(priced), rooms, tuple(_missed(priced, uses, steps, spans)))


def reasons_of(priced: PricedPartition) -> tuple[KeptReason, ...]:
    """Return what each interval of a plan saves."""
    uses = Uses(priced.network, priced.partition.subgraphs)
    return tuple(_reason(priced, uses, priced.steps, each) for each in priced.partition.keep)


def _reason(priced: PricedPartition, uses: Uses, steps: Sequence[Step], interval: KeptInterval) -> KeptReason:
    tensor, start, end = interval.span
    maker = uses.made(tensor)
    is_written = maker is not None and tensor in steps[maker].written
    reads = sum(start < step <= end for step in uses.reads(tensor))
    crossings = reads + (start == maker and not is_written)
    saved = crossings * _crossing(priced, tensor)
    return KeptReason(interval, priced.rules.whole_bytes(tensor), reads, is_written, saved)


def _crossing(priced: PricedPartition, tensor: int) -> int:
    """Return the bytes of one transfer for the whole batch."""
    return priced.rules.batch * priced.rules.geometry.size_bytes[tensor]


def _room(priced: PricedPartition, steps: Sequence[Step], i: int) -> StepRoom:
    step, accelerator = steps[i], priced.accelerator
    beside = reserved_in(priced.rules, step)
    capacity = accelerator.activation_capacity
    needed = _needed(priced.models[i], priced.prices[i], beside, accelerator.is_shared)
    tensors = priced.network.tensors
    return StepRoom(
        i, priced.partition.names[i], tuple(tensors[u].name for u in step.kept), capacity, beside.size_bytes, needed,
        capacity - beside.size_bytes - needed,
    )  # fmt: skip


def _needed(model: SubgraphModel, price: Price | Shortage, beside: Reserved, is_shared: bool) -> int:
    if isinstance(price, Shortage):
        return 0 if price.needed_bytes is None else max(0, price.needed_bytes - beside.size_bytes)
    activations, weights, _ = need_of(model)
    least, held = activations, price.activation_bytes
    if is_shared:
        least, held = least + weights, held + price.weight_bytes
    return min(least, held)


def _missed(priced: PricedPartition, uses: Uses, steps: Sequence[Step], spans: Sequence[Span]) -> Iterator[Missed]:
    gaps = sorted(_gaps(priced, uses, steps, spans), key=lambda gap: (-gap[0], gap[1]))
    before = _cost(priced)
    for saved, (tensor, start, end) in gaps[:MISSED]:
        joined = [(tensor, _begin(spans, tensor, start), _end(spans, tensor, end))]
        others = [span for span in spans if span[0] != tensor or not joined[0][1] <= span[1] <= joined[0][2]]
        plan = Partition.from_ids(priced.network, priced.partition.subgraphs, priced.partition.metric, others + joined)
        tried = price_partition(priced.network, plan, priced.accelerator, priced.rules.tile_rule)
        missing, step, reason = _most_missing(priced, tried)
        after, change = _cost(tried), None
        if before is not None and after is not None:
            change = after - before
        names = priced.network.names((tensor, uses.readers(tensor, end)[-1]))
        yield Missed(
            names[0], start, end, names[1], priced.rules.whole_bytes(tensor), saved, missing, step, reason, change
        )


def _gaps(
    priced: PricedPartition, uses: Uses, steps: Sequence[Step], spans: Sequence[Span]
) -> Iterator[tuple[int, Span]]:
    """Yield the intervals that would avoid a DRAM read, each with the bytes that it saves."""
    for tensor in range(len(priced.network.tensors)):
        maker, reads = uses.made(tensor), uses.reads(tensor)
        loads = [step for step in reads if tensor in steps[step].loaded]
        touches = reads if maker is None else [maker, *reads]
        for step in loads:
            earlier = [each for each in touches if each < step]
            if not earlier:
                continue  # the first to read a model input
            spares_write = maker is not None and len(loads) == 1 and not priced.network.is_output[tensor]
            yield (1 + spares_write) * _crossing(priced, tensor), (tensor, earlier[-1], step)


def _begin(spans: Sequence[Span], tensor: int, step: int) -> int:
    return next((start for each, start, end in spans if each == tensor and end == step), step)


def _end(spans: Sequence[Span], tensor: int, step: int) -> int:
    return next((end for each, start, end in spans if each == tensor and start == step), step)


def _most_missing(priced: PricedPartition, tried: PricedPartition) -> tuple[int | None, int | None, str | None]:
    """Return the most bytes a step lacks with one more tensor, which step, and why; (0, None, None) if all run."""
    found: list[tuple[int, int, str]] = []
    broken: tuple[int | None, int | None, str | None] = (0, None, None)
    for i, (before, after) in enumerate(zip(priced.prices, tried.prices)):
        if not isinstance(after, Shortage) or isinstance(before, Shortage):
            continue
        if after.needed_bytes is None or after.available_bytes is None:
            broken = None, i, after.reason
        else:
            found.append((after.needed_bytes - after.available_bytes, -i, after.reason))
    if broken[1] is not None or not found:
        return broken
    missing, place, reason = max(found)
    return missing, -place, reason


def _cost(priced: PricedPartition) -> float | None:
    prices = [price for price in priced.prices if isinstance(price, Price)]
    if len(prices) < len(priced.prices):
        return None
    return METRICS[priced.partition.metric](total(prices, priced.accelerator), priced.accelerator)
