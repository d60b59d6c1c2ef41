"""Shape rules against counting by hand and by brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.random_networks import QUICK
from workloads.errors import NetworkError
from workloads.network.layers.shapes import matmul_forms, output_extent, same_padding, whole_operands, window_extents


@QUICK
@given(st.integers(1, 20), st.integers(1, 6), st.integers(1, 4), st.integers(-1, 3), st.integers(-1, 3))
def test_floor_mode_counts_the_windows_that_fit(extent, reach, stride, before, after):
    """Windows start every `stride` and must end inside the padded map; so many are counted one by one."""
    padded = extent + before + after
    count = sum(1 for start in range(0, max(padded, 0), stride) if start + reach <= padded)
    if count:
        assert output_extent("x", extent, reach, stride, before, after) == count
    else:
        with pytest.raises(NetworkError, match="does not fit"):
            output_extent("x", extent, reach, stride, before, after)


def test_ceil_mode_adds_the_window_that_reaches_over_the_end():
    """112 rows, 3x3 stride 2: 55 whole windows end at row 111; the 56th starts at row 110 and lacks one row."""
    assert window_extents(112, 3, 2, 0, 0) == (55, 56)
    assert output_extent("x", 112, 3, 2, 0, 0, ceil_mode=True) == 56


def test_ceil_mode_drops_a_window_that_starts_in_the_trailing_padding():
    """4 rows, padding 1 + 1, kernel 2, stride 3: ceil counts 3, but the third starts at row 6 of 1 + 4 + 1."""
    assert window_extents(4, 2, 3, 1, 1) == (2, 3)
    assert output_extent("x", 4, 2, 3, 1, 1, ceil_mode=True) == 2


@QUICK
@given(st.integers(1, 50), st.integers(1, 9), st.integers(1, 4))
def test_same_padding_gives_the_extent_divided_by_the_stride_rounded_up(extent, reach, stride):
    before, after = same_padding(extent, reach, stride)
    assert 0 <= after - before <= 1
    assert output_extent("x", extent, reach, stride, before, after) == -(-extent // stride)


def test_same_padding_puts_the_odd_row_after():
    """42 rows, 5x5 stride 2: 21 windows span 45 rows, three more than there are: 1 before, 2 after."""
    assert same_padding(42, 5, 2) == (1, 2)


def test_whole_operands_are_those_broadcast_over_the_map():
    shapes = [(4, 4, 8), (1, 1, 8), (4, 4, 1), (4, 1, 8)]
    assert whole_operands("mul", shapes, 4, 4) == (1, 3)
    assert whole_operands("matmul", shapes[:2], 4, 4) == (1,)
    assert whole_operands("conv", shapes[:1], 2, 2) == ()


def test_matmul_forms_tell_scores_from_context():
    """8 heads: 10 rows of 64 by 12 rows of 64 give 12 scores each; 8 x 12 weights by 12 rows of 64 give 64."""
    assert matmul_forms([(10, 1, 64), (12, 1, 64)], 8) == {True: 96}
    assert matmul_forms([(10, 1, 96), (12, 1, 64)], 8) == {False: 64}
    assert matmul_forms([(10, 1, 64), (12, 1, 60)], 8) == {}
