"""Ctrl-C ends every search within a second of CPU time, with exit code 130 and no traceback."""

from __future__ import annotations

import pytest

from tests.helpers.interrupted_searches import interrupted


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 200), marks=pytest.mark.slow)])
def test_ctrl_c_ends_random_searches_soon(seeds: range):
    """At once, in the imports or in the midst; networks with many tensors that are alike, and those of the paper."""
    ended = [interrupted(seed) for seed in seeds]
    assert [one for one in ended if one.fails] == []
