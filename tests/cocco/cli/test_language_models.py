"""Language models on the command line: number types, heads apart, what is refused in one line."""

from __future__ import annotations

import json
import shlex

import pytest

import workloads
from simulator import Accelerator, MiB, Partition, evaluate
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.configurations import TINY
from tests.helpers.parts import first_of
from workloads import Builder

pytestmark = pytest.mark.usefixtures("undrawn")

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
    asked = (
        "evaluate",
        "gpt2",
        "--layers",
        1,
        "--length",
        256,
        "--plans",
        "paper",
        "--partition",
        "plan.yaml",
        "--json",
    )
    whole = answer(cocco(*asked, "--shared-buffer", "256KB", folder=tmp_path), 1)
    assert "exceed" in whole["infeasible"][0]["reason"]
    apart = answer(cocco(*asked, "--shared-buffer", "256KB", "--groups-apart", folder=tmp_path))
    assert apart["totals"]["ema_bytes"] > 0
    assert answer(cocco(*asked, "--hardware", "chip.yaml", folder=tmp_path)) == apart


def test_experts_of_a_batch_share_what_is_loaded():
    """Of 8, 4 tokens of 2 experts each are expected to use 6; the answer says so."""
    asked = ("mixtral_8x7b", "--phase", "decode", "--past", 1, "--layers", 1, "--shared-buffer", "4MB", "--samples", 50)
    text = cocco("partition", *asked, "--batch", 4, "--metric", "ema").stdout
    assert "experts         6 of 8 in use, as 4 tokens of 2 each are expected to, routed uniformly (our choice)" in text
    assert "experts: 2 of 8 in use, as 1 token" in cocco("show", *asked[:7]).stdout
    assert "experts: 5 of 8 in use, as given" in cocco("show", *asked[:7], "--experts", 5).stdout


@pytest.mark.parametrize(
    ("batch", "used", "weights"), first_of([(4, 6, 1_098_940_416), (1, 2, 394_297_344), (8, 8, 1_451_261_952)], 1)
)
def test_experts_in_use_are_the_same_by_command_by_python_and_of_a_file(batch, used, weights, tmp_path):
    """41,975,808 B of attention and router + used experts of 3 x 4096 x 14336 B, of a token of each sample."""
    network = workloads.load("mixtral_8x7b", phase="decode", past=1, layers=1)
    workloads.save(network, tmp_path / "saved.json")
    plan, chip = Partition.layerwise(network), Accelerator(shared_buffer=4 * MiB, batch=batch)
    found = evaluate(network, plan, chip)
    assert weights == 41_975_808 + used * 3 * 4096 * 14336 == found.ema_weight_bytes
    machine = ("--partition", "layerwise", "--shared-buffer", "4MB", "--batch", batch)
    built_in = ("mixtral_8x7b", "--phase", "decode", "--past", 1, "--layers", 1)
    for asked in (built_in, ("saved.json",)):
        said = answer(cocco("evaluate", asked[0], *machine, *asked[1:], "--verify", "--json", folder=tmp_path))
        assert said["verified"] and said["totals"] == found.to_json()["totals"]
        assert said["experts"] == [{"count": 8, "active": 2, "used": used, "tokens": batch, "given": False}]
        text = cocco("evaluate", asked[0], *machine, *asked[1:], folder=tmp_path).stdout
        assert f"  experts                 {used} of 8 in use, as {batch} token" in text


def test_attention_in_blocks_is_one_layer_that_is_verified():
    two = answer(cocco(*SMALL, "--attention", "blocks", "--cores", 2, "--verify", "--json"))
    blocks = answer(cocco(*SMALL, "--attention", "blocks", "--verify", "--json"))
    whole = answer(cocco(*SMALL, "--json"))
    assert two["verified"] and two["totals"]["ema_bytes"] == blocks["totals"]["ema_bytes"]
    assert blocks["verified"] and len(blocks["subgraphs"]) == len(whole["subgraphs"]) - 2
    assert blocks["totals"]["ema_bytes"] < whole["totals"]["ema_bytes"]  # by the scores, which cross twice
    assert blocks["totals"]["compute_cycles"] == whole["totals"]["compute_cycles"]


