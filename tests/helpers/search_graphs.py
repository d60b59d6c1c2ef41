"""Small networks for the tests of the search, problems on them, and a stream whose numbers are written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import strategies

from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from simulator.connected import Connected
from simulator.model.cost import Totals
from workloads.network.builder import Builder
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

SPACE = SharedBuffer(low=1024, high=9216, step=1024)


def dag(producers: Sequence[Sequence[int]], name: str = "dag", size: int = 8, kernel: int = 1) -> Network:
    """Return convolutions of 8 channels that read these layers, or the model input where there is none."""
    layers = []
    for v, sources in enumerate(producers):
        names = tuple(f"n{u}" for u in sources) or ("x",)
        pads = (kernel // 2,) * 4
        layers.append(Layer(f"n{v}", "conv", names, size, size, 8, 8 * len(names), (kernel, kernel), (1, 1), pads))
    return Network(name, (Tensor("x", size, size, 8),), tuple(layers))


def chain(count: int, name: str = "chain") -> Network:
    """Return n0 -> n1 -> ... with 3x3 convolutions."""
    return dag([[v - 1] if v else [] for v in range(count)], name, kernel=3)


def diamond(name: str = "diamond") -> Network:
    """Return n0 -> n1 -> n3 and n0 -> n2 -> n3."""
    return dag([[], [0], [0], [1, 2]], name)


def branches(join: str) -> Network:
    """Return two convolutions of two inputs, and what joins them: "add", or "concat": a convolution that reads both."""
    b = Builder("branches")
    left, right = (b.conv(f"n{i}", b.input(f"x{i}", 8, 8, 8), 8) for i in range(2))
    if join == "add":
        b.add("n2", [left, right])
    else:
        b.conv("n2", [left, right], 8)
    return b.build()


def fixed(network: Network, buffer_bytes: int = 65536, metric: str = "ema", connected: Connected = "all") -> Problem:
    """Return the problem of Formula 1 on a shared buffer."""
    return on_hardware(network, Accelerator(shared_buffer=buffer_bytes, connected=connected), metric=metric)


def spaced(*networks: Network) -> Problem:
    """Return the problem of Formula 2 with shared buffers of 1 to 9 KB."""
    return over_space(networks, SPACE)


@strategies.composite
def networks(draw, most: int = 10, name: str = "random") -> Network:
    """Random DAGs of 1 to `most` layers; a layer reads up to three earlier ones, or the model input."""
    producers: list[list[int]] = []
    for v in range(draw(strategies.integers(1, most))):
        earlier = strategies.sets(strategies.integers(0, v - 1), max_size=3) if v else strategies.just(set())
        producers.append(sorted(draw(earlier)))
    return dag(producers, name, kernel=draw(strategies.sampled_from([1, 3])))


class Script:
    """A stream that gives the numbers it was given: `chance` takes booleans, `below` and the others integers."""

    def __init__(self, *numbers: int) -> None:
        self.numbers: Iterator[int] = iter(numbers)

    def chance(self, threshold: int) -> bool:
        return bool(next(self.numbers))

    def below(self, count: int) -> int:
        number = next(self.numbers)
        assert 0 <= number < count
        return number

    def normal_step(self, deviation: int) -> int:
        return next(self.numbers)

    def draw(self) -> int:
        return next(self.numbers)

    def is_used_up(self) -> bool:
        return next(self.numbers, None) is None


def priced(problem, prices):
    """Return costs of 10 bytes a layer, except for the subgraphs given; None: does not fit."""

    def price(group):
        ema_bytes = prices.get(group, 10 * len(group))
        return None if ema_bytes is None else Totals(ema_bytes, 0, 0, 0, 0, 0)

    return SubgraphCosts(problem, price=price)


BRANCHES = dag([[], [0], [0], [1, 2], [3]], "branches", kernel=3)


TWO = SeparateBuffers(Range(1024, 4096, 512), Range(640, 4096, 1024))


def criterion(name, plan, weights=(1.0,)):
    """A criterion as its definition says, from evaluations."""
    if name == "capacity":
        return float(plan.machine.buffer_bytes)
    if name == "area":
        return 1.2 * plan.machine.buffer_bytes / 2**20
    field = {"energy": "energy_pj", "ema": "ema_bytes", "latency-sum": "latency_cycles", "bandwidth": "ema_bytes"}[name]
    total = sum(weight * getattr(each, field) for weight, each in zip(weights, plan.evaluations))
    if name == "bandwidth":
        return total / sum(weight * each.compute_cycles for weight, each in zip(weights, plan.evaluations))
    return total
