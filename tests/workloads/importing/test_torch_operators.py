"""Operators of torch.export that real models have: small modules worked by hand; skipped without torch."""

from __future__ import annotations

from math import prod

import pytest

import workloads
from simulator.schedule import operators_of
from workloads import NetworkError

torch = pytest.importorskip("torch", reason="modules need torch: pip install 'cocco[torch]'")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tests.helpers.modules import ops, read  # noqa: E402


def test_arguments_are_given_by_name():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 4)

        def forward(self, *, x, flag=False):
            return self.layer(x) if flag else x

    assert workloads.from_torch(Named(), {"x": torch.zeros(1, 5, 8), "flag": True}).macs == 160


def test_a_trace_has_no_gradients():
    """Rotary embeddings switch them off, which a trace with gradients has as control flow."""

    def turn(self, x):
        with torch.no_grad():
            angles = (torch.arange(5)[:, None] * self.rate).cos()
        return self.layer(x) * angles

    network = read(turn, torch.zeros(1, 5, 8), layer=nn.Linear(8, 8), rate=nn.Parameter(torch.zeros(8)))
    assert ops(network) == ["fc"]


@pytest.mark.parametrize(
    ("turn", "order"),
    [
        (lambda x: x.swapaxes(1, 2), (0, 2, 1, 3)), (lambda x: x.swapdims(-1, 1), (0, 3, 2, 1)),
        (lambda x: x.movedim(1, -1), (0, 2, 3, 1)), (lambda x: x.movedim((1, 3), (2, 1)), (0, 3, 1, 2)),
        (lambda x: x.mT, (0, 1, 3, 2)), (lambda x: x.adjoint(), (0, 1, 3, 2)),
    ],
)  # fmt: skip
def test_dimensions_are_turned_by_every_name(turn, order):
    """A convolution afterwards has the same layers as after a permutation."""
    x = torch.zeros(1, 4, 6, 8)
    inner = tuple(turn(x).shape)[1]
    given, wanted = (
        read(lambda self, x, f=f: self.layer(f(x)), x, layer=nn.Conv2d(inner, 2, 1))
        for f in (turn, lambda x: x.permute(order))
    )
    assert given.layers and [layer.op for layer in given.layers] == ops(wanted) and given.macs == wanted.macs


def test_unknown_operators_are_taken_apart():
    """addcmul of x [1, 6, 8]: x + y z, a product and a sum."""
    network = read(lambda self, x, y, z: torch.addcmul(x, y, z), *(torch.zeros(1, 6, 8) for _ in range(3)))
    assert ops(network) == ["mul", "add"]


def test_einsum_with_weights_is_a_layer():
    """x [1, 6, 8] and w [8, 4]: 6 x 8 x 4 MACs."""
    network = read(lambda self, x: torch.einsum("bld,de->ble", x, self.w), torch.zeros(1, 6, 8),
                   w=nn.Parameter(torch.zeros(8, 4)))  # fmt: skip
    assert (network.macs, network.weight_bytes) == (192, 32)


def test_a_clip_is_the_map_of_its_frames():
    """8 frames of 6 x 6 with 3 channels, kernel 3 x 3 x 3: 8 x 6 x 6 x 4 x 3 x 27 MACs; then one number a channel."""
    layer = nn.Conv3d(3, 4, 3, padding=1)
    network = read(lambda self, x: self.layer(x).mean((2, 3, 4)), torch.zeros(1, 3, 8, 6, 6), layer=layer)
    assert (network.macs, network.weight_bytes) == (8 * 36 * 4 * 81, 4 * 81)
    first, last = network.layers
    assert (first.height, first.frames.count, first.frames.kernel) == (48, 8, 3)
    assert (last.height, last.channels) == (1, 4)


@pytest.mark.parametrize(("kind", "gates"), [(nn.LSTM, 4), (nn.GRU, 3)])
def test_recurrent_layers_have_their_weights_and_macs(kind, gates):
    """Two layers, both directions, 5 steps of 6 features, 8 states: (6 + 8) and (16 + 8) x gates x 8, twice each."""
    layer = kind(6, 8, num_layers=2, bidirectional=True, batch_first=True)
    network = read(lambda self, x: self.layer(x)[0], torch.zeros(1, 5, 6), layer=layer)
    weights = 2 * gates * 8 * (6 + 8 + 16 + 8)
    assert (network.weight_bytes, network.macs) == (weights, 5 * weights)
    assert sum(note.how == "recurrent" for note in network.notes) == 4
    assert sum(layer.op == "recurrent" for layer in network.layers) == 4


