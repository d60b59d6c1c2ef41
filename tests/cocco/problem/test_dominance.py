"""The front: by hand, against brute force, ties and what is not finite."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from cocco.problem.dominance import non_dominated

NUMBERS = st.one_of(st.integers(0, 6).map(float), st.just(math.inf), st.just(math.nan))


def test_front_of_six_points():
    """(3, 3) is beaten by (2, 3), (4, 1) repeats, (5, 1) is beaten by (4, 1)."""
    assert non_dominated([4, 1, 3, 2, 4, 5], [1, 9, 3, 3, 1, 1]).tolist() == [1, 3, 0]


def test_no_points_have_no_front():
    assert non_dominated([], []).tolist() == []


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12))
def test_front_is_what_brute_force_finds(points: list[tuple[float, float]]):
    finite = [i for i, point in enumerate(points) if all(map(math.isfinite, point))]

    def is_beaten(i: int) -> bool:
        x, y = points[i]
        return any(
            points[j] != points[i] and points[j][0] <= x and points[j][1] <= y or points[j] == points[i] and j < i
            for j in finite
        )

    expected = sorted((i for i in finite if not is_beaten(i)), key=lambda i: points[i])
    assert non_dominated([x for x, _ in points], [y for _, y in points]).tolist() == expected
