"""Caches and heads of PyTorch modules: what a step reads, appends and shares; skipped without torch."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, Partition
from simulator.execution import verify

torch = pytest.importorskip("torch", reason="modules need torch: pip install 'cocco[torch]'")
from torch.nn import functional  # noqa: E402

HEADS, OWN, WIDTH, PAST = 4, 2, 8, 6
CHIP = Accelerator(shared_buffer=2**16)


def ops(network):
    return [layer.op for layer in network.layers]


def runs(network):
    """Whether both extreme partitions are executed as they are priced."""
    together = Partition.from_groups(network, [[layer.name for layer in network.layers]])
    return all(verify(network, each, CHIP).verified for each in (Partition.layerwise(network), together))


class Step(torch.nn.Module):
    """One token of grouped attention after those of its arguments, by each of the usual ways to repeat keys."""

    def __init__(self, way):
        super().__init__()
        self.way = way
        self.q, self.k, self.v = (torch.nn.Linear(32, n * WIDTH) for n in (HEADS, OWN, OWN))

    def forward(self, x, past_k, past_v):
        q, k, v = (part(x).view(1, 1, -1, WIDTH).transpose(1, 2) for part in (self.q, self.k, self.v))
        k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], -2)
        if self.way == "expand":
            wide = (each[:, :, None].expand(1, OWN, 2, PAST + 1, WIDTH).reshape(1, HEADS, -1, WIDTH) for each in (k, v))
        elif self.way == "interleave":
            wide = (each.repeat_interleave(2, dim=1) for each in (k, v))
        else:
            return functional.scaled_dot_product_attention(q, k, v, enable_gqa=True), k, v
        k_wide, v_wide = wide
        return (q @ k_wide.transpose(-1, -2)).softmax(-1) @ v_wide, k, v


@pytest.mark.parametrize("way", ["expand", "interleave", "gqa"])
def test_a_step_of_a_module_reads_the_caches_that_it_is_given(way):
    past = torch.zeros(1, OWN, PAST, WIDTH)
    network = workloads.from_torch(Step(way), (torch.zeros(1, 1, 32), past, past))
    assert ops(network) == ["fc", "fc", "fc", "matmul", "softmax", "matmul"]
    assert [tensor.size_bytes for tensor in network.inputs] == [32, 96, 96]
    assert sum(tensor.kind == "cache" for tensor in network.inputs) == 2
    assert sum(layer.appended for layer in network.layers) == 2
    assert network.macs == 32 * 64 + 2 * 7 * 32 and runs(network)
    blocks = workloads.attention_in_blocks(network)
    assert ops(blocks) == ["fc", "fc", "fc", "attention"] and blocks.macs == network.macs
    assert verify(blocks, Partition.layerwise(blocks), CHIP).verified


def test_queries_keys_and_values_that_are_given_lie_in_rows():
    arguments = [torch.zeros(1, HEADS, 6, WIDTH) for _ in range(3)]

    class Attention(torch.nn.Module):
        def forward(self, q, k, v):
            return functional.scaled_dot_product_attention(q, k, v)

    network = workloads.from_torch(Attention(), tuple(arguments))
    assert ops(network) == ["matmul", "softmax", "matmul"]
    assert {(tensor.height, tensor.width, tensor.channels) for tensor in network.inputs} == {(6, 1, 32)}


def test_a_histogram_of_a_map_is_not_lost():
    class Counted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = torch.nn.Linear(8, 8), torch.nn.Linear(16, 4)

        def forward(self, x):
            return self.outer(torch.histc(self.inner(x), 16)[None])

    network = workloads.from_torch(Counted(), torch.zeros(1, 5, 8))
    assert ops(network) == ["fc", "rearrange", "fc"]
