"""The capacity candidates of the paper, and ranges that are none."""

from __future__ import annotations

import pytest

from cocco.problem.space import Range, SeparateBuffers, SharedBuffer

KB = 1024


def test_shared_candidates_of_the_paper():
    """128..3072 KB in steps of 64 KB are 47 candidates (Cocco, Sec. 5.3.1)."""
    candidates = SharedBuffer().candidates
    assert (len(candidates), candidates[0], candidates[1], candidates[-1]) == (47, 128 * KB, 192 * KB, 3072 * KB)


def test_separate_candidates_of_the_paper():
    """128..2048 KB by 64 and 144..2304 KB by 72: 31 each (Cocco, Sec. 5.3.1)."""
    buffers = SeparateBuffers().buffers
    assert list(buffers) == ["global_buffer", "weight_buffer"]
    assert [(len(sizes), sizes[0], sizes[-1]) for sizes in buffers.values()] == [
        (31, 128 * KB, 2048 * KB),
        (31, 144 * KB, 2304 * KB),
    ]


def test_a_range_ends_at_the_last_step_below_high():
    assert Range(100, 250, 60).candidates == (100, 160, 220)
    assert Range(100, 100, 7).candidates == (100,)


@pytest.mark.parametrize(
    ("low", "high", "step", "message"),
    [
        (0, 10, 1, "range low must be an integer from 1 to"),
        (1, 10, 0, "range step must be an integer from 1 to"),
        (1, 10.0, 1, "range high must be an integer from 1 to .* bytes, got 10.0"),
        (True, 10, 1, "range low .* got True"),
        (1, 2**60, 1, "range high .* got 1152921504606846976"),
        (20, 10, 1, "range low must be at most high, got low=20 and high=10 bytes"),
        (1, 2**30, 1, "at most 65536 candidates, got 1073741824 with step=1"),
    ],
)
def test_ranges_that_are_none(low, high, step, message):
    with pytest.raises(ValueError, match=message):
        Range(low, high, step)


def test_separate_buffers_take_ranges():
    with pytest.raises(ValueError, match="weight_buffer must be a Range"):
        SeparateBuffers(weight_buffer=1024)  # type: ignore[arg-type]
