"""What only moves addresses is no layer: windows, rolled maps, padding, pools of all positions, norms of heads."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, Partition
from simulator.execution import verify

torch = pytest.importorskip("torch", reason="modules need torch: pip install 'cocco[torch]'")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tests.helpers.modules import ops, read  # noqa: E402


def partition(x, window):
    """[1, H, W, C] -> [windows, window^2, C]."""
    _, height, width, channels = x.shape
    x = x.view(1, height // window, window, width // window, window, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window * window, channels)


def reverse(windows, window, height, width):
    """The inverse of partition."""
    x = windows.view(1, height // window, width // window, window, window, -1)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(1, height, width, -1)


def window_attention(self, x, shift=0, back=None, heads=2):
    """A block of Swin on a map of 8 x 8, with windows of 4 x 4: rolled, cut, attended, put together, rolled back."""
    x = x.view(1, 8, 8, 8)
    y = functional.layer_norm(x, x.shape[-1:])
    y = torch.roll(y, (-shift, -shift), (1, 2)) if shift else y
    q, k, v = self.qkv(partition(y, 4)).view(-1, 16, 3, heads, 4).permute(2, 0, 3, 1, 4).unbind(0)
    weights = (q @ k.transpose(-2, -1) * 0.5 + self.bias).softmax(-1)
    y = reverse(self.out((weights @ v).transpose(1, 2).reshape(-1, 16, 8)), 4, 8, 8)
    back = shift if back is None else back
    return x + (torch.roll(y, (back, back), (1, 2)) if back else y)


def parts():
    return {"qkv": nn.Linear(8, 24), "out": nn.Linear(8, 8), "bias": torch.zeros(4, 1, 16, 16)}


@pytest.mark.parametrize("shift", [0, 2])
def test_windows_of_a_rolled_map_move_nothing(shift):
    """64 positions meet 16 each, in two heads of 4: 64 x 16 x 8 MACs in either product."""
    network = read(lambda self, x: window_attention(self, x, shift), torch.zeros(1, 64, 8), **parts())
    assert ops(network) == ["layernorm", "fc", "fc", "fc", "matmul", "softmax", "matmul", "fc", "add"]
    scores, context = (each for each in network.layers if each.op == "matmul")
    assert (scores.blocks, scores.channels, scores.macs, context.macs) == (4, 2 * 16, 8192, 8192)
    chip = Accelerator(shared_buffer=2000)
    assert verify(network, Partition.layerwise(network), chip).verified


def test_a_map_that_stays_rolled_is_moved_to_be_joined():
    network = read(lambda self, x: window_attention(self, x, 2, back=1), torch.zeros(1, 64, 8), **parts())
    assert ops(network).count("rearrange") == 1


def test_rolled_maps_are_joined_as_they_lie_and_moved_for_a_window():
    def both(self, x):
        x, y = (torch.roll(part(x), 3, 2) for part in (self.a, self.b))
        return self.c(x + y)

    network = read(both, torch.zeros(1, 4, 6, 6), a=nn.Conv2d(4, 4, 1), b=nn.Conv2d(4, 4, 1), c=nn.Conv2d(4, 4, 3))
    assert ops(network) == ["conv", "conv", "add", "rearrange", "conv"]


def test_means_of_a_rolled_map_are_means():
    network = read(
        lambda self, x: torch.roll(self.a(x), 3, 2).mean((2, 3)), torch.zeros(1, 4, 6, 6), a=nn.Conv2d(4, 8, 1)
    )
    assert ops(network) == ["conv", "avgpool"]


def test_rows_and_columns_attend_by_themselves():
    """Axial attention: 6 rows of 5 positions, then 5 columns of 6."""

    def axial(self, x):
        y = x + (x @ x.transpose(2, 3)).softmax(-1) @ x
        y = y.transpose(1, 2)
        return y + (y @ y.transpose(2, 3)).softmax(-1) @ y

    network = read(
        lambda self, x: axial(self, self.a(x).permute(0, 2, 3, 1)), torch.zeros(1, 3, 6, 5), a=nn.Conv2d(3, 8, 1)
    )
    assert "rearrange" not in ops(network)
    products = [layer for layer in network.layers if layer.op == "matmul"]
    assert [each.blocks for each in products] == [6, 6, 5, 5]
    assert [each.macs for each in products] == [30 * 5 * 8] * 2 + [30 * 6 * 8] * 2


@pytest.mark.parametrize("between", [
    lambda x: functional.pad(x, (2, 0)),
    lambda x: functional.relu(functional.pad(x, (2, 0))),
    lambda x: functional.pad(x.transpose(1, 2), (0, 0, 2, 0)).transpose(1, 2),
    lambda x: functional.pad(functional.pad(x, (1, 0)), (1, 0)),
    lambda x: functional.pad(x.unsqueeze(2), (2, 0)).squeeze(2),
])  # fmt: skip
def test_causal_padding_is_that_of_the_window(between):
    module = {"a": nn.Conv1d(4, 8, 1), "b": nn.Conv1d(8, 8, 3)}
    network = read(lambda self, x: self.b(between(self.a(x))), torch.zeros(1, 4, 32), **module)
    assert ops(network) == ["conv", "conv"]
    assert network.layers[1].padding == (2, 0, 0, 0) and network.layers[1].height == 32


def test_a_causal_network_reads_its_input_as_its_windows_do():
    """Two blocks of a temporal network, which pad what they read and add it: no map changes how it lies."""

    def blocks(self, x):
        x = x + self.a(functional.pad(x, (2, 0))).relu()
        return x + self.b(functional.pad(x, (4, 0))).relu()

    module = {"a": nn.Conv1d(4, 4, 3), "b": nn.Conv1d(4, 4, 3, dilation=2)}
    assert ops(read(blocks, torch.zeros(1, 4, 32), **module)) == ["conv", "add", "conv", "add"]


def test_padding_of_a_map_of_one_row_and_of_a_transposed_map():
    """[1, C, 1, W] padded above; a map padded along its rows, then read the other way round: moved once."""
    network = read(
        lambda self, x: self.a(functional.pad(x, (0, 0, 2, 0))), torch.zeros(1, 3, 1, 5), a=nn.Conv2d(3, 4, (3, 1))
    )
    assert ops(network) == ["conv"] and network.layers[0].padding == (2, 0, 0, 0)
    network = read(
        lambda self, x: self.b(functional.pad(self.a(x), (0, 0, 2, 0)).transpose(2, 3)),
        torch.zeros(1, 3, 6, 5), a=nn.Conv2d(3, 4, 1), b=nn.Conv2d(4, 4, 3),
    )  # fmt: skip
    assert ops(network) == ["conv", "maxpool", "rearrange", "conv"]
    assert (network.layers[-1].height, network.layers[-1].width) == (3, 6)


def test_a_pool_of_all_positions_takes_them_in_any_order():
    network = read(
        lambda self, x: functional.adaptive_avg_pool1d(self.a(x).flatten(2).transpose(1, 2).transpose(1, 2), 1),
        torch.zeros(1, 3, 6, 5), a=nn.Conv2d(3, 8, 1),
    )  # fmt: skip
    assert ops(network) == ["conv", "avgpool"] and network.layers[1].kernel == (6, 5)


def test_heads_divided_by_their_norms_are_normalised():
    """Cosine attention: each row by its norm, head by head, which is a layer norm of a map."""

    def cosine(self, x):
        q, k = (functional.normalize(part(x).view(1, 5, 2, 4).transpose(1, 2), dim=-1) for part in (self.q, self.k))
        return (q @ k.transpose(-2, -1)).softmax(-1)

    network = read(cosine, torch.zeros(1, 5, 8), q=nn.Linear(8, 8), k=nn.Linear(8, 8))
    assert ops(network) == ["fc", "fc", "layernorm", "layernorm", "matmul", "softmax"]


def test_rearrangements_of_rearrangements_are_one():
    """A table of 9 rows that a network makes is read at 16 places, and beside each window: one copy."""

    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.mlp, self.a = nn.Linear(2, 1), nn.Conv2d(3, 8, 1)

        def forward(self, x, rows):
            y = partition(self.a(x).permute(0, 2, 3, 1), 2)
            bias = self.mlp(rows)[torch.arange(16) % 9].view(4, 4, 1).permute(2, 0, 1)
            return y @ y.transpose(1, 2) + bias

    network = workloads.from_torch(Table(), (torch.zeros(1, 3, 4, 4), torch.zeros(9, 2)))
    assert ops(network).count("rearrange") == 1


def test_rows_that_change_places_are_a_rolled_map():
    """The way in which ONNX files roll: the last rows before the first, and back; cut otherwise they are a copy."""

    def swapped(self, x, count=2):
        y = self.a(x)
        y = self.b(torch.cat([y[:, :, 4:], y[:, :, :4]], 2))
        return self.a2(torch.cat([y[:, :, count:], y[:, :, :count]], 2))

    convolutions = {"a": nn.Conv2d(3, 4, 1), "b": nn.Conv2d(4, 4, 1), "a2": nn.Conv2d(4, 4, 3)}
    network = read(swapped, torch.zeros(1, 3, 6, 5), **convolutions)
    assert ops(network) == ["conv", "conv", "conv"]
    network = read(lambda self, x: swapped(self, x, 3), torch.zeros(1, 3, 6, 5), **convolutions)
    assert "rearrange" in ops(network)


def test_rows_of_which_some_are_turned_are_the_rows():
    """Rotary embeddings of all tokens but the first, which is a register: a function of the whole map."""

    def turn(self, x):
        y = self.a(x)
        return self.b(torch.cat([y[:, :1], y[:, 1:] * x.new_ones(4, 1).cos()], 1))

    network = read(turn, torch.zeros(1, 5, 8), a=nn.Linear(8, 8), b=nn.Linear(8, 8))
    assert ops(network) == ["fc", "fc"]


def test_the_larger_of_two_maps_is_a_join():
    network = read(lambda self, x: torch.max(self.a(x), x), torch.zeros(1, 5, 8), a=nn.Linear(8, 8))
    assert ops(network) == ["fc", "add"]


def test_a_cache_in_the_output_is_what_it_holds():
    """An object that torch.export does not know: the tensors in it are outputs."""

    class Cache:
        def __init__(self, rows):
            self.rows, self.count = [rows], 1

    def step(self, x):
        y = self.a(x)
        return {"y": self.b(y), "cache": Cache(y)}

    network = read(step, torch.zeros(1, 5, 8), a=nn.Linear(8, 8), b=nn.Linear(8, 4))
    assert ops(network) == ["fc", "fc"]


def test_a_norm_over_positions_is_broadcast_not_copied():
    """Channels divided by their norm over all positions: a pool, and a product that is broadcast."""
    network = read(
        lambda self, x: functional.normalize(self.a(x), dim=1), torch.zeros(1, 5, 8), a=nn.Linear(8, 8)
    )  # fmt: skip
    assert ops(network) == ["fc", "avgpool", "mul"] and network.layers[2].whole == (1,)


def test_a_product_whose_factors_lie_the_other_way_round_is_turned():
    """Values [C, N] times weights [N, N], as in maps with channels first: rows of the weights with values, no copy."""

    def attend(self, x):
        q, k, v = (part(x).flatten(2) for part in (self.q, self.k, self.v))
        return v @ (q.transpose(1, 2) @ k).softmax(-1).transpose(1, 2)

    network = read(attend, torch.zeros(1, 8, 4, 4), **{name: nn.Conv2d(8, 8, 1) for name in "qkv"})
    assert ops(network) == ["conv", "conv", "conv", "matmul", "softmax", "matmul"]
    assert network.macs == 3 * 16 * 64 + 2 * 16 * 16 * 8


def test_channels_that_attend_to_each_other_are_weighed_where_they_lie():
    """Two heads of 4 channels at 16 positions: their products need a copy of one map, their weights none."""

    def attend(self, x):
        q, k, v = (part(x).view(1, 2, 4, 16) for part in (self.q, self.k, self.v))
        return self.out(((q @ k.transpose(2, 3)).softmax(-1) @ v).reshape(1, 8, 4, 4))

    parts = {name: nn.Conv2d(8, 8, 1) for name in ("q", "k", "v", "out")}
    network = read(attend, torch.zeros(1, 8, 4, 4), **parts)
    assert ops(network) == ["conv", "conv", "conv", "rearrange", "matmul", "softmax", "matmul", "conv"]
    context = network.layers[6]
    assert (context.height, context.width, context.channels, context.macs) == (4, 4, 8, 16 * 8 * 4)
    assert verify(network, Partition.layerwise(network), Accelerator(shared_buffer=2000)).verified


def test_a_softmax_over_positions_has_the_rows_of_its_product():
    """Keys of two heads, softmax over 5 positions: one copy, which their product with values reads as it lies."""

    def attend(self, x):
        q, k, v = (part(x).view(1, 5, 2, 4).transpose(1, 2) for part in (self.q, self.k, self.v))
        return q @ (k.softmax(2).transpose(2, 3) @ v)

    network = read(attend, torch.zeros(1, 5, 8), **{name: nn.Linear(8, 8) for name in "qkv"})
    assert ops(network) == ["fc", "fc", "fc", "rearrange", "softmax", "matmul", "matmul"]


def test_what_was_joined_along_rows_is_there_as_it_was():
    """A class token before the positions of a map, and the map again without it: nothing is copied for its window."""

    def apart(self, x):
        rows = torch.cat([self.token(x.mean((2, 3))).unsqueeze(1), x.flatten(2).transpose(1, 2)], 1)
        return self.rows(rows), self.window(rows[:, 1:].transpose(1, 2).reshape(1, 8, 4, 4))

    parts = {"token": nn.Linear(8, 8), "rows": nn.Linear(8, 8), "window": nn.Conv2d(8, 8, 3)}
    network = read(apart, torch.zeros(1, 8, 4, 4), **parts)
    assert sorted(ops(network)) == ["avgpool", "conv", "fc", "fc", "rearrange"]
