"""Scans that a module writes as a loop over rows: one layer for all of them, with the weights of its decays."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import workloads  # noqa: E402
from workloads import State  # noqa: E402


class Selective(nn.Module):
    """A selective state space of 8 channels with 4 numbers each, written as libraries do without kernels."""

    def __init__(self, reads="y", begin=None, order=1):
        super().__init__()
        self.parts = nn.Linear(8, 8 + 4 + 4, bias=False)
        self.log = nn.Parameter(torch.zeros(8, 4))
        self.out = nn.Linear(8, 8, bias=False)
        self.reads, self.begin, self.order = reads, begin, order

    def forward(self, x):
        step, b, c = torch.split(self.parts(x), [8, 4, 4], -1)
        step, u = step.transpose(1, 2), x.transpose(1, 2)
        decays = torch.exp(-torch.exp(self.log)[None, :, None, :] * step[:, :, :, None])
        added = step[:, :, :, None] * b[:, None, :, :] * u[:, :, :, None]
        state = torch.zeros(1, 8, 4) if self.begin is None else x[:, :4].transpose(1, 2)
        found, states = [], []
        for row in range(x.shape[1])[:: self.order]:
            state = decays[:, :, row] * state + added[:, :, row]
            states.append(state)
            found.append(torch.matmul(state, c[:, row, :].unsqueeze(-1))[:, :, 0])
        if self.reads == "row":
            return self.out(found[-1])
        y = self.out(torch.stack(found, -1).transpose(1, 2))
        return (y, states[-1]) if self.reads == "last" else (y, states[1]) if self.reads == "states" else y


def read(rows=6, **options):
    return workloads.from_torch(Selective(**options), torch.zeros(1, rows, 8))


def test_a_loop_over_rows_is_a_scan():
    """8 x 4 weights of decays; each of 6 rows takes 3 MACs for each number and one for each weight."""
    network = read()
    (scan,) = (layer for layer in network.layers if layer.op == "scan")
    assert [layer.op for layer in network.layers] == ["fc", "fc", "fc", "scan", "fc"]
    assert scan.state == State(4, weights=32) and scan.inputs[0] == "x"
    assert (scan.height, scan.channels, scan.in_channels) == (6, 8, 8 + 8 + 4 + 4)
    assert network.macs == 6 * (8 * 16 + 3 * 32 + 32 + 8 * 8) and network.weight_bytes == 8 * 16 + 32 + 8 * 8
    assert [note.how for note in network.notes if note.op == "scan"] == ["scan"]


def test_more_rows_are_no_more_layers():
    assert len(read(40).layers) == len(read(4).layers)


def test_the_state_behind_the_last_row_is_not_written():
    assert [layer.op for layer in read(reads="last").layers] == ["fc", "fc", "fc", "scan", "fc"]


def test_the_result_of_the_last_row_is_that_row():
    assert [layer.op for layer in read(reads="row").layers] == ["fc", "fc", "fc", "scan", "slice", "fc"]


@pytest.mark.parametrize("options", [{"reads": "states"}, {"begin": "x"}, {"order": -1}])
def test_other_loops_stay_loops(options):
    network = read(**options)
    assert not [layer for layer in network.layers if layer.op == "scan"] and len(network.layers) > 20


def test_mamba_at_any_length_is_few_layers():
    transformers = pytest.importorskip("transformers")
    for kind, has_cache in (("Mamba", False), ("Mamba", True), ("FalconMamba", True)):
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "vocab_size": 64}
        try:
            made = getattr(transformers, f"{kind}Model")
        except ModuleNotFoundError as error:  # of what transformers takes for it
            pytest.skip(str(error))
        module = made(getattr(transformers, f"{kind}Config")(**sizes, use_cache=has_cache))
        network = workloads.from_torch(module, {"input_ids": torch.zeros(1, 9, dtype=torch.long)})
        assert [layer.state for layer in network.layers if layer.op == "scan"] == [State(16, 32 * 16)] * 2
        assert len(network.layers) < 40
