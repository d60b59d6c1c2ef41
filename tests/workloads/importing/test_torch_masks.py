"""Masks of modules that are made of positions: found in what torch exports, and held against torch itself."""

from __future__ import annotations

import numpy as np
import pytest

import workloads
from workloads import Mask
from workloads.importing.masks import mask_of

torch = pytest.importorskip("torch")

LENGTH, HEADS, WIDTH = 16, 4, 8
FULL = 2 * LENGTH**2 * HEADS * WIDTH  # MACs of scores and context


def rows(mask: Mask, queries: int = LENGTH, keys: int = LENGTH) -> np.ndarray:
    return np.array([[key in mask.seen(query, queries, keys) for key in range(keys)] for query in range(queries)])


MASKS = [
    Mask(),
    Mask(behind=0),
    Mask(behind=3),
    Mask(chunk=4),
    Mask(behind=1, chunk=8),
    Mask(ahead=None, chunk=4),
    Mask(behind=2, ahead=2),
    Mask(behind=2, ahead=None),
]


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("past", [0, 2])
def test_a_mask_is_found_in_its_numbers(mask, past):
    """Any value that leaves the same keys."""
    seen = rows(mask, keys=LENGTH + past)
    found = mask_of(seen[None, None])
    if not seen[:, 0].any():
        assert found is None, "keys that no query sees"
    else:
        assert found is not None and (rows(found, keys=LENGTH + past) == seen).all()


@pytest.mark.parametrize("seen", [
    np.ones((4, 4), dtype=bool),  # hides nothing
    np.tril(np.ones((4, 6), dtype=bool)),  # queries that do not stand at the end
    np.triu(np.ones((4, 4), dtype=bool)) & ~np.eye(4, dtype=bool),  # the own position is hidden
    np.eye(4, dtype=bool) | np.eye(4, k=2, dtype=bool),  # holes
    np.stack([np.tril(np.ones((4, 4), dtype=bool)), np.ones((4, 4), dtype=bool)]),  # heads differ
    np.tril(np.ones((6, 4), dtype=bool)),  # more queries than keys
])  # fmt: skip
def test_other_numbers_are_no_mask(seen):
    assert mask_of(seen) is None


class Attends(torch.nn.Module):
    """One attention with a mask; how: in one operator or several, and how the mask comes in."""

    def __init__(self, mask: Mask, how: str) -> None:
        super().__init__()
        self.how, self.qkv = how, torch.nn.Linear(32, 3 * HEADS * WIDTH)
        self.register_buffer("seen", torch.tensor(rows(mask)), persistent=False)

    def forward(self, x, given=None):
        parts = self.qkv(x).chunk(3, -1)
        query, key, value = (each.reshape(1, LENGTH, HEADS, WIDTH).transpose(1, 2) for each in parts)
        if self.how == "is_causal":
            found = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        elif self.how == "boolean":
            found = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=self.seen)
        else:
            scores = query @ key.transpose(-1, -2) / WIDTH**0.5
            if self.how == "given":
                scores = scores + given
            elif self.how == "added":
                scores = scores + torch.where(self.seen, 0.0, torch.finfo(torch.float32).min)
            elif self.how == "filled":
                scores = scores.masked_fill(~self.seen, float("-inf"))
            elif self.how == "chosen":
                scores = torch.where(self.seen, scores, -1e9)
            else:  # shifted: hides nothing
                scores = scores + torch.where(self.seen, 0.0, -1.0)
            found = torch.softmax(scores, -1) @ value
        return found.transpose(1, 2).reshape(1, LENGTH, HEADS * WIDTH)


@pytest.mark.parametrize("how", ["is_causal", "boolean", "added", "filled", "chosen"])
@pytest.mark.parametrize("mask", [Mask(), Mask(behind=3)], ids=str)
def test_an_attention_has_the_mask_of_its_module(mask, how):
    if how == "is_causal" and mask != Mask():
        return
    network = workloads.from_torch(Attends(mask, how), (torch.zeros(1, LENGTH, 32),))
    assert [layer.mask for layer in network.layers if layer.mask] == [mask] * 3
    pairs = mask.pairs(LENGTH, LENGTH)
    assert network.macs == LENGTH * 32 * 3 * HEADS * WIDTH + 2 * pairs * HEADS * WIDTH
    (note,) = (note for note in network.notes if note.how == "masked")
    (hidden,) = (note for note in network.notes if note.how == "not counted")
    assert note.op == str(mask) and hidden.op == f"{FULL - 2 * pairs * HEADS * WIDTH:,} of scores that masks hide"
    blocks = workloads.attention_in_blocks(network)
    assert blocks.macs == network.macs and any(layer.op == "attention" and layer.mask for layer in blocks.layers)


@pytest.mark.parametrize("how", ["shifted", "given"])
def test_an_attention_without_a_known_mask_is_in_full(how):
    given = (torch.zeros(1, 1, LENGTH, LENGTH, dtype=torch.int64),) if how == "given" else ()
    network = workloads.from_torch(Attends(Mask(), how), (torch.zeros(1, LENGTH, 32), *given))
    assert not any(layer.mask for layer in network.layers)


def test_masks_can_be_left_out():
    given = Attends(Mask(), "is_causal"), (torch.zeros(1, LENGTH, 32),)
    plain = workloads.from_torch(*given, masks="none")
    assert plain.macs == LENGTH * 32 * 3 * HEADS * WIDTH + FULL and not any(layer.mask for layer in plain.layers)
    with pytest.raises(workloads.NetworkError, match="masks is 'causal'; it must be one of model, none"):
        workloads.from_torch(*given, masks="causal")


@pytest.mark.parametrize("how", ["sdpa", "eager"])
@pytest.mark.parametrize(("family", "more", "masks"), [
    ("GPT2", {}, ["causal"] * 2),
    ("Mistral", {"sliding_window": 8}, ["window 8"] * 2),
    ("Gemma3Text", {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]},
     ["window 8", "causal"]),
    ("Llama4Text", {"attention_chunk_size": 8, "layer_types": ["chunked_attention", "full_attention"]},
     ["chunks of 8", "causal"]),
])  # fmt: skip
def test_models_have_their_masks(family, more, masks, how):
    transformers = pytest.importorskip("transformers")
    names = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 50}
    if family != "GPT2":
        names |= {"num_key_value_heads": 2, "intermediate_size": 64, "head_dim": 8}
    if family == "Llama4Text":
        names |= {"num_local_experts": 2, "intermediate_size_mlp": 64}
    config = getattr(transformers, f"{family}Config")(**names, **more, use_cache=False)
    config._attn_implementation = how
    try:
        model = getattr(transformers, f"{family}Model")(config)
    except ModuleNotFoundError as error:  # such as a torchvision that does not fit torch
        pytest.skip(str(error))
    network = workloads.from_torch(model, {"input_ids": torch.zeros(1, 24, dtype=torch.int64)})
    assert [note.op for note in network.notes if note.how == "masked"] == masks
