"""Allocation: the hard instances, large ones, and the paper's tables (TelaMalloc, ASPLOS 2023, Sec. 7).

    python -m benchmarks.allocation TABLE [--instances ABC] [--seeds N] [--data FOLDER]

TABLE: hard, least, solvers, paired, large, growth, full, micro (Table 1), heuristic (Table 2), kept.
paired needs --program, the path of google/minimalloc's.
FOLDER holds minimalloc/A.1048576.csv to K (google/minimalloc, `benchmarks/`) and idealloc/*.csv (cappadokes/idealloc);
by default ../shared/data/allocation beside the checkout. Times are CPU time of one process.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cocco
from benchmarks.allocation_lists import random_lives, training, turning
from benchmarks.kept_instances import kept_instances
from cocco.allocation.heuristics import greedy
from cocco.allocation.heuristics.least import height_of
from cocco.allocation.problem import make_problem
from simulator.allocation.buffers import Buffer
from simulator.allocation.files import read_buffers
from simulator.allocation.judge import lower_bound

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "allocation"
PUBLISHED = 1048576  #: bytes; the capacity that google/minimalloc publishes A to K with
chosen = "ABCDEFGHIJK"  #: the hard instances
seeds = 24  #: of kept tensors, for each network; of generated lists
program = "minimalloc"  #: google/minimalloc's, where `paired` finds it
SOLVER_NODES = 20_000  #: 10 units of CP-SAT's deterministic time
LEAST = {"C": 1039360, "D": 1038336, "J": 1029120}  #: the least heights known here; 1048576 is the least of all others


def timed(call: Callable[..., Any], *arguments: Any, **more: Any) -> tuple[Any, float]:
    """Return what a call returns, and its CPU seconds."""
    start = time.process_time()
    answer = call(*arguments, **more)
    return answer, time.process_time() - start


def instances(data: Path) -> Iterator[tuple[str, tuple[Buffer, ...]]]:
    for name in chosen:
        yield name, read_buffers(data / "minimalloc" / f"{name}.{PUBLISHED}.csv")


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def hard(data: Path) -> None:
    """A to K at the published capacity, with more room, and one unit below."""
    print("instance buffers  " + "".join(f"{f'x {factor}':>26}" for factor in (1, 1.1, 1.25)) + f"{'- 1,024':>14}")
    for name, buffers in instances(data):
        cells = []
        for capacity in (PUBLISHED, PUBLISHED * 11 // 10, PUBLISHED * 5 // 4):
            found, seconds = timed(cocco.allocate, buffers, capacity)
            cells.append(f"{found.status:>9}{found.nodes:8,}{seconds:7.3f} s")
        below = cocco.allocate(buffers, PUBLISHED - 1024)
        print(f"{name:8}{len(buffers):8}  " + "".join(cells) + f"{below.status:>14}", flush=True)


def least(data: Path) -> None:
    """The least height of A to K, within 200,000 nodes."""
    for name, buffers in instances(data):
        found, seconds = timed(cocco.allocate, buffers, 2 * PUBLISHED, minimize=True)
        print(
            f"{name}  {found.status:9} height {found.height_bytes:9,}  refuted {found.proved_infeasible_bytes:9,}"
            f"  bound {found.lower_bound_bytes:9,}  nodes {found.nodes:8,} {seconds:7.2f} s", flush=True,
        )  # fmt: skip


def solvers(data: Path) -> None:
    """CP-SAT beside the search, at the published capacity."""
    ratios = []
    for name, buffers in instances(data):
        ours, seconds = timed(cocco.allocate, buffers, PUBLISHED)
        theirs, long = timed(cocco.allocate, buffers, PUBLISHED, "cp", nodes=SOLVER_NODES)
        if theirs.allocation is not None:
            ratios.append(long / seconds)
        print(
            f"{name}  search {ours.status:9} {seconds:7.3f} s   CP-SAT {theirs.status:9} {long:7.2f} s"
            f"   {long / seconds:8.1f}", flush=True,
        )  # fmt: skip
    if ratios:
        print(f"where both solve, CP-SAT takes {geometric_mean(ratios):.1f} times as long (geometric mean)")


def large(data: Path) -> None:
    """Tensor dumps of compilers: least height by the greedy portfolio."""
    for path in sorted((data / "idealloc").glob("*.csv")):
        is_iree = path.name.startswith("iree")
        buffers = read_buffers(path, inclusive=is_iree, ignore_offsets=is_iree)
        print(f"{path.stem:16}" + _portfolio_row(buffers), flush=True)


def growth(_: Path) -> None:
    """Generated lists of 1,000 to 60,000 buffers."""
    for make in (training, random_lives):
        for count in (1_000, 4_000, 15_000, 60_000):
            print(f"{make.__name__:16}" + _portfolio_row(make(count)), flush=True)


def _portfolio_row(buffers: Sequence[Buffer]) -> str:
    problem, preparing = timed(make_problem, buffers)
    heights, seconds = [], []
    for order, rule in greedy.PORTFOLIO:
        address, each = timed(greedy.greedy, problem, order, rule)
        heights.append(height_of(problem, address) / problem.bound)
        seconds.append(each)
    pairs, count = len(problem.neighbours) // 2, len(buffers)
    whole = preparing + sum(seconds)
    unit = 1e6 * whole / (count * math.log2(count) + pairs)
    return (
        f"{count:7,} buffers {pairs:11,} overlaps  prepare {preparing:6.2f} s  portfolio {sum(seconds):6.2f} s"
        f"  {unit:6.2f} us per n log n + overlaps  height/bound best {min(heights):.6f}  worst {max(heights):.4f}"
    )


def full(data: Path) -> None:
    """Tensor dumps, and generated lists of training, in just as many bytes as their fullest step holds: `auto`."""
    for path in sorted((data / "idealloc").glob("*.csv")):
        is_iree = path.name.startswith("iree")
        print(f"{path.stem:20}" + _full_row(read_buffers(path, inclusive=is_iree, ignore_offsets=is_iree)), flush=True)
    for layers in (60, 200, 700, 3_500):
        for seed in range(seeds):
            print(f"turning {layers:5} {seed:2}    " + _full_row(turning(layers, seed)), flush=True)


def _full_row(buffers: Sequence[Buffer]) -> str:
    found, seconds = timed(cocco.allocate, buffers, lower_bound(buffers), explain=False)
    return f"{len(buffers):7,} buffers {found.status:9} {seconds:6.2f} s  {found.nodes:7,} nodes  {found.solved_by}"


def paired(data: Path) -> None:
    """A to K beside google/minimalloc's own program (--program): user time of both, medians of three."""
    ratios = []
    for name, buffers in instances(data):
        ours = sorted(timed(cocco.allocate, buffers, PUBLISHED, explain=False)[1] for _ in range(3))[1]
        file = data / "minimalloc" / f"{name}.{PUBLISHED}.csv"
        theirs = sorted(_user_seconds([program, f"--capacity={PUBLISHED}", f"--input={file}"]) for _ in range(3))[1]
        ratios.append(theirs / ours)
        print(f"{name}  auto {1e3 * ours:7.1f} ms   minimalloc {theirs:6.3f} s   {ratios[-1]:6.1f}", flush=True)
    print(f"minimalloc takes {geometric_mean(ratios):.1f} times as long (geometric mean), {min(ratios):.1f} at least")


