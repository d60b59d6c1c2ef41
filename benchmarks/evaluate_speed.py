"""Time of one evaluate() of ResNet50 and of `import simulator`; with --memory the peak of 50,000 samples.

python -m benchmarks.evaluate_speed [--memory]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time

import workloads
from simulator import Accelerator, KiB, MiB, Partition, evaluate

IMPORTING = "import time; start = time.perf_counter(); import simulator; print(time.perf_counter() - start)"


def evaluate_ms(repeats: int = 20) -> dict[str, float]:
    """Return the median time of evaluate(), ms, layer by layer and with each stage's blocks as subgraphs."""
    network = workloads.load("resnet50")
    blocks: dict[str, list[str]] = {}
    for layer in network.layers:
        blocks.setdefault(layer.name.split("_")[0], []).append(layer.name)
    plans = {"layerwise": Partition.layerwise(network), "blockwise": Partition.from_groups(network, blocks.values())}
    machine = Accelerator(global_buffer=MiB, weight_buffer=1152 * KiB)
    found = {}
    for name, plan in plans.items():
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            evaluate(network, plan, machine)
            times.append(1000 * (time.perf_counter() - start))
        found[name] = statistics.median(times)
    return found


def import_ms(repeats: int = 5) -> float:
    """Return the median time of `import simulator` in a fresh process, ms."""
    command = [sys.executable, "-c", IMPORTING]
    outputs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(repeats)]
    return 1000 * statistics.median(map(float, outputs))


def search_megabytes(samples: int = 50_000) -> float:
    """Return the peak resident memory of this process after a search on ResNet50 by the Python engine, MB.

    The engine is named, because the default is the compiled one where it is built, and it keeps other things.
    """
    import cocco

    result = cocco.explore(workloads.load("resnet50"), samples=samples, method="ga", keep="none", engine="reference")
    assert (result.engine, result.samples) == ("reference", samples)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", action="store_true", help="search with 50,000 samples and print the peak memory")
    options = parser.parse_args()
    for name, milliseconds in evaluate_ms().items():
        print(f"evaluate() of ResNet50, {name}: {milliseconds:.1f} ms")
    print(f"import simulator: {import_ms():.0f} ms")
    if options.memory:
        peak = search_megabytes()
        print(f"peak memory of 50,000 samples on ResNet50, Python engine: {peak:.0f} MB (required: below 500)")


if __name__ == "__main__":
    main()
