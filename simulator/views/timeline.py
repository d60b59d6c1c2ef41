"""When each subgraph runs, when its bytes cross to DRAM, what the buffers hold: drawn from sums, or as it is executed.

The model prices sums: a subgraph takes the longest of its computing, its transfers (Cocco, Sec. 5.1.2; model.md,
section 4) and what crosses between cores. Where inside that span each lies is our choice, one way of many that have
this length: DRAM serves one transfer at a time, loads from the start and stores up to the end; computing and crossing
end with the subgraph. The run that can be executed is that of the event simulation: the next weights come early where
they have room.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.evaluation import Evaluation, check_evaluation
from simulator.subgraph_cost import SubgraphCost
from simulator.technology import Rate
from simulator.views.occupancy import Occupancy, occupancies
from workloads.network.network import Network

Kind = Literal["subgraph", "compute", "weights", "inputs", "outputs", "crossbar"]


class Span(NamedTuple):
    """What happens from `start` to `stop`, in slots (see Timeline); `subgraph` is the one it is for."""

    kind: Kind
    subgraph: int
    start: int
    stop: int
    size_bytes: int  #: that cross to DRAM, or between cores; of a subgraph what DRAM moves meanwhile; 0 for computing


class Held(NamedTuple):
    """What one core's buffers hold from `start` on; weights as far as they are loaded where the run is executed."""

    start: int
    occupancy: Occupancy
    next_weight_bytes: int  #: of the next subgraph, loaded early
    row_bytes: int = 0  #: set aside for rows that come ahead or are being written


@dataclass(frozen=True)
class Timeline:
    """The spans of a run by start; times are whole slots.

    A slot is the time in which DRAM moves one byte: 1 / slots_per_cycle cycles. So every time is an integer, and the
    end is a latency of the evaluation, exactly: latency_cycles or latency_executed_cycles.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, evaluate, timeline
    >>> vgg = workloads.load("vgg16")
    >>> drawn = timeline(vgg, evaluate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB)))
    >>> drawn
    Timeline(vgg16, 100 spans, 23,336,062 cycles)
    >>> drawn.spans[0]
    Span(kind='subgraph', subgraph=0, start=0, stop=3612672, size_bytes=3363520)
    """

    network: str
    prefetch: bool  #: whether it is the run that can be executed, with next weights loaded early; else the paper's sums
    slots_per_cycle: float  #: DRAM bytes per cycle of all cores
    spans: tuple[Span, ...]
    held: tuple[Held, ...]

    def __repr__(self) -> str:
        return f"Timeline({self.network}, {len(self.spans)} spans, {self.latency_cycles:,.0f} cycles)"

    @property
    def end(self) -> int:
        """When the last subgraph ends, in slots."""
        return max(span.stop for span in self.spans)

    @property
    def latency_cycles(self) -> float:
        """When the last subgraph ends, in cycles."""
        return self.end / self.slots_per_cycle


def timeline(network: Network, evaluation: Evaluation, prefetch: bool = False) -> Timeline:
    """Return when what happens, as the paper sums it or as it can be executed.

    Parameters
    ----------
    network : Network
        What is computed, such as `workloads.load("resnet50")`.
    evaluation : Evaluation
        What a partition of it costs: `simulator.evaluate`.
    prefetch : bool
        False: the paper's sums, which end at latency_cycles; a subgraph begins with its own weights. True: the run of
        the event simulation (`evaluation.simulation`), which ends at latency_executed_cycles; next weights are loaded
        early where there is room and DRAM would be idle.

    Returns
    -------
    Timeline
        Spans of subgraphs, computing and transfers, and what the buffers hold, in slots.

    Raises
    ------
    TypeError
        An argument is of another type; the message shows one that would do.
    ValueError
        The evaluation is infeasible, or of another network.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, evaluate, timeline
    >>> vgg = workloads.load("vgg16")
    >>> priced = evaluate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> timeline(vgg, priced, prefetch=True).latency_cycles == priced.latency_executed_cycles
    True
    """
    check_evaluation(network, evaluation)
    if not evaluation.fits:
        raise ValueError(f"the partition of {evaluation.network!r} cannot run, so it has no timeline")
    kept = occupancies(network, evaluation)
    spans, held = _executed(evaluation, kept) if prefetch else _summed(evaluation, kept)
    real = sorted((span for span in spans if span.stop > span.start), key=lambda span: span.start)
    return Timeline(network.name, prefetch, evaluation.accelerator.dram_bytes_per_cycle, tuple(real), tuple(held))


def _summed(evaluation: Evaluation, kept: tuple[Occupancy, ...]) -> tuple[list[Span], list[Held]]:
    """Return the spans of the paper's sums, and what is held."""
    accelerator, now = evaluation.accelerator, 0
    rate, (slots, passing) = accelerator.rate, accelerator.technology.crossing(accelerator.cores)
    spans: list[Span] = []
    held: list[Held] = []
    for i, cost in enumerate(evaluation.subgraphs):
        crossing = -(-cost.crossbar_bytes * slots // passing)
        stop = now + max(rate.slots(cost.compute_cycles), cost.ema_bytes, crossing)
        spans += _spans(i, cost, now, stop, rate)
        spans.append(Span("crossbar", i, stop - crossing, stop, cost.crossbar_bytes))
        held.append(Held(now, kept[i], 0))
        now = stop
    return spans, [*held, Held(now, Occupancy(0, 0, 0), 0)]


def _spans(i: int, cost: SubgraphCost, start: int, stop: int, rate: Rate) -> list[Span]:
    """Return the spans of one subgraph; weights come before inputs."""
    loaded = start + cost.ema_weight_bytes
    return [
        Span("subgraph", i, start, stop, cost.ema_bytes),
        Span("compute", i, stop - rate.slots(cost.compute_cycles), stop, 0),
        Span("weights", i, start, loaded, cost.ema_weight_bytes),
        Span("inputs", i, loaded, loaded + cost.ema_input_bytes, cost.ema_input_bytes),
        Span("outputs", i, stop - cost.ema_output_bytes, stop, cost.ema_output_bytes),
    ]


def _executed(evaluation: Evaluation, kept: tuple[Occupancy, ...]) -> tuple[list[Span], list[Held]]:
    """Return the spans of the event simulation, and what is held; a subgraph has the bytes that cross while it runs."""
    run = evaluation.simulation
    starts = [start for start, _ in run.spans]
    moved = [0] * len(starts)
    spans: list[Span] = []
    for each in run.slices:
        if each.kind != "crossbar":
            moved[bisect_right(starts, each.start) - 1] += each.size_bytes
        spans.append(Span(each.kind, each.subgraph, each.start, each.stop, each.size_bytes))
    spans = [Span("subgraph", i, *span, moved[i]) for i, span in enumerate(run.spans)] + spans
    held = []
    for use in run.uses:
        side = kept[bisect_right(starts, use.start) - 1].side_bytes if use.start < run.end else 0
        occupancy = Occupancy(use.weight_bytes, use.activation_bytes - side, side, use.kept_bytes)
        held.append(Held(use.start, occupancy, use.next_weight_bytes, use.row_bytes))
    return spans, held
