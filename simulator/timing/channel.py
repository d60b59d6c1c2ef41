"""One DRAM channel that serves one transfer at a time, in order, and loads weights when it would be idle."""

from __future__ import annotations

from collections import deque
from typing import Literal, NamedTuple

from simulator.timing.course import Course

Kind = Literal["inputs", "weights", "outputs", "compute", "crossbar"]


class Slice(NamedTuple):
    """What DRAM, the array or the crossbar does from `start` to `stop`, in slots (see Simulation).

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition
    >>> from simulator.timing import simulate
    >>> vgg = workloads.load("vgg16")
    >>> run = simulate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> next(each for each in run.slices if each.kind == "compute")
    Slice(kind='compute', subgraph=0, layer='conv1_1', start=77664, stop=1884000, size_bytes=0)
    """

    kind: Kind
    subgraph: int
    layer: str  #: whose weights, what computes, or for which bytes cross between cores; "" for rows
    start: int
    stop: int
    size_bytes: int  #: that cross to DRAM, or between cores; of all cores; 0 for computing


class Weights:
    """The weights of one subgraph being loaded, in the order in which its stages need them."""

    def __init__(self, subgraph: int, course: Course) -> None:
        self.subgraph = subgraph
        self.stages = [k for k, stage in enumerate(course.stages) if stage.weights]
        self.pending = deque((k, v, size) for k in self.stages for v, size in course.stages[k].weights)
        self.ready: dict[tuple[int, int], int] = {}  #: when those of a stage and layer are there
        self.room = 0  #: bytes that may come before the subgraph starts

    def allowed(self, last_stage: int) -> int:
        """Return how much of the next transfer may come now: all of it if its stage is not beyond the last."""
        return self.pending[0][2] if self.pending and self.pending[0][0] <= last_stage else 0

    def ahead(self) -> int:
        """Return how much of the next transfer may come before the subgraph starts."""
        return min(self.room, self.pending[0][2]) if self.pending else 0


class Channel:
    """DRAM; `now` is when it has served all requests. Times are in slots, the time of one byte."""

    def __init__(self, names: list[str]) -> None:
        self.names = names  #: of layers
        self.now = 0
        self.slices: list[Slice] = []

    def move(self, kind: Kind, subgraph: int, size: int, layer: str = "") -> None:
        """Serve a transfer."""
        if size:
            self.slices.append(Slice(kind, subgraph, layer, self.now, self.now + size, size))
            self.now += size

    def load(self, weights: Weights, most: int) -> None:
        """Load the next of these weights, at most this many bytes."""
        stage, v, size = weights.pending.popleft()
        self.move("weights", weights.subgraph, min(size, most), self.names[v])
        if size > most:
            weights.pending.appendleft((stage, v, size - most))
        else:
            weights.ready[stage, v] = self.now

    def need(self, weights: Weights, stage: int) -> None:
        """Load all weights of a stage that are not there yet."""
        while size := weights.allowed(stage):
            self.load(weights, size)

    def wait(self, until: int, own: Weights, last_stage: int, following: Weights | None) -> None:
        """Be idle until a time, except for weights that have room: the running subgraph's, then the next one's."""
        while self.now < until and own.allowed(last_stage):
            self.load(own, until - self.now)
        while following and self.now < until and (size := following.ahead()):
            size = min(size, until - self.now)
            following.room -= size
            self.load(following, size)
        self.now = max(self.now, until)
