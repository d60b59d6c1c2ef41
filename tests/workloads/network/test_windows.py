"""Transposed convolutions and resizes as windows over a spread map."""

from __future__ import annotations

import random

import pytest

from workloads import Builder, Layer, NetworkError
from workloads.network.layers.windows import Spread, resize_window


def reads(window: Spread, extent: int, row: int) -> list[int]:
    """Return the rows of the map that an output row reads."""
    first = row * window.stride - window.before
    spread = range(first, first + window.kernel)
    return [p // window.upsample for p in spread if p % window.upsample == 0 and 0 <= p // window.upsample < extent]


def layer_of(b: Builder):
    return b.build().layers[-1]


def test_a_transposed_convolution_by_hand():
    """4x4, kernel 3, stride 2, padding 1, output padding 1: (4 - 1) 2 - 2 + 3 + 1 = 8; padded 1 before and 2 after."""
    b = Builder("net")
    b.conv_transpose("up", b.input("x", 4, 4, 16), 8, kernel=3, stride=2, padding=1, output_padding=1)
    layer = layer_of(b)
    assert (layer.height, layer.width, layer.channels) == (8, 8, 8)
    assert (layer.stride, layer.upsample, layer.padding) == ((1, 1), (2, 2), (1, 1, 2, 2))
    assert layer.weight_bytes == 3 * 3 * 16 * 8
    assert layer.macs == 4 * 4 * 3 * 3 * 16 * 8  # every input meets every tap
    assert layer.taps == 4  # of 3 taps in a row 2 meet an element at most


@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("dilation", [1, 2])
def test_extents_are_those_of_the_definition(kernel, stride, padding, dilation):
    """(H - 1) s - 2 p + d (F - 1) + 1 (PyTorch's ConvTranspose2d); the input's extent comes back for the MACs."""
    out = (6 - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
    b = Builder("net")
    b.conv_transpose("up", b.input("x", 6, 6, 2), 2, kernel, stride, padding, dilation=dilation)
    assert (layer_of(b).height, layer_of(b).macs) == (out, 36 * kernel * kernel * 4)


@pytest.mark.parametrize(("extent", "out"), [(4, 8), (5, 15), (7, 10), (8, 4), (9, 3), (10, 7), (3, 3), (1, 5), (6, 1)])
def test_nearest_reads_the_row_under_the_centre(extent, out):
    """Row o reads floor((o + 1/2) extent / out), and no other."""
    window = resize_window(extent, out, "nearest")
    found = [reads(window, extent, row) for row in range(out)]
    assert found == [[int((row + 0.5) * extent / out)] for row in range(out)]


@pytest.mark.parametrize(("extent", "out"), [(4, 8), (5, 15), (7, 10), (8, 4), (10, 7), (9, 3)])
@pytest.mark.parametrize("align_corners", [False, True])
def test_linear_reads_the_rows_beside_the_centre(extent, out, align_corners):
    """Rows nearer than 1 to (o + 1/2) extent / out - 1/2, or to o (extent - 1) / (out - 1)."""
    window = resize_window(extent, out, "linear", align_corners)
    for row in range(out):
        centre = row * (extent - 1) / (out - 1) if align_corners else (row + 0.5) * extent / out - 0.5
        near = [i for i in range(extent) if abs(i - centre) < 1 - 1e-9]
        assert reads(window, extent, row) == near


def test_a_resize_has_no_weights():
    b = Builder("net")
    b.resize("up", b.input("x", 7, 7, 8), 14, 14, "linear")
    layer = layer_of(b)
    assert (layer.macs, layer.weight_bytes, layer.light_ops) == (0, 0, 14 * 14 * 8 * 4)


def test_only_what_spreads_its_map_has_upsampling():
    from dataclasses import replace

    from workloads import Network

    b = Builder("net")
    b.conv("a", b.input("x", 5, 5, 2), 2)
    network = b.build()
    with pytest.raises(NetworkError, match="'a' .conv. must have upsample 1"):
        Network("net", network.inputs, (replace(network.layers[0], height=9, width=9, upsample=(2, 2)),))


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
def test_a_row_that_is_repeated_is_read_once_and_in_no_other_step(method):
    """1x4 to 5x8: rows without empty rows, so that the layers it is joined with keep their steps; one tap in a row."""
    b = Builder("net")
    b.resize("up", b.input("x", 1, 4, 2), 5, 8, method)
    layer = layer_of(b)
    assert (layer.stride[0], layer.upsample[0]) == (1, 1)
    assert layer.light_ops == 5 * 8 * 2 * {"nearest": 1, "linear": 2, "cubic": 4}[method]


def test_a_resize_counts_all_taps_that_meet_the_map():
    """An element that repeats is met once; windows may end before the padding does, which hides no row of the map."""
    rng = random.Random(0)
    for _ in range(3_000):
        extent, kernel, stride, spread, gap = (rng.randint(1, most) for most in (5, 6, 4, 4, 3))
        before, after = rng.randint(-1, kernel), rng.randint(-1, kernel)
        room, reach = (extent - 1) * spread + 1 + before + after, (kernel - 1) * gap + 1
        if room < reach:
            continue
        windows = (room - reach) // stride + 1
        starts = [window * stride - before for window in range(windows)]
        rows = {row * spread for row in range(extent)}
        met = max(len(rows & {start + tap * gap for tap in range(kernel)}) for start in starts)
        layer = Layer(
            "r", "resize", ("x",), windows, 1, 4, 4, (kernel, 1), (stride, 1), (before, 0, after, 0), (gap, 1),
            upsample=(spread, 1),
        )  # fmt: skip
        assert max(1, met) <= layer.taps <= kernel, layer