def test_the_command_that_is_named_as_a_proof_reads_the_same_step(tmp_path):
    asked = ("gpt2", "--phase", "decode", "--past", 24, "--layers", 1, "--attention", "blocks", "--bits", "cache=4")
    found = cocco("partition", *asked, "--shared-buffer", "1MB", "--samples", 50, "-o", "plan.json", folder=tmp_path)
    proof = shlex.split(found.stdout.splitlines()[-1])
    assert proof[:3] == ["cocco", "evaluate", "gpt2"]
    assert answer(cocco(*proof[1:], "--json", folder=tmp_path))["verified"] is True


def test_words_that_do_not_fill_bytes_are_malformed(tmp_path):
    (tmp_path / "chip.yaml").write_text("shared_buffer: 1MB\ntechnology:\n  channel_alignment: 1\n")
    asked = ("evaluate", "gpt2", "--layers", 1, "--length", 16, "--bits", "activations=12", "--partition", "layerwise")
    found = cocco(*asked, "--hardware", "chip.yaml", folder=tmp_path)
    assert_malformed(found, ["'l1_norm1'", "channel_alignment 1", "1 x 12 bits do not fill whole bytes"])


def test_a_schedule_is_of_the_step_that_is_asked_for():
    asked = ("gpt2", "--layers", 1, "--length", 16, "--attention", "blocks", "--bits", "activations=16")
    found = answer(cocco("schedule", *asked, "--scratchpad", "1MB", "--json"))
    assert len(found["order"]) == 1 + 11 and found["network"] == "gpt2_length16_layers1_blocks"


def test_a_prefix_that_sequences_share():
    asked = ("evaluate", "gpt2", "--phase", "decode", "--past", "24,40", "--layers", 1, "--partition", "layerwise",
             "--shared-buffer", "1MB")  # fmt: skip
    found = answer(cocco(*asked, "--prefix", 16, "--verify", "--json"))
    assert found["verified"] and found["network"] == "gpt2_decode_past24-40_layers1_prefix16"
    assert found["serving"]["cache_bytes"] == 2 * 768 * (16 + 9 + 25) and found["serving"]["positions"] == 41
    assert_malformed(cocco(*asked, "--prefix", 25), ["prefix 25", "from 0 to 24"])


def test_the_share_of_a_chip_and_all_of_them(tmp_path):
    """Two chips: half the heads and columns; 2 maps of 768, 1/2 (4 + 1) bytes of each leave a chip, at 0.1 GB/s."""
    asked = ("gpt2", "--phase", "decode", "--past", 24, "--layers", 1, "--chips", 2, "--link", "0.1GB/s")
    memory = ("--shared-buffer", "1MB")
    found = answer(cocco("evaluate", *asked, *memory, "--partition", "layerwise", "--verify", "--json"))
    serving = found["serving"]
    assert found["verified"] and found["totals"]["ema_weight_bytes"] == 12 * 768 * 768 // 2
    assert serving["link_bytes"] == 3840 and serving["link_seconds"] == pytest.approx(38.4e-6)
    assert serving["weight_bytes"] == 12 * 768 * 768 and serving["whole_model"]["link_bytes"] == 12 * 3840
    partition = cocco("partition", *asked, *memory, "--samples", 50, "-o", "plan.json", folder=tmp_path)
    assert "leave each, in 38.400 us more; in all 6,912.0 KB of weights" in " ".join(partition.stdout.split())
    proof = shlex.split(partition.stdout.splitlines()[-1])
    again = answer(cocco(*proof[1:], "--json", folder=tmp_path))
    assert again["verified"] is True and again["serving"]["link_seconds"] == serving["link_seconds"]
    shown = cocco("show", *asked[:-2]).stdout
    assert "all-reduce  l1_add1, l1_add2" in shown
    run = ("explore", *asked, "--range", "256KB:512KB:256KB", "--samples", 50, "-o", "run")
    cocco(*run, folder=tmp_path)
    saved = answer(cocco("evaluate", "run", "--json", folder=tmp_path))
    assert saved["network"] == "gpt2_decode_past24_layers1_chips2" and saved["serving"]["link_bytes"] == 3840


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
        (("--experts", "2"), ["no option 'experts'"]),
        (("--chips", "7"), ["12 heads", "7 chips do not divide"]),
        (("--chips", "0"), ["--chips", "from 1"]),
        (("--chips", "2", "--link", "0GB/s"), ["--link", "above 0", "'0GB/s'"]),
        (("--bits", "cache=0"), ["bits have cache 0", "1 to 32"]),
        (("--bits", "weights=33"), ["bits have weights 33", "1 to 32"]),
        (("--attention", "whole"), ["--attention", "'whole'", "blocks"]),
    ],
)
def test_what_is_refused(more, words):
    command = [word for word in SMALL if word not in ("--layers", 1)] if "--layers" in more else SMALL
    assert_malformed(cocco(*command, *more), words)


