"""Allocation problems from files: which there are, which part of one, and how much memory it is given."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from simulator.allocation.buffers import Buffer
from simulator.allocation.files import read_buffers
from simulator.allocation.judge import lower_bound

FOLDER = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "allocation" / "minimalloc"


def found_files() -> tuple[str, ...]:
    """Return A to K of google/minimalloc (`benchmarks/`) where ../shared/data/allocation has them, else none."""
    return tuple(str(path) for path in sorted(FOLDER.glob("[A-K].1048576.csv")))


def checked_files(files: Sequence[str]) -> dict[str, str]:
    """Return the digest of each file's content, which a stored point must not outlive.

    Raises ValueError where there is none, or two have the same name, and OSError for one that cannot be read.
    """
    if not files:
        raise ValueError(f"no instances: {FOLDER} has none; name some by --instances FILE.csv")
    names = [name_of(file) for file in files]
    if len({*names}) < len(names):
        raise ValueError(f"instances must have names of their own, got {', '.join(names)}")
    return {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files}


def name_of(file: str) -> str:
    """Return what an instance is called in tables.

    >>> name_of("minimalloc/A.1048576.csv")
    'A'
    """
    return Path(file).name.split(".")[0]


def first_buffers(file: str, count: int | None) -> tuple[Buffer, ...]:
    """Return the buffers of a file, or only the `count` that start first, ties in the order of its lines."""
    buffers = read_buffers(file)
    return tuple(sorted(buffers, key=lambda each: each.lower)[:count])


def shuffled(buffers: Sequence[Buffer], seed: int) -> tuple[Buffer, ...]:
    """Return the same buffers in another order: every method breaks its ties by it, so it is the noise of all."""
    order = np.random.default_rng(seed).permutation(len(buffers))
    return tuple(buffers[i] for i in order)


def capacity_of(buffers: Sequence[Buffer], factor: float) -> int:
    """Return that many times the largest contention, in bytes, rounded down."""
    return int(factor * lower_bound(buffers))