def _user_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([*command, f"--output={os.devnull}"], check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def micro(_: Path) -> None:
    """Table 1: no overlap and full overlap, with room for all; the time per buffer."""
    for kind, count in (
        ("non-overlapping", 1_000),
        ("non-overlapping", 10_000),
        ("full-overlap", 100),
        ("full-overlap", 1_000),
    ):
        step = 1 if kind == "non-overlapping" else 0
        buffers = [Buffer(str(i), i * step, i * step + 1, 1 + i % 7) for i in range(count)]
        capacity = sum(buffer.size for buffer in buffers)
        for method in ("search", "auto"):
            found, seconds = timed(cocco.allocate, buffers, capacity, method)
            assert found.allocation is not None
            print(
                f"{kind}-{count:<7}{method:11}{1e3 * seconds:10.1f} ms {1e3 * seconds / count:8.3f} ms per buffer",
                flush=True,
            )


def heuristic(data: Path) -> None:
    """Table 2: the height of the paper's heuristic, and of the portfolio, over the least known."""
    ratios = []
    for name, buffers in instances(data):
        problem = make_problem(buffers)
        known = LEAST.get(name, PUBLISHED) // problem.granule
        address, seconds = timed(greedy.greedy, problem, "contention", "sky")
        best = min(height_of(problem, greedy.greedy(problem, *each)) for each in greedy.PORTFOLIO)
        rows = height_of(problem, greedy.greedy(problem, "contention", "low")) / known
        ratios.append(rows)
        print(
            f"{name}  contention/sky {height_of(problem, address) / known:6.2f} ({1e3 * seconds:.1f} ms)"
            f"  contention/low {rows:5.2f}  portfolio {best / known:5.2f}", flush=True,
        )  # fmt: skip
    print(f"contention/low, geometric mean {geometric_mean(ratios):.3f}")


def kept(_: Path) -> None:
    """Plans with kept tensors, where the step that needs most fills this share of the capacity: who places them."""
    made = list(kept_instances(seeds))
    sizes = [len(each.buffers) for each in made]
    print(f"{len(made)} plans of {min(sizes)} to {max(sizes)} buffers")
    for full in (1.0, 0.999, 0.995, 0.99, 0.98):
        ends, times, left = dict.fromkeys((*KEPT_LINKS, "infeasible", "gave_up"), 0), [], []
        for each in made:
            capacity = max(each.peak, int(each.peak / full) // 8 * 8)
            found, seconds = timed(cocco.allocate, each.buffers, capacity, explain=False)
            links = [link for link in KEPT_LINKS if link in (found.solved_by or "")]
            end = found.status if found.allocation is None else links[-1]
            ends[end] += 1
            times.append(seconds)
            if end not in ("greedy", "search"):
                left.append(seconds)
        print(
            f"{full:5}  " + "  ".join(f"{end} {count}" for end, count in ends.items())
            + f"  CPU {sum(times):.1f} s, median {sorted(times)[len(times) // 2]:.3f} s, most {max(times):.2f} s;"
            f" after the search {len(left)} plans, {sum(left):.1f} s", flush=True,
        )  # fmt: skip


KEPT_LINKS = ("greedy", "search", "ejection", "CP-SAT")  #: of the chain, the later the harder
TABLES = {each.__name__: each for each in (
    hard, least, solvers, paired, large, growth, full, micro, heuristic, kept,
)}  # fmt: skip


def main() -> None:
    global chosen, seeds, program
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--instances", default=chosen, metavar="ABC", help="of A to K; default all")
    parser.add_argument("--seeds", type=int, default=seeds, metavar="N", help="of kept, for each network, and of full")
    parser.add_argument("--program", default=program, metavar="PATH", help="of paired; default minimalloc")
    options = parser.parse_args()
    chosen, seeds, program = options.instances, options.seeds, options.program
    warnings.simplefilter("ignore")
    TABLES[options.table](options.data)


if __name__ == "__main__":
    main()
