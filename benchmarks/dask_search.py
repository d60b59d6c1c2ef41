"""What a search of many memories on dask takes of its client, while its workers are killed and others join.

    python -m benchmarks.dask_search [--memories N] [--workers N] [--lost N]

The front of a small network by the exact search, two jobs for each memory. So many workers are killed, one after the
other, each once the one that takes its place has been started. Then one process does the same, and the answers are
compared, to the byte.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import threading
import time
from contextlib import ExitStack
from typing import Any

import cocco
from benchmarks.engine_speed import residual_stack
from cocco.exploration.workers import machines
from tests.helpers.dask_cluster import scheduler, worker

KB = 1024
PAUSE = 3.0  #: seconds from one kill to the next


def front(memories: int, **more: Any) -> tuple[Any, float, float]:
    """Return the front over so many memories, and the CPU seconds and the peak memory in MiB of this process."""
    space, start = cocco.SharedBuffer(16 * KB, (15 + memories) * KB, KB), time.process_time()
    found = cocco.pareto(residual_stack(2), space=space, objectives=("capacity", "ema"), method="exact", **more)
    return found, time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KB


def kill(crew: list[subprocess.Popen[bytes]], cluster: ExitStack, address: str, most: int, end: threading.Event) -> int:
    """Kill so many workers, or as many as the search lasts for; return how many."""
    for lost in range(most):
        crew.append(worker(cluster, address))
        if end.wait(PAUSE):
            return lost
        crew.pop(0).kill()
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lost", type=int, default=5)
    chosen = parser.parse_args()
    machines.ANSWER_SECONDS = 60.0  # workers take their time to begin on a busy machine
    with scheduler() as (address, cluster):
        crew, end, lost = [worker(cluster, address) for _ in range(chosen.workers)], threading.Event(), list[int]()
        thread = threading.Thread(target=lambda: lost.append(kill(crew, cluster, address, chosen.lost, end)))
        thread.start()
        start = time.monotonic()
        shared, client, peak = front(chosen.memories, dask=address, workers=chosen.workers)
        wall = time.monotonic() - start
        end.set()
        thread.join()
    one, alone, _ = front(chosen.memories)
    assert shared.to_json() == one.to_json() and shared.points.equals(one.points), "the answers differ"
    print(f"{chosen.memories} memories, {chosen.workers} workers, {lost[0]} of them lost: {wall:.1f} s, of the client")
    print(f"{client:.1f} CPU s, {peak:.0f} MiB; one process {alone:.1f} CPU s; the same {len(one.points)} points")


if __name__ == "__main__":
    main()
