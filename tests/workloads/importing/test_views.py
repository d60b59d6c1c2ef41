"""Views: dimensions as atoms of rows, columns and channels agree with what numpy does to the array."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.random_networks import QUICK
from workloads.importing.views import Dims, extent_of, laid_out, normal, numbered, reshape


def array_of(dims: Dims, shape: tuple[int, ...], extents: tuple[int, int, int]) -> np.ndarray:
    """Return the number of the map's element at each place of the array."""
    height, width, channels = extents
    weights = (width * channels, channels, 1)
    found = np.zeros(shape, dtype=np.int64)
    for axis, dim in enumerate(dims):
        offsets = np.zeros(1, dtype=np.int64)
        for atom in dim:
            steps = np.arange(atom.extent) * atom.stride * weights[atom.axis]
            offsets = (offsets[:, None] + steps[None, :]).reshape(-1)
        found += offsets.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return found


@st.composite
def factored(draw: st.DrawFn, count: int) -> tuple[int, ...]:
    """Draw a shape of so many elements."""
    shape, rest = [], count
    while rest > 1:
        part = draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))
        shape.append(part)
        rest //= part
    return tuple(shape)


@QUICK
@given(st.data())
def test_reshaped_and_transposed_views_are_those_of_numpy(data):
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=1, max_size=4)))
    axes = data.draw(st.lists(st.integers(0, 2), min_size=len(shape), max_size=len(shape)))
    rows, columns = ([i for i, axis in enumerate(axes) if axis == want] for want in (0, 1))
    dims, extents = laid_out(shape, rows, columns)
    array = array_of(dims, shape, extents)
    assert sorted(array.reshape(-1)) == list(range(prod(shape)))
    for _ in range(4):
        if data.draw(st.booleans()):
            order = data.draw(st.permutations(range(len(shape))))
            dims, array = tuple(dims[i] for i in order), array.transpose(order)
        else:
            wanted = data.draw(factored(prod(shape)))
            regrouped = reshape(dims, wanted)
            if regrouped is None:
                continue
            dims, array = regrouped, array.reshape(wanted)
        shape = array.shape
        assert tuple(map(extent_of, dims)) == shape
        assert np.array_equal(array_of(dims, shape, extents), array)


def test_what_does_not_regroup_is_none():
    """[2, 3] transposed is no array [6] of one stride, but 6 = 3 x 2 of two; [4] of 6 elements is none."""
    dims, _ = laid_out((2, 3), [0], [1])
    turned = (dims[1], dims[0])
    assert reshape(turned, (6,)) == (dims[1] + dims[0],)
    assert reshape(dims, (4,)) is None


def test_numbered_channels_count_in_the_order_of_the_dimensions():
    dims, _ = laid_out((2, 3, 5), [1], [])
    turned = (dims[2], dims[1], dims[0])
    found = numbered(turned)
    assert [atom.stride for dim in found for atom in dim] == [2, 1, 1]
    assert normal([*found[0], *found[2]])[0].extent == 10
