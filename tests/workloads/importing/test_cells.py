"""Cells that a module calls in a loop over a sequence: one layer for all steps, with its weights once."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import workloads  # noqa: E402


class Loop(nn.Module):
    """Two layers of cells over a sequence; returns all states of the last, or its last one."""

    def __init__(self, kind, layers=1, width=16, last=False, feeds=False, inner=False):
        super().__init__()
        self.cells = nn.ModuleList([kind(width, width) for _ in range(layers)])
        self.last, self.feeds, self.inner, self.is_pair = last, feeds, inner, kind is nn.LSTMCell

    def forward(self, x):
        zero = torch.zeros(1, x.shape[2])
        states = [(zero, zero) if self.is_pair else zero for _ in self.cells]
        found, value = [], x[:, 0]
        for step in range(x.shape[1]):
            value = value if self.feeds else x[:, step]
            for i, cell in enumerate(self.cells):
                states[i] = cell(value, states[i])
                value = states[i][0] if self.is_pair else states[i]
            found.append(states[-1][1] if self.inner else value)
        return found[-1] if self.last else torch.stack(found, 1)


def read(steps=50, **options):
    return workloads.from_torch(Loop(**options), torch.zeros(1, steps, 16))


@pytest.mark.parametrize("kind, gates", [(nn.GRUCell, 3), (nn.LSTMCell, 4), (nn.RNNCell, 1)])
def test_a_loop_is_a_product_and_a_recurrent_layer(kind, gates):
    """GRUCell(16, 16) over 50 steps: 2 x 16 x 48 = 1,536 weights, each stored and loaded once."""
    network = read(kind=kind)
    assert [layer.op for layer in network.layers] == ["fc", "recurrent"]
    assert (network.weight_bytes, network.macs) == (2 * 16 * gates * 16, 50 * 2 * 16 * gates * 16)
    assert [(layer.height, layer.width) for layer in network.layers] == [(50, 1)] * 2


@pytest.mark.parametrize("kind", [nn.GRUCell, nn.LSTMCell])
def test_each_layer_of_cells_is_one(kind):
    network = read(kind=kind, layers=2)
    assert [layer.op for layer in network.layers] == ["fc", "recurrent"] * 2


@pytest.mark.parametrize("inner", [False, True])
def test_the_last_state_is_its_row(inner):
    network = read(kind=nn.LSTMCell, last=True, inner=inner)
    assert [layer.op for layer in network.layers] == ["fc", "recurrent", "slice"]


def test_a_loop_that_reads_what_it_said_stays_a_loop():
    network = read(steps=4, kind=nn.GRUCell, feeds=True)
    assert not [layer for layer in network.layers if layer.op == "recurrent"]
    assert network.macs == 4 * 1536


def test_a_loop_whose_inner_states_are_read_stays_a_loop():
    network = read(steps=4, kind=nn.LSTMCell, inner=True)
    assert not [layer for layer in network.layers if layer.op == "recurrent"]


@pytest.mark.parametrize("is_turned", [False, True])
def test_rows_joined_in_their_order_are_the_map_that_they_were_cut_from(is_turned):
    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            rows = [x[:, i] for i in range(4)]
            return self.layer(torch.stack(rows[::-1] if is_turned else rows, 1))

    ops = [layer.op for layer in workloads.from_torch(Rows(), torch.zeros(1, 4, 8)).layers]
    assert ops[:-1] == (["slice"] * 4 + ["concat", "rearrange"] if is_turned else [])