@pytest.mark.parametrize("is_first", [False, True])
def test_sequences_of_a_batch_run_one_after_the_other(is_first):
    """3 sequences of 5 steps: 15 rows in order, as they lie where the batch is first, else rearranged."""
    shape = (3, 5, 6) if is_first else (5, 3, 6)
    network = read(lambda self, x: self.layer(x.view(shape))[0], torch.zeros(1, 15, 6),
                   layer=nn.GRU(6, 8, batch_first=is_first))  # fmt: skip
    (state,) = (layer for layer in network.layers if layer.op == "recurrent")
    assert (state.height, state.width, state.in_channels, state.channels) == (15, 1, 24, 8)
    assert network.macs == 15 * (6 + 8) * 24
    assert sum(layer.op == "rearrange" for layer in network.layers) == (0 if is_first else 1)


def test_steps_that_lie_on_a_map_are_put_in_order():
    """The rows and columns of an image as one sequence: its positions are laid out in a row first."""
    network = read(lambda self, x: self.layer(x.flatten(2).transpose(1, 2))[0], torch.zeros(1, 6, 4, 5),
                   layer=nn.GRU(6, 8, batch_first=True))  # fmt: skip
    (state,) = (layer for layer in network.layers if layer.op == "recurrent")
    assert (state.height, state.width) == (20, 1) and "rearrange" in ops(network)


def test_products_whose_first_operand_is_learned():
    """Queries of DETR: 3 learned rows through a projection, then scores with 5 rows: 3 x 8 x 8 + 3 x 5 x 8."""

    def attend(self, x):
        return self.q(self.queries) @ x.transpose(1, 2)

    network = read(attend, torch.zeros(1, 5, 8), q=nn.Linear(8, 8), queries=nn.Parameter(torch.zeros(1, 3, 8)))
    assert network.macs == 192 + 120 and network.weight_bytes == 64
    assert sorted(tensor.size_bytes for tensor in network.inputs) == [24, 40]


def test_products_with_weights_of_their_own_for_each_batch():
    """4 heads of 3 features are groups of channels; 4 experts of the same 5 rows have their features side by side."""
    heads = read(lambda self, x: x.view(1, 5, 4, 3).transpose(1, 2) @ self.w, torch.zeros(1, 5, 12),
                 w=nn.Parameter(torch.zeros(4, 3, 2)))  # fmt: skip
    assert (heads.macs, heads.weight_bytes, heads.layers[-1].groups) == (5 * 24, 24, 4)
    experts = read(lambda self, x: x @ self.w, torch.zeros(1, 5, 3), w=nn.Parameter(torch.zeros(4, 3, 2)))
    assert (experts.macs, experts.weight_bytes) == (5 * 24, 24)


def test_baddbmm_has_its_sum():
    network = read(lambda self, x: torch.baddbmm(x, x, x.transpose(1, 2)), torch.zeros(1, 6, 6))
    assert network.macs == 216 and "add" in ops(network)


def test_an_empty_slice_adds_nothing():
    def rotate(self, x):
        y = self.layer(x)
        return torch.cat([y[..., :8].neg(), y[..., 8:]], -1)

    assert ops(read(rotate, torch.zeros(1, 5, 8), layer=nn.Linear(8, 8))) == ["fc"]


def test_makers_of_constants_read_no_map():
    network = read(lambda self, x: self.layer(x) + x.new_zeros(1, 5, 8) + torch.full_like(x, 2), torch.zeros(1, 5, 8),
                   layer=nn.Linear(8, 8))  # fmt: skip
    assert ops(network) == ["fc"]


def test_halves_of_shuffled_channels_are_slices():
    """ShuffleNet's shuffle, then its split: the order of channels is free."""

    def shuffle(self, x):
        y = self.layer(x).view(1, 2, 4, 6, 6).transpose(1, 2).reshape(1, 8, 6, 6)
        left, right = y.chunk(2, 1)
        return torch.cat([left, self.tail(right)], 1)

    network = read(shuffle, torch.zeros(1, 8, 6, 6), layer=nn.Conv2d(8, 8, 1), tail=nn.Conv2d(4, 4, 1))
    assert "rearrange" not in ops(network)


