"""Modules whose numbers decide how many rows there are, and modules that run otherwise while they are exported."""

from __future__ import annotations

import pytest

from workloads import NetworkError

torch = pytest.importorskip("torch", reason="modules need torch: pip install 'cocco[torch]'")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tests.helpers.modules import ops, read  # noqa: E402


def test_rows_that_a_mask_chooses_are_as_many_as_there_may_be():
    """Tokens by a mask of 12, as text in a batch is: all of them, with 12 - 12 rows of padding below."""

    def chosen(self, x, mask):
        rows = x[0].index_select(0, mask.view(-1).nonzero().view(-1))
        torch._check(rows.shape[0] <= 12)
        return self.b(functional.pad(self.a(rows), (0, 0, 0, 12 - rows.shape[0])))

    inputs = torch.zeros(1, 12, 8), torch.ones(1, 12)
    network = read(chosen, *inputs, a=nn.Linear(8, 4), b=nn.Linear(4, 8))
    assert network.macs == 12 * 32 + 12 * 32 and [op for op in ops(network) if op == "fc"] == ["fc", "fc"]
    (note,) = (note for note in network.notes if note.how == "extent")
    assert note.op == "12, the most that its numbers can choose"


def test_rows_that_may_be_too_many_are_refused_with_the_reason():
    def chosen(self, x):
        return self.a(x.view(-1).nonzero().to(x.dtype))

    reason = r"'nonzero' has the shape \['u0', '1'\], whose extents numbers decide; they must be at most 2\*\*20"
    with pytest.raises(NetworkError, match=reason):
        read(chosen, torch.zeros(1, 1025, 1024), a=nn.Linear(1, 1))


def test_a_module_that_leaves_something_out_while_it_is_compiled_is_told_that_it_is_not():
    """As T5 with experts has it: a mask is made unless someone compiles, and is needed."""

    def masked(self, x):
        mask = None if torch.compiler.is_compiling() else torch.ones(1, 5)
        return self.a(x * mask[:, :, None])

    assert ops(read(masked, torch.zeros(1, 5, 8), a=nn.Linear(8, 4))) == ["fc"]


def test_a_choice_of_numbers_is_that_of_the_example():
    """Longformer's encoder with decoder asks whether any token sees all others."""

    def asked(self, x):
        return self.b(x) if (x > 0).any().item() else self.a(x)

    parts = {"a": nn.Linear(8, 4), "b": nn.Linear(8, 2)}
    for number, width in ((0.0, 4), (1.0, 2)):
        network = read(asked, torch.full((1, 5, 8), number), **parts)
        assert [layer.channels for layer in network.layers if layer.op == "fc"] == [width]
        assert ("Call", "what its numbers choose is as in the example") in {(n.node, n.op) for n in network.notes}


def test_rows_of_vmap_are_refused_with_the_node():
    """Torch does not say what they are stored in."""

    def mapped(self, x):
        return torch.vmap(lambda row: row * 2 + row.sum())(self.a(x))

    with pytest.raises(NetworkError, match="'_add_batch_dim' .* is control flow or no operator of torch"):
        read(mapped, torch.zeros(1, 5, 8), a=nn.Linear(8, 4))
