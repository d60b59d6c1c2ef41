"""Candidate tiles against brute force: equal heights, the largest square, the tallest band."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simulator.model.subgraph.tiles import Candidates, equal_sizes


@given(st.integers(1, 400))
def test_equal_sizes_are_all_quotients(extent):
    found = {-(-extent // parts) for parts in range(1, extent + 1)}
    assert equal_sizes(extent) == sorted(found, reverse=True)


@given(st.integers(1, 90), st.integers(1, 90), st.integers(1, 9), st.integers(1, 9), st.integers(0, 99), st.data())
def test_the_largest_of_each_kind_that_fits_is_taken(rows, columns, per_row, per_column, fixed, data):
    """Where what a tile needs grows with it: all squares and all bands of equal height are tried."""
    candidates = Candidates((64, 32, 16, 8, 4, 2, 1), rows, columns)

    def need(tile):
        return fixed + per_row * min(tile[0], rows) + per_column * min(tile[0], rows) * min(tile[1], columns)

    room = data.draw(st.integers(0, need((rows, columns)) + 5))
    squares = [(side, side) for side in candidates.squares if need((side, side)) <= room]
    area = candidates.area(squares[0]) if squares else 0
    bands = [(height, columns) for height in equal_sizes(rows) if height * columns > area]
    assert candidates.largest(need, room) == squares[:1] + [band for band in bands if need(band) <= room][:1]


def test_a_band_is_offered_only_above_the_square():
    """Of 56 x 56, a square of 16 covers 256 elements; bands of more have at least 5 rows (56, 28, 19, ..., 6, 5)."""
    candidates = Candidates((64, 16, 1), 56, 56)
    asked = []
    assert candidates.largest(lambda tile: asked.append(tile) or 10 * tile[0] * tile[1], 2560) == [(16, 16)]
    assert asked == [(64, 64), (16, 16), (5, 56)]
    assert candidates.largest(lambda tile: tile[0], 7) == [(1, 1), (7, 56)]


def test_the_whole_map_is_a_square_where_it_is_no_larger_than_one():
    assert Candidates((64, 8), 20, 30).largest(lambda tile: 0, 0) == [(64, 64)]
    assert Candidates((64, 8), 80, 30).largest(lambda tile: 0, 0) == [(64, 64), (80, 30)]
