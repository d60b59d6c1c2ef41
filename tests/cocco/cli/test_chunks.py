"""A prompt in chunks: several networks in one question, one memory for all, one time to the first token."""

from __future__ import annotations

import json
import shlex

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.timing.serving import Serving
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.configurations import TINY

pytestmark = pytest.mark.usefixtures("undrawn")

SMALL = ("--range", "256KB:512KB:256KB", "--samples", 50)


def test_chunks_share_a_memory_and_their_times_are_added_up(tmp_path):
    """Each chunk reads the rows of those before it; the head is that of the last one alone."""
    (tmp_path / "config.json").write_text(json.dumps(TINY["grouped"]))
    asked = ("explore", "config.json", "--length", 16, "--past", "0,16,32", "--range", "8KB:16KB:8KB", "--samples", 50)
    found = answer(cocco(*asked, "-o", "run", "--json", folder=tmp_path))
    chunks, prompt = [each["serving"] for each in found["networks"]], found["serving"]
    assert all(each["is_prompt"] for each in chunks) and prompt["is_prompt"]
    assert (prompt["new_tokens"], prompt["positions"]) == (48, 48)
    assert prompt["cache_bytes"] == chunks[-1]["cache_bytes"] == 2 * 2 * 48 * 32
    for name in ("seconds", "joules", "compute_seconds", "dram_seconds", "dram_bytes"):
        assert prompt[name] == pytest.approx(sum(each[name] for each in chunks))
    layers = 2 * (64 * (64 + 2 * 32 + 64) + 64 * 8 + 8 * 3 * 64 * 32)  # attention, router, experts
    assert [each["weight_bytes"] for each in chunks] == [layers, layers, layers + 64 * 128]
    assert prompt["weight_bytes"] == layers + 64 * 128
    assert [each["network"] for each in found["networks"]] == [
        "qwen3_moe_length16_layers2_masked", "qwen3_moe_length16_past16_layers2_masked",
        "qwen3_moe_length16_past32_masked",
    ]  # fmt: skip
    assert cocco("report", "run", folder=tmp_path).returncode == 0  # which prices the plans of its networks again


def test_chunks_are_said_together_and_proved_one_by_one(tmp_path):
    found = cocco("explore", "gpt2", "--length", 16, "--past", "8,24", "--layers", 1, *SMALL, "-o", "run",
                  folder=tmp_path)  # fmt: skip
    text = " ".join(found.stdout.split())
    assert "All chunks: first token after" in text and "of a prompt of 32 tokens" in text
    assert "12 times this, without norm and head: first token" in text.partition("All chunks:")[2]
    proofs = [shlex.split(line) for line in found.stdout.splitlines() if line.strip().startswith("cocco evaluate")]
    assert len(proofs) == 2
    for proof in proofs:
        assert answer(cocco(*proof[1:], "--json", folder=tmp_path))["verified"] is True


def test_chunks_in_turn_by_hand():
    chip = Accelerator(shared_buffer=256 * KiB)
    servings = []
    for past in (0, 8):
        step = workloads.load("gpt2", length=8, past=past, layers=1)
        servings.append(evaluate(step, Partition.layerwise(step), chip).serving)
    both = Serving.in_turn(servings)
    assert both.seconds == servings[0].seconds + servings[1].seconds and both.new_tokens == 16
    assert both.cache_bytes == 2 * 16 * 768 and both.weight_bytes == 12 * 768 * 768
    assert both.whole.seconds == pytest.approx(12 * both.seconds)


def test_stages_of_a_pipeline(tmp_path):
    """Two chips, a layer each; a row of 64 B crosses, at 0.001 GB/s in 64 us; the second one has the head too."""
    (tmp_path / "config.json").write_text(json.dumps(TINY["grouped"]))
    asked = ("explore", "config.json", "--phase", "decode", "--past", 8, "--chips", 2, "--parallel", "layers",
             "--link", "0.001GB/s", "--range", "8KB:16KB:8KB", "--samples", 50)  # fmt: skip
    found = answer(cocco(*asked, "-o", "run", "--json", folder=tmp_path))
    stages, both = [each["serving"] for each in found["networks"]], found["serving"]
    assert [each["link_bytes"] for each in stages] == [64, 0] and both["link_bytes"] == 64
    assert both["seconds"] == pytest.approx(sum(each["seconds"] for each in stages)) and both["chips"] == 2
    assert both["interval_seconds"] == max(each["seconds"] for each in stages)
    assert both["link_seconds"] == pytest.approx(64e-6) and both["cache_bytes"] == 2 * 2 * 9 * 32
    assert [each["network"][-6:] for each in found["networks"]] == ["stage1", "stage2"]
    text = " ".join(cocco(*asked, "-o", "run", "--force", folder=tmp_path).stdout.split())
    assert "All stages: tokens" in text and "tokens/s with 2 steps under way" in text
    assert "--chips 2 --stage 2" in text and cocco("report", "run", folder=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("explore", "gpt2", "--length", 16, "--past", "0,8"), ["chunks of 16 follow each other", "--past 0,16"]),
        (("explore", "gpt2", "llama3_8b", "--past", "0,512"), ["chunks", "name it alone"]),
        (("explore", "gpt2", "--past", "0,512", "--chips", 2, "--stage", 1), ["chunks", "without --stage"]),
        (("explore", "gpt2", "--parallel", "layers"), ["--parallel layers needs --chips"]),
        (("explore", "gpt2", "--parallel", "layers", "--chips", 13), ["chips 13", "from 1 to 12"]),
        (("show", "gpt2", "--parallel", "layers", "--chips", 2), ["explore takes all stages", "--stage 1"]),
        (("show", "gpt2", "--chips", 2, "--stage", 3), ["stage 3", "from 1 to 2"]),
        (("explore", "vgg16", "--past", "0,512"), ["vgg16", "no option 'past'"]),
        (("show", "gpt2", "--past", "0,512"), ["past (0, 512)", "chunks of a prompt for explore"]),
    ],
)
def test_what_is_refused(asked, words):
    assert_malformed(cocco(*asked), words)
