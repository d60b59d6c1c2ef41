"""Language models on the command line: number types, heads apart, what is refused in one line."""

from __future__ import annotations

import pytest

from tests.helpers.command_line import answer, assert_malformed, cocco

SMALL = ("evaluate", "gpt2", "--layers", 1, "--length", 64, "--partition", "layerwise", "--shared-buffer", "1MB")


def test_bits_of_a_network_are_asked_for_and_said():
    """Weights of 4 bits are half the bytes; show names all types."""
    whole, half = answer(cocco(*SMALL, "--json")), answer(cocco(*SMALL, "--bits", "weights=4", "--json"))
    assert whole["totals"]["ema_weight_bytes"] == 2 * half["totals"]["ema_weight_bytes"]
    shown = answer(cocco("show", "gpt2", "--layers", 1, "--bits", "weights=fp8,cache=4", "--json"))
    assert shown["numbers"] == {"weights": ["fp8"], "activations": ["int8"], "cache": ["int4"], "sums": ["int32"]}
    text = cocco("show", "gpt2", "--layers", 1).stdout
    assert "numbers: weights int8; activations int8; cache int8; sums int32 (assumed, as in the paper)" in text


def test_heads_apart_by_option_and_by_file(tmp_path):
    """Scores, softmax and context of GPT-2 at 256 tokens are one subgraph in less memory."""
    (tmp_path / "plan.yaml").write_text(
        "network: gpt2_length256_layers1\nsubgraphs: [[l1_norm1], [l1_q], [l1_k], [l1_v], [l1_scores, l1_softmax, "
        "l1_context], [l1_out], [l1_add1], [l1_norm2], [l1_up], [l1_down], [l1_add2]]\n"
    )
    (tmp_path / "chip.yaml").write_text("shared_buffer: 256KB\ngroups_apart: true\n")
    asked = ("evaluate", "gpt2", "--layers", 1, "--length", 256, "--partition", "plan.yaml", "--json")
    whole = answer(cocco(*asked, "--shared-buffer", "256KB", folder=tmp_path), 1)
    assert "exceed" in whole["infeasible"][0]["reason"]
    apart = answer(cocco(*asked, "--shared-buffer", "256KB", "--groups-apart", folder=tmp_path))
    assert apart["totals"]["ema_bytes"] > 0
    assert answer(cocco(*asked, "--hardware", "chip.yaml", folder=tmp_path)) == apart


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--bits", "weights=64"), ["bits have weights 64", "1 to 32"]),
        (("--bits", "weights=fp4"), ["bits have weights 'fp4'", "fp8, bf16, fp16, fp32"]),
        (("--bits", "heads=8"), ["bits have 'heads'", "weights, activations, cache, sums"]),
        (("--bits", "weights"), ["KIND=N", "'weights'"]),
        (("--bits", "weights=4,weights=8"), ["each kind once"]),
        (("--groups-apart", "--cores", "2"), ["groups_apart is for one core", "2"]),
        (("--past", "8", "--layers", "99"), ["layers 99"]),
    ],
)
def test_what_is_refused(more, words):
    command = [word for word in SMALL if word not in ("--layers", 1)] if "--layers" in more else SMALL
    assert_malformed(cocco(*command, *more), words)
