"""Layers over the frames of a clip: exact bytes and MACs, checked shapes, files, and no price."""

from dataclasses import replace

import pytest

import simulator
import workloads
from workloads import Builder, Frames, Network, NetworkError, shrink
from workloads.importing.layer_graph.files import decode, encode


def clip(frames=8, rows=6, columns=6, channels=3):
    b = Builder("clip")
    return b, b.input("clip", frames * rows, columns, channels)


def test_counts_of_a_window_over_time_by_hand():
    """8 frames of 6x6x3, 3x3x3 to 5 channels, stride 2 in time: 4 frames of 6x6, from 27 positions of 3 channels."""
    b, x = clip()
    b.conv("conv", x, 5, kernel=3, padding=1, frames=Frames(8, kernel=3, stride=2, padding=1))
    layer = b.build().layers[0]
    assert (layer.height, layer.width, layer.channels) == (4 * 6, 6, 5)
    assert layer.weight_bytes == 27 * 3 * 5
    assert layer.macs == 4 * 6 * 6 * 5 * 27 * 3


def test_frames_are_padded_one_by_one():
    """Two frames of 5 rows, kernel 3, stride 2, padding 1: 3 rows each, 6 in all; one map of 10 rows would give 5."""
    b, x = clip(frames=2, rows=5, columns=5)
    pool = b.maxpool("pool", x, 3, 2, 1, frames=Frames(2))
    assert b.shape(pool) == (6, 3, 3)
    assert b.shape(b.maxpool("flat", x, 3, 2, 1)) == (5, 3, 3)


@pytest.mark.parametrize("count, kernel, stride, padding", [(16, 7, 2, 3), (8, 3, 1, 1), (5, 2, 3, 0), (4, 4, 1, 0)])
def test_output_frames_are_counted_by_sliding(count, kernel, stride, padding):
    slid = [t for t in range(0, count + 2 * padding, stride) if t + kernel <= count + 2 * padding]
    assert Frames(count, kernel, stride, padding).outputs == len(slid)


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (Frames(5), "layer 'conv' has 5 frames on a height of 48; they must divide it"),
        (Frames(8, kernel=9), "layer 'conv' has a window of 9 frames, which does not fit on 8 with padding 0"),
        (Frames(8, stride=0), "layer 'conv' has frames with stride 0; it must be an integer from 1 to 2\\*\\*16"),
        (Frames(8, padding=-1), "layer 'conv' has frames with padding -1; it must be an integer from 0"),
        ((8, 1, 1, 0), "layer 'conv' has frames \\(8, 1, 1, 0\\); it must be None or Frames"),
    ],
)
def test_wrong_frames_are_named(frames, message):
    b, x = clip()
    with pytest.raises(NetworkError, match=message):
        b.conv("conv", x, 4, frames=frames)


def test_a_finished_layer_is_checked_against_its_frames():
    b, x = clip()
    b.conv("conv", x, 5, kernel=3, padding=1, frames=Frames(8, 3, 2, 1))
    net = b.build()
    with pytest.raises(NetworkError, match="'conv' \\(conv\\) has height 12; from height 6"):
        Network(net.name, net.inputs, (replace(net.layers[0], height=48),))
    with pytest.raises(NetworkError, match="must have no frames"):
        Network(net.name, net.inputs, (replace(net.layers[0], op="fc"),))


@pytest.mark.parametrize("name", workloads.CLIP_NETWORKS)
def test_clips_come_back_from_files_and_have_no_price(name):
    net = workloads.load(name)
    assert decode(encode(net)) == net
    with pytest.raises(NetworkError, match=f"network '{name}' has no price: 'conv1' is a window over the frames"):
        simulator.evaluate(net, simulator.Partition.layerwise(net), simulator.Accelerator(shared_buffer=2**20))
    with pytest.raises(NetworkError, match=f"network '{name}' does not shrink: 'conv1' works on the frames"):
        shrink(net, 2)


def test_a_file_with_wrong_frames_is_answered_in_one_line():
    b, x = clip()
    b.conv("conv", x, 5, frames=Frames(8, 3, 2, 1))
    content = encode(b.build())
    content["nodes"][1]["frames"] = [8, 3, 2]
    with pytest.raises(NetworkError, match="node 'conv' \\(conv\\) has frames .*; it must be a list of 4 integers"):
        decode(content)
    content["nodes"][1]["frames"] = [7, 3, 2, 1]
    with pytest.raises(NetworkError, match="7 frames on a height of 48; they must divide it"):
        decode(content)


def test_the_names_of_clips_are_those_with_windows_over_time():
    nets = [workloads.load(name) for name in workloads.names()]
    assert tuple(net.name for net in nets if any(layer.frames for layer in net.layers)) == workloads.CLIP_NETWORKS


def test_a_clip_of_s3d_ends_as_published():
    """16 frames -> 8 (conv1) -> 4 (pool3) -> 2 (pool4) of 7x7; the last pool spans the clip."""
    net = workloads.load("s3d")
    heights = [net.layers[net.index[name]].height for name in ("conv1_time", "pool2", "pool3", "pool4")]
    assert heights == [8 * 112, 8 * 28, 4 * 14, 2 * 7]
    assert net.layers[net.index["pool"]].kernel == (14, 7)
    assert net.layers[net.index["fc"]].in_channels == 1024
