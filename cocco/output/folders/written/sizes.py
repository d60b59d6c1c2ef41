"""The plans of a run's other sizes: a partition file for each size around the recommendation whose plan is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cocco.exploration.answers.result import Result
from cocco.output.folders.written.about import SIZES, partition_names
from simulator.technology import KiB


def size_names(networks: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return the names of the partition files of one size, a file for each network.

    Examples
    --------
    >>> size_names(["vgg16"], [1048576])
    ['sizes/1024KB.json']
    """
    size = "-".join(f"{each // KiB}KB" if each % KiB == 0 else f"{each}B" for each in sizes)
    ends = [name.removeprefix("partition").removesuffix(".json") for name in partition_names(networks)]
    return [f"{SIZES}/{size}{end}.json" for end in ends]


def save_sizes(folder: Path, result: Result) -> list[Path]:
    """Write the plans of the other sizes, and return their folder in a list; empty if there are none."""
    inner = folder / SIZES
    networks = [evaluation.network for evaluation in result.evaluations]
    for each in result.ranges.candidates if result.ranges is not None else ():
        if each.plans is None or each.plans == result.plans and each.cost == result.cost:
            continue
        inner.mkdir(exist_ok=True)
        sizes = {name.removesuffix("_bytes"): size for name, size in each.buffers}
        accelerator = result.accelerator.machine.with_buffers(**sizes)
        for plan, name in zip(each.plans, size_names(networks, [size for _, size in each.buffers])):
            plan.save(folder / name, accelerator)
    return [inner] if inner.is_dir() else []