@pytest.mark.parametrize("out", [(3, 2), (5, 4), (7, 7)])
def test_adaptive_pools_that_do_not_divide_have_windows_that_hold_theirs(out):
    network = read(lambda self, x: functional.adaptive_avg_pool2d(x, out), torch.zeros(1, 4, 8, 7))
    (layer,) = network.layers
    assert (layer.height, layer.width) == out
    for axis, extent in ((0, 8), (1, 7)):
        for i in range(out[axis]):
            first = i * layer.stride[axis]
            assert first <= i * extent // out[axis]
            assert -(-(i + 1) * extent // out[axis]) <= first + layer.kernel[axis] <= extent


def test_a_sequence_may_stand_before_its_batch():
    network = workloads.from_torch(nn.Linear(8, 4), torch.zeros(5, 1, 8))
    assert network.macs == 5 * 32 and network.inputs[0].height == 5


def test_a_choice_by_the_network_itself_is_an_element_wise_layer():
    def choose(self, x):
        a, b = self.layer(x), self.tail(x)
        return torch.where(a > b, a, b)

    network = read(choose, torch.zeros(1, 5, 8), layer=nn.Linear(8, 8), tail=nn.Linear(8, 8))
    assert ops(network)[:3] == ["fc", "fc", "add"]


def test_a_running_sum_over_positions_needs_its_map_whole():
    network = read(lambda self, x: self.layer(x).cumsum(1), torch.zeros(1, 5, 8), layer=nn.Linear(8, 8))
    assert ops(network) == ["fc", "rearrange"] and network.layers[1].whole == (0,)


def test_grouped_queries_repeat_their_keys():
    def attend(self, x):
        k = x.view(1, 5, 2, 4).transpose(1, 2)
        q = self.q(x).view(1, 5, 4, 4).transpose(1, 2)
        return functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)

    network = read(attend, torch.zeros(1, 5, 8), q=nn.Linear(8, 16))
    assert network.macs == 5 * 128 + 2 * 25 * 16


@pytest.mark.parametrize(("rows", "used"), [(16, 4), (2, 2)])
def test_experts_have_the_weights_that_rows_can_use(rows, used):
    """16 rows of 16 features over 4 experts of 16 x 8 bf16: 16 x 128 MACs, weights of 4; 2 rows load 2 of them."""

    def choose(self, x):
        offsets = torch.histc(x[0, :, 0].float(), 4).cumsum(0).int()
        return torch._grouped_mm(x[0], self.w, offsets)

    weights = nn.Parameter(torch.zeros(4, 16, 8, dtype=torch.bfloat16))
    network = read(choose, torch.zeros(1, rows, 16, dtype=torch.bfloat16), w=weights)
    assert (network.macs, network.weight_bytes) == (rows * 128, used * 2 * 128)
    assert [note.op for note in network.notes if note.how == "experts"] == [f"{used} of 4 experts"]
    assert network.in_batch(8).weight_bytes == 4 * 2 * 128
    assert [operator.parameters for operator in operators_of(network, parameters=True, batch=8)][-1] == 4 * 2 * 128


def test_a_batch_inside_a_module_lies_along_channels():
    """Two images through one convolution of 3 x 4 x 9 weights: MACs of both, weights for each, and that is said."""

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Conv2d(3, 4, 3, padding=1)

        def forward(self, first, second):
            one, two = self.body(torch.cat([first, second])).chunk(2)
            return one - two

    image = torch.zeros(1, 3, 6, 5)
    network = workloads.from_torch(Twice(), (image, image))
    (conv,) = (layer for layer in network.layers if layer.op == "conv")
    assert (conv.groups, conv.channels, conv.in_channels) == (2, 8, 6)
    assert network.macs == 2 * 30 * 108 and network.weight_bytes == 2 * 108
    assert [note.weights for note in network.notes if note.how == "shared"] == [108]


