"""Buffers: what is refused, and when they live."""

from __future__ import annotations

import pytest

from simulator.allocation.buffers import AllocationError, Buffer, live_intervals


@pytest.mark.parametrize(
    ("gaps", "lives"),
    [((), [(0, 6)]), (((0, 1), (5, 6)), [(1, 5)]), (((2, 4),), [(0, 2), (4, 6)]), (((1, 2), (2, 5)), [(0, 1), (5, 6)])],
)
def test_a_buffer_lives_beside_its_gaps(gaps, lives):
    """Of the steps 0 to 5."""
    assert live_intervals(Buffer("a", 0, 6, 1, gaps=gaps)) == lives


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": ""}, "id must be a printable text"),
        ({"lower": -1}, "lower must be an integer from 0"),
        ({"upper": 0}, "upper must exceed lower 0, got 0"),
        ({"size": 0}, "size must be an integer from 1"),
        ({"size": 1.5}, "1.5"),
        ({"size": True}, "True"),
        ({"size": float("nan")}, "nan"),
        ({"alignment": 0}, "alignment must be an integer from 1"),
        ({"alignment": 4, "offset": 6}, "multiple of the alignment 4, got 6"),
        ({"offset": -2}, "offset must be an integer from 0"),
        ({"gaps": ((0, 3),)}, "leave a live step"),
        ({"gaps": ((1, 5),)}, "within [0, 3), got [1, 5)"),
        ({"gaps": ((1, 2), (1, 3))}, "in order"),
        ({"size": 10**30}, "size must be an integer from 1 to"),
    ],
)
def test_a_malformed_buffer_is_refused(change, words):
    with pytest.raises(AllocationError) as error:
        Buffer(**({"id": "a", "lower": 0, "upper": 3, "size": 1} | change))
    assert words in str(error.value) and "\n" not in str(error.value)