@pytest.mark.parametrize("option", [("--past", "5"), ("--phase", "decode")])
def test_a_network_without_a_step_takes_none(option):
    asked = ("evaluate", "vgg16", "--partition", "layerwise", "--shared-buffer", "1MB", *option)
    assert_malformed(cocco(*asked), ["vgg16", "has no option", option[0].strip("-")])


def test_attention_of_any_network_is_in_blocks_and_show_says_which_is_not(tmp_path):
    """One attention as it is, one with a table that is added to its scores; a network without any."""
    b = Builder("two")
    x, table = b.input("x", 16, 1, 16), b.input("table", 16, 1, 32)
    for name in "ab":
        scores = b.matmul(f"{name}_scores", x, x, heads=2, transpose=True)
        scores = b.add("mask", [scores, table]) if name == "b" else scores
        x = b.matmul(f"{name}_context", b.softmax(f"{name}_softmax", scores), x, heads=2)
    workloads.save(b.build(), tmp_path / "two.json")
    words = "1 in blocks; 1 in layers: another map joins the scores (b_softmax)"
    shown = cocco("show", "two.json", "--attention", "blocks", folder=tmp_path)
    assert f"attention: {words}" in shown.stdout and f"note: two_blocks: attention: {words}" in shown.stderr
    notes = answer(cocco("show", "two.json", "--attention", "blocks", "--json", folder=tmp_path))["notes"]
    assert [(note["node"], note["how"]) for note in notes] == [("a_attention", "in blocks"), ("b_softmax", "in layers")]
    asked = ("two.json", "--attention", "blocks", "--shared-buffer", "1KB", "--samples", 50)
    found = cocco("partition", *asked, "-o", "plan.json", folder=tmp_path)
    proof = shlex.split(found.stdout.splitlines()[-1])
    assert answer(cocco(*proof[1:], "--json", folder=tmp_path))["verified"] is True
    none = cocco("show", "vgg16", "--attention", "blocks")
    assert none.stderr == "cocco: note: vgg16: attention: none that could run in blocks\n"
    assert none.stdout == cocco("show", "vgg16").stdout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"heads": 5}, ["l1_attention", "divisible by its heads", "768"]),
        ({"heads": 0}, ["l1_attention", "heads", "0"]),
        ({"operand_heads": 5}, ["l1_attention", "operand heads that divide its 12 heads", "5"]),
        ({"inputs": ["l1_q", "l1_k"]}, ["l1_attention", "inputs", "3 or 5"]),
        ({"inputs": ["l1_q", "l1_k", "tokens_2"]}, ["l1_attention", "tokens_2"]),
    ],
)
def test_a_malformed_attention_in_a_file_is_one_line(change, words, tmp_path):
    workloads.save(workloads.load("gpt2", length=8, layers=1, attention="blocks"), tmp_path / "one.json")
    content = json.loads((tmp_path / "one.json").read_text())
    node = next(each for each in content["nodes"] if each["op"] == "attention")
    node |= change
    (tmp_path / "one.json").write_text(json.dumps(content))
    assert_malformed(cocco("show", "one.json", folder=tmp_path), words)


FEW = ["--samples", 100, "--range", "16KB:48KB:16KB"]


