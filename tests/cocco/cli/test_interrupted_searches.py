"""Ctrl-C ends every search within a second of CPU time, with exit code 130 and no traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.helpers.command_line import ENVIRONMENT
from tests.helpers.interrupted_searches import interrupted

IMPORTED = """
import sys
import cocco, simulator, workloads

network, chip, seen = workloads.load("vgg16"), simulator.Accelerator(shared_buffer=2**20), []
cocco.partition(network, chip, samples=60, method="ga", progress=lambda *_: seen.append("pandas" in sys.modules))
print(any(seen), len(seen) > 0)
"""


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 200), marks=pytest.mark.slow)])
def test_ctrl_c_ends_random_searches_soon(seeds: range):
    """At once, in the imports or in the midst; networks with many tensors that are alike, and those of the paper."""
    ended = [interrupted(seed) for seed in seeds]
    assert [one for one in ended if one.fails] == []


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 40), marks=pytest.mark.slow)])
def test_ctrl_c_ends_searches_that_are_saved_soon(seeds: range):
    ended = [interrupted(seed, is_saved=True) for seed in seeds]
    assert [one for one in ended if one.fails] == []


def test_a_result_without_tables_needs_no_pandas():
    """Ctrl-C in the midst of its import leaves it half imported; commands that save tables import it before."""
    done = subprocess.run([sys.executable, "-c", IMPORTED], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
