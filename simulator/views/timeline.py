"""When each subgraph runs, when its bytes cross to DRAM, what the buffers hold: the latencies of the model, drawn out.

The model prices sums: a subgraph takes the longer of its computing and its transfers (Cocco, Sec. 5.1.2; model.md,
section 4). Where inside that span each transfer lies is our choice, one way of many that have this length: DRAM serves
one transfer at a time, loads from the start and stores up to the end; computing ends with the subgraph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.evaluate import Evaluation, SubgraphCost, check_evaluation
from simulator.views.occupancy import Occupancy, occupancies
from workloads.network.network import Network

Kind = Literal["subgraph", "compute", "weights", "inputs", "outputs"]


class Span(NamedTuple):
    """What happens from `start` to `stop`, in slots (see Timeline); `subgraph` is the one it is for."""

    kind: Kind
    subgraph: int
    start: int
    stop: int
    size_bytes: int  #: that cross to DRAM; of a subgraph what crosses while it runs, 0 for computing


class Held(NamedTuple):
    """What one core's buffers hold from `start` on; next_weight_bytes: weights that are prefetched meanwhile."""

    start: int
    occupancy: Occupancy
    next_weight_bytes: int


@dataclass(frozen=True)
class Timeline:
    """The spans of a run by start; times are whole slots.

    A slot is the time in which DRAM moves one byte: 1 / slots_per_cycle cycles. So every time is an integer, and the
    end is the latency of the evaluation, exactly.

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
    prefetch: bool  #: whether the next weights are loaded while a subgraph runs
    slots_per_cycle: int  #: DRAM bytes per cycle of all cores
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
    """Return when what happens. It ends at latency_cycles, with prefetch at latency_prefetch_cycles.

    Parameters
    ----------
    network : Network
        What is computed, such as `workloads.load("resnet50")`.
    evaluation : Evaluation
        What a partition of it costs: `simulator.evaluate`.
    prefetch : bool
        The next weights are loaded while a subgraph runs, the first ones before.

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
    >>> timeline(vgg, priced, prefetch=True).latency_cycles == priced.latency_prefetch_cycles
    True
    """
    check_evaluation(network, evaluation)
    if not evaluation.fits:
        raise ValueError(f"the partition of {evaluation.network!r} cannot run, so it has no timeline")
    costs, bandwidth = evaluation.subgraphs, evaluation.accelerator.dram_bytes_per_cycle
    kept = occupancies(network, evaluation)
    spans: list[Span] = []
    held: list[Held] = []
    now = 0
    if prefetch:
        now = costs[0].ema_weight_bytes
        spans.append(Span("weights", 0, 0, now, now))
        held.append(Held(0, Occupancy(0, 0, 0), kept[0].weight_bytes))
    for i, cost in enumerate(costs):
        ahead = i + 1 if prefetch else i
        weights = costs[ahead].ema_weight_bytes if ahead < len(costs) else 0
        following = kept[ahead].weight_bytes if prefetch and ahead < len(costs) else 0
        stop = now + max(cost.compute_cycles * bandwidth, weights + cost.ema_input_bytes + cost.ema_output_bytes)
        spans += _spans(i, cost, (ahead, weights), now, stop, bandwidth)
        held.append(Held(now, kept[i], following))
        now = stop
    held.append(Held(now, Occupancy(0, 0, 0), 0))
    real = sorted((span for span in spans if span.stop > span.start), key=lambda span: span.start)
    return Timeline(network.name, prefetch, bandwidth, tuple(real), tuple(held))


def _spans(i: int, cost: SubgraphCost, load: tuple[int, int], start: int, stop: int, bandwidth: int) -> list[Span]:
    """Return the spans of one subgraph; own weights come before its inputs, prefetched ones after."""
    ahead, weights = load
    moved = weights + cost.ema_input_bytes + cost.ema_output_bytes
    first: tuple[Kind, int, int] = ("inputs", i, cost.ema_input_bytes)
    second: tuple[Kind, int, int] = ("weights", ahead, weights)
    loads = [second, first] if ahead == i else [first, second]
    spans = [
        Span("subgraph", i, start, stop, moved),
        Span("compute", i, stop - cost.compute_cycles * bandwidth, stop, 0),
    ]
    for kind, owner, size in loads:
        spans.append(Span(kind, owner, start, start + size, size))
        start += size
    return [*spans, Span("outputs", i, stop - cost.ema_output_bytes, stop, cost.ema_output_bytes)]
