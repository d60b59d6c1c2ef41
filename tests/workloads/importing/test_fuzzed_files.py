"""Mutated real files: every reader reads them or refuses them in one line, soon (benchmarks/fuzz_readers.py)."""

from __future__ import annotations

import random
import resource
import signal

import pytest

pytest.importorskip("onnx")
from benchmarks.fuzz_fields import ODD, mutate_json  # noqa: E402
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


def test_changes_of_one_file_leave_those_of_the_next_alone():
    """An empty list that was put into one file, and filled there, grew in all later ones until memory was full."""
    odd, rng = repr(ODD), random.Random(1)
    for _ in range(500):
        mutate_json(rng, b'{"a": [{}, [1]], "b": {}}', [b'{"a": [[], {}]}'])
    assert repr(ODD) == odd


def test_some_mutated_files():
    check(350, 11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_mutated_files(seed):
    check(5000, seed)
