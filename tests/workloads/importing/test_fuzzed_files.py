"""Mutated real files: every reader reads them or refuses them in one line, soon (benchmarks/fuzz_readers.py)."""

from __future__ import annotations

import resource
import signal

import pytest

pytest.importorskip("onnx")
from benchmarks.fuzz_readers import SECONDS, fuzz  # noqa: E402

#: a malformed row of a list of layers is returned with its error
LENIENT = {"layers.csv fields"}


def check(count: int, seed: int) -> None:
    before, peak = signal.getsignal(signal.SIGALRM), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        ends, longest = fuzz(count, seed)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert {end for _, end in ends} <= {"read", "refused"}, ends
    kinds = {kind for kind, _ in ends}
    assert sum(ends.values()) == count and len(kinds) == 14 and all(ends[kind, "refused"] for kind in kinds - LENIENT)
    assert longest < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 2 * 2**20  # KiB; the rest is of other tests


def test_some_mutated_files():
    check(350, 11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_mutated_files(seed):
    check(5000, seed)