def test_places_that_are_computed_need_all_of_a_map():
    class Warp(nn.Module):
        def __init__(self):
            super().__init__()
            self.flow = nn.Conv2d(3, 2, 1)

        def forward(self, x):
            return functional.grid_sample(x, self.flow(x).permute(0, 2, 3, 1), align_corners=False)

    network = workloads.from_torch(Warp(), torch.zeros(1, 3, 6, 5))
    assert [layer.op for layer in network.layers] == ["conv", "rearrange"]
    assert network.layers[1].inputs == ("x", "flow") and network.layers[1].whole == (0, 1)


def test_type_as_keeps_the_shape_of_what_is_cast():
    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            y = self.layer(x)
            return y * torch.ones(5, 1).type_as(y) + x[:, :1].type_as(y)

    assert workloads.from_torch(Cast(), torch.zeros(1, 5, 8)).macs == 5 * 64


def test_tokens_may_stand_sequence_first():
    class First(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.layer = nn.Embedding(10, 8), nn.Linear(8, 4)

        def forward(self, tokens):
            return self.layer(self.words(tokens.transpose(0, 1))).transpose(0, 1)

    (layer,) = workloads.from_torch(First(), torch.zeros(1, 6, dtype=torch.int64)).layers
    assert (layer.height, layer.channels, layer.macs) == (6, 4, 6 * 32)


def test_what_no_output_needs_is_not_read():
    """A spectrum that is thrown away; it would be refused."""

    class Spectrum(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            torch.fft.rfft(x).abs().sum()
            return self.layer(x)

    assert len(workloads.from_torch(Spectrum(), torch.zeros(1, 5, 8)).layers) == 1


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("kernel", [(1, 2, 2), (2, 4, 4)])
def test_patches_of_a_clip_have_a_price(kernel, is_turned):
    """By hand: each element of 8 frames of 16 x 16 x 3 meets 32 features once; no copy comes before."""

    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Conv3d(3, 32, kernel, kernel)

        def forward(self, clip):
            return self.embed(clip.permute(0, 2, 1, 3, 4) if is_turned else clip).flatten(2).transpose(1, 2)

    clip = torch.zeros((1, 8, 3, 16, 16) if is_turned else (1, 3, 8, 16, 16))
    network = workloads.from_torch(Patches(), clip)
    (layer,) = network.layers
    assert layer.op == "conv" and layer.frames is None
    assert network.macs == 8 * 16 * 16 * 3 * 32 and network.weight_bytes == prod(kernel) * 3 * 32
    assert network.inputs[0].channels == 3 * kernel[0]


def test_clips_in_a_batch_of_patches_are_rows():
    """Twelve patches, each the whole of what its window takes: a product."""
    (layer,) = workloads.from_torch(
        nn.Sequential(nn.Linear(24, 24), nn.Unflatten(1, (3, 2, 2, 2)), nn.Conv3d(3, 5, 2)), torch.zeros(1, 24)
    ).layers[1:]
    assert layer.macs == 24 * 5


def test_a_fourier_transform_is_refused_with_a_way_out():
    class Spectrum(nn.Module):
        def forward(self, x):
            return torch.fft.rfft(x).abs()

    with pytest.raises(NetworkError, match="is a Fourier transform, whose butterflies are no layer"):
        workloads.from_torch(Spectrum(), torch.zeros(1, 5, 8))


def test_boxes_of_a_map_are_sampled_by_one_layer():
    """An operator of torchvision, which may not be there: its shape is what we need of it."""
    if not hasattr(torch.ops.torchvision, "roi_align"):
        library = torch.library.Library("torchvision", "FRAGMENT")
        library.define(
            "roi_align(Tensor input, Tensor rois, float scale, int height, int width, int ratio, bool a) -> Tensor"
        )
        made = lambda x, rois, scale, height, width, *_: x.new_zeros(rois.shape[0], x.shape[1], height, width)  # noqa: E731
        library.impl("roi_align", made, "CompositeExplicitAutograd")

    class Boxes(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.layer = nn.Conv2d(3, 8, 1), nn.Linear(392, 10)

        def forward(self, picture, boxes):
            found = torch.ops.torchvision.roi_align(self.conv(picture), boxes, 0.25, 7, 7, 2, False)
            return self.layer(found.flatten(1))

    network = workloads.from_torch(Boxes(), (torch.zeros(1, 3, 16, 16), torch.zeros(100, 5)))
    assert [layer.op for layer in network.layers] == ["conv", "rearrange", "fc"]
    assert network.macs == 256 * 24 + 100 * 3920
