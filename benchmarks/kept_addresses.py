"""How often the bytes of a plan with kept tensors fit and its addresses do not, and who finds them.

    python -m benchmarks.kept_addresses [--seeds N] [--graphs N]

Random plans of the nine networks and of random graphs: connected parts of runs of layers, one a step, in the order of
the layers; intervals of whole tensors, in random order or the longest first, as long as the simulator prices every step
in the memory. So what is placed is what the simulator says is held. A memory of as many bytes as the fullest step
holds, and of 0.5 and 2 % more. The same seeds give the same plans and counts; times are CPU time of one process.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator

import workloads
from benchmarks.kept_instances import random_partition
from cocco.allocation.allocate import allocate
from cocco.allocation.heuristics.greedy import PORTFOLIO, greedy
from cocco.allocation.heuristics.least import height_of
from cocco.allocation.problem import make_problem
from simulator import Accelerator, Partition
from simulator.allocation.buffers import Buffer
from simulator.model.buffer_plan import plan_buffers
from simulator.model.kept import kept_of
from simulator.model.priced import reserved_in
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.intervals import Span, Uses
from simulator.partition.steps import Step, steps_with
from workloads import Builder, Network

NETWORKS = (
    "vgg16", "resnet50", "resnet152", "googlenet", "transformer", "gpt", "randwire_a", "randwire_b", "nasnet",
)  # fmt: skip
KILOBYTES = (128, 256, 512, 896, 1152, 2048)  #: of a shared memory; our choice
GRAPH_KILOBYTES = (8, 16, 24, 32, 48)
GRAPHS = "random graphs"
ROOM = (1.0, 1.005, 1.02)  #: over the bytes of the fullest step
LINKS = ("greedy", "search", "ejection", "CP-SAT")  #: of the chain, the later the harder
MISSES = 24  #: intervals in a row that do not fit, after which no more are tried; our choice


def random_graph(seed: int) -> Network:
    """Return 10 to 30 layers of equal maps that read one to three of the last eight tensors."""
    rng = random.Random(seed)
    size = rng.choice((4, 8, 14))
    builder = Builder(f"graph {seed}")
    tensors = [builder.input("x", size, size, 8 * rng.randint(1, 16))]
    for i in range(rng.randint(10, 30)):
        sources = dict.fromkeys(rng.choice(tensors[-8:]) for _ in range(rng.choice((1, 1, 2, 3))))
        tensors.append(builder.conv(f"n{i}", tuple(sources), 8 * rng.randint(1, 16), 1))
    return builder.build()


def plans(networks: tuple[str, ...], seeds: int, graphs: int) -> Iterator[tuple[str, tuple[Buffer, ...]]]:
    """Yield the buffers of the shared memory of each random plan, by the network or GRAPHS."""
    for name in networks:
        for seed in range(seeds):
            yield from _plan(name, workloads.load(name), random.Random(f"{name} {seed}"))
    for seed in range(graphs):
        yield from _plan(GRAPHS, random_graph(seed), random.Random(seed))


def _plan(name: str, network: Network, rng: random.Random) -> Iterator[tuple[str, tuple[Buffer, ...]]]:
    sizes = [1024 * each for each in (GRAPH_KILOBYTES if name == GRAPHS else KILOBYTES)]
    machine = Accelerator(shared_buffer=rng.choice(sizes))
    for most in range(rng.choice((1, 2, 3, 5)), 0, -1):  # single layers always fit, nearly
        steps = Steps(network, random_partition(network, rng, most), machine)
        if steps.runs([]):
            spans = steps.kept(rng)
            held = plan_buffers(network, steps.plan(spans), machine)
            if spans and held is not None:
                yield name, held.buffers["shared"]
            return


class Steps:
    """A partition on given hardware; steps that were priced are not priced again."""

    def __init__(self, network: Network, partition: Partition, accelerator: Accelerator) -> None:
        self.network, self.partition, self.accelerator = network, partition, accelerator
        self.rules = PricingRules(Geometry(network, accelerator.technology), accelerator, "exact", partition.metric)
        self.known: dict[object, bool] = {}

    def plan(self, spans: list[Span]) -> Partition:
        """Return the partition with these intervals; without any its order is the usual one."""
        return Partition.from_ids(self.network, self.partition.subgraphs, self.partition.metric, spans)

    def runs(self, spans: list[Span], steps: range | None = None) -> bool:
        """Return whether these steps run beside these intervals."""
        groups = self.partition.subgraphs
        places = steps_with(self.network, groups, spans)
        return all(self._fits(groups[i], places[i]) for i in steps or range(len(groups)))

    def _fits(self, layers: tuple[int, ...], step: Step) -> bool:
        kept, reserved = kept_of(step), reserved_in(self.rules, step)
        key = layers, kept, reserved
        if key not in self.known:
            room = self.accelerator.activation_capacity, self.accelerator.weight_capacity
            self.known[key] = isinstance(SubgraphModel(self.rules, layers, kept).price(*room, reserved), Price)
        return self.known[key]

    def kept(self, rng: random.Random) -> list[Span]:
        """Return intervals beside which every step runs."""
        uses = Uses(self.network, self.partition.subgraphs)
        intervals = []
        for u in range(len(self.network.tensors)):
            made = uses.made(u)
            touched = ([] if made is None else [made]) + uses.reads(u)
            intervals += [(u, a, z) for k, a in enumerate(touched) for z in touched[k + 1 :]]
        rng.shuffle(intervals)
        if rng.random() < 0.5:
            intervals.sort(key=lambda each: each[1] - each[2])
        spans: list[Span] = []
        misses = 0
        for u, a, z in intervals:
            if misses == MISSES:
                break
            if any(v == u and first <= z and a <= last for v, first, last in spans):
                continue
            fits = self.runs([*spans, (u, a, z)], range(a, z + 1))
            misses = 0 if fits else misses + 1
            if fits:
                spans.append((u, a, z))
        return spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8, metavar="N", help="plans of each network")
    parser.add_argument("--graphs", type=int, default=200, metavar="N", help="random graphs")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="NET")
    options = parser.parse_args()
    made: dict[str, list[tuple[Buffer, ...]]] = {}
    for name, buffers in plans(tuple(options.networks), options.seeds, options.graphs):
        made.setdefault(name, []).append(buffers)
    for name, found in made.items():
        heights, full = [], []
        for buffers in found:
            problem = make_problem(buffers)
            heights.append(min(height_of(problem, greedy(problem, *rule)) for rule in PORTFOLIO) / problem.bound)
            full.append(len(buffers))
        print(f"{name}: {len(found)} plans of {min(full)} to {max(full)} buffers; greedy at most {max(heights):.4f}")
        for room in ROOM:
            print(f"  {room:5}  {_row(found, room)}", flush=True)


def _row(found: list[tuple[Buffer, ...]], room: float) -> str:
    """Return who places how many, the highest and the CPU time."""
    ends, highest, start = dict.fromkeys((*LINKS, "infeasible", "gave_up"), 0), 0.0, time.process_time()
    for buffers in found:
        problem = make_problem(buffers)
        peak = problem.bound * problem.granule
        answer = allocate(buffers, int(peak * room) // 8 * 8, explain=False)
        links = [link for link in LINKS if link in (answer.solved_by or "")]
        ends[links[-1] if answer.allocation is not None else answer.status] += 1
        highest = max(highest, (answer.height_bytes or 0) / peak)
    counts = "  ".join(f"{end} {count}" for end, count in ends.items())
    return f"{counts}  highest {highest:.4f}  CPU {time.process_time() - start:.1f} s"


if __name__ == "__main__":
    main()