@pytest.mark.parametrize("more", first_of([FEW, []], 1), ids=["few samples", "the default"])
def test_a_configuration_answers_in_tokens(tmp_path, more):
    """Text, JSON, the page of a run, and the run executed again say the same of a step from a config.json."""
    (tmp_path / "config.json").write_text(json.dumps(TINY["grouped"]), encoding="utf-8")
    asked = ("config.json", "--phase", "decode", "--past", 20, "--layers", 1)
    text = cocco("explore", *asked, *more, "-o", "run", folder=tmp_path).stdout
    serving = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))["result"]["serving"]
    assert f"tokens                  {serving['tokens_per_s']:,.0f} tokens/s; a step takes" in text
    assert "cache                   1.3 KB at 21 positions" in text  # 21 x 2 x 32 bytes
    assert f"bound by                {serving['bound']}: " in text
    assert "whole model             2 times this, without norm and head: tokens" in text
    cocco("report", "run", folder=tmp_path)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"Tokens: {serving['tokens_per_s']:,.0f} tokens/s; a step takes" in page
    assert "Verified" in cocco("evaluate", "run", "--verify", folder=tmp_path).stdout


def test_bandwidth_is_said_of_each_core_and_in_all():
    """16 bytes in a cycle of 1 GHz for each of 4 cores, unless a file says what all have."""
    asked = (
        "evaluate",
        "gpt2",
        "--phase",
        "decode",
        "--layers",
        1,
        "--partition",
        "layerwise",
        "--shared-buffer",
        "1MB",
    )
    assert "DRAM bandwidth          16 GB/s; " in cocco(*asked).stdout
    assert "DRAM bandwidth          64 GB/s in all, 16 for each of 4 cores;" in cocco(*asked, "--cores", 4).stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"model_type": "gpt9", "hidden_size": 8}, ["config.json", "'model_type' is 'gpt9'", "known are llama"]),
        ({"layers": []}, ["config.json", "no key 'format'; a minimal one is", '"op": "conv"']),
    ],
)
def test_a_file_that_is_no_network_is_told_what_one_is(tmp_path, content, words):
    (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
    assert_malformed(cocco("show", "config.json", folder=tmp_path), words)


def test_sequences_of_unequal_lengths(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY["grouped"]), encoding="utf-8")
    asked = ("config.json", "--phase", "decode", "--past", "5,20,9", "--layers", 1)
    space = ("--shared", "--range", "16KB:24KB:8KB", "--samples", 60)
    text = cocco("explore", *asked, *space, "-o", "run", folder=tmp_path).stdout
    assert "for each of 3 sequences; a step takes" in text and "of 3 sequences, the longest of 21 positions" in text
    assert "Verified" in cocco("evaluate", "run", "--verify", folder=tmp_path).stdout
    assert_malformed(cocco("show", "gpt2", "--past", "5,x"), ["--past", "'x'"])


def test_masks_are_shown_searched_and_executed(tmp_path):
    """GPT-2 at 64 tokens: 12 heads of 64 x 65 / 2 pairs, 64 MACs each; the plan in blocks that is found is verified."""
    masked = ("gpt2", "--layers", 1, "--length", 64, "--masks", "model")
    shown = {layer["name"]: layer for layer in answer(cocco("show", *masked, "--json"))["layers"]}
    assert shown["l1_scores"]["macs"] == 12 * 64 * 2080 and "mask" not in shown["l1_q"]
    assert shown["l1_scores"]["mask"] == {"behind": None, "ahead": 0, "chunk": 0}
    assert "softmax (causal)" in cocco("show", *masked).stdout
    asked = ("--shared-buffer", "24KB", "--attention", "blocks", "--metric", "ema", "--samples", 200, "-o", "plan.json")
    cocco("partition", *masked, *asked, folder=tmp_path)
    plan = ("--attention", "blocks", "--partition", "plan.json", "--shared-buffer", "24KB")
    assert answer(cocco("evaluate", *masked, *plan, "--verify", "--json", folder=tmp_path))["verified"] is True
    found = cocco("export", *masked, "layerwise", "--shared-buffer", "1MB", "--c", "out", folder=tmp_path)
    assert_malformed(found, ["layer 'l1_scores': a mask has no program yet", "--masks none"])


def test_a_configuration_has_its_masks_unless_told(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY["grouped"]), encoding="utf-8")
    asked = ("show", "config.json", "--length", 16, "--layers", 1, "--json")
    masked, plain = (answer(cocco(*asked, *more, folder=tmp_path)) for more in ((), ("--masks", "none")))
    assert masked["name"] == f"{plain['name']}_masked" and masked["macs"] < plain["macs"]
    assert_malformed(cocco("show", "vgg16", "--masks", "model"), ["vgg16", "no option 'masks'"])
