"""Malformed input: one line on stderr that names the thing, the rule and the value; exit code 2; nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import assert_malformed, cocco, write_json

pytestmark = pytest.mark.usefixtures("undrawn")

EVALUATE = ("evaluate", "vgg16", "--partition", "layerwise")
PARTITION = ("partition", "vgg16", "--samples", "10")
SCHEDULE = ("schedule", "vgg16", "--scratchpad", "half")
EXPLORE = ("explore", "vgg16", "--samples", "10")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["no command"]),
        (("partition", "vgg16", "--verify"), ["unrecognized arguments: --verify\n"]),
        (("evalute",), ["'evalute'", "did you mean 'evaluate'?"]),
        (("explor", "vgg16"), ["unknown command 'explor'", "did you mean 'explore'?", "pareto"]),
        (("frobnicate",), ["unknown command 'frobnicate'; known are"]),
        (("pareto", "vgg16", "--objectives", "capacity", "energy"), ["energy; --objectives takes one value"]),
        ((*EXPLORE, "--dask", "localhost"), ["--dask", "tcp://HOST:PORT", "'localhost'"]),
        ((*EXPLORE, "--alpa", "2"), ["--alpa", "did you mean '--alpha'?"]),
        ((*PARTITION, "--method", "gaa"), ["--method", "'gaa'", "did you mean 'ga'?", "exact"]),
        (("show", "nowhere/net"), ["nowhere/net: is not there", "built-in name", ".onnx"]),
        (("show",), ["NETWORK"]),
        (("show", "--hardware", "--phase", "decode"), ["--phase not allowed with --hardware"]),
        (("map", "vgg16", "--work", "5"), ["--work 5 not allowed with --method closed", "cosa, polished"]),
        (("map", "vgg16", "--effort", "quick"), ["--effort quick not allowed with --method closed"]),
        (("map", "vgg16", "--method", "climb", "--solver", "cp"), ["--solver cp not allowed with --method climb"]),
        (("map", "vgg16", "--method", "random", "--split"), ["--split not allowed with --method random"]),
        ((*SCHEDULE, "--method", "greedy", "--work", "5"), ["--work 5 not allowed with --method greedy", "tight"]),
        ((*SCHEDULE, "--method", "belady", "--seconds", "2.5"), ["--seconds 2.5 not allowed with --method belady"]),
        ((*SCHEDULE, "--check", "x.json", "--effort", "quick"), ["--effort quick not allowed with --check"]),
        ((*PARTITION, "--method", "greedy", "--plain"), ["--plain not allowed with --method greedy", "ga"]),
        ((*EXPLORE, "--method", "exact", "--plain"), ["--plain not allowed with --method exact"]),
        ((*EXPLORE, "--method", "sa", "--setting", "elite=0"), ["--setting not allowed with --method sa", "paper"]),
        ((*EXPLORE, "--force"), ["--force needs -o"]),
        ((*PARTITION, "--unsupported", "passthrough"), ["vgg16: takes no --unsupported", "imported models"]),
        ((*EXPLORE, "--minimize", "energy", "--limit", "ema=1GB", "--addresses"), ["--addresses", "--minimize"]),
        (("show", "resnet5"), ["'resnet5'", "did you mean 'resnet50'"]),
        (("show", ""), ["unknown network"]),
        (("evaluate", "nosuch"), ["unknown network 'nosuch'"]),
        (("show", "nowhere.json"), ["nowhere.json", "No such file"]),
        (("show", "."), ["result.json", "not the folder of a run"]),
        (("show", "vgg16", "--partition", "x"), ["--partition"]),
        (("evaluate", "vgg16"), ["--partition"]),
        (("evaluate", "vgg16", "--partition", "layerwize"), ["layerwize", ".json"]),
        ((*EVALUATE, "--jso"), ["--jso"]),
        ((*EVALUATE, "two\nlines\x1b[31m"), ["two lines\\x1b[31m"]),
        ((*EVALUATE, "--tile-rule", "approximate"), ["--tile-rule", "'approximate'", "exact"]),
        ((*EVALUATE, "--global-buffer", "1MB"), ["--global-buffer", "--weight-buffer"]),
        ((*EVALUATE, "--weight-buffer", "1MB"), ["--weight-buffer", "--global-buffer"]),
        ((*EVALUATE, "--shared-buffer", "1MB", "--global-buffer", "1MB"), ["--shared-buffer", "--global-buffer"]),
        ((*EVALUATE, "--shared-buffer", "1MB", "--weight-buffer", "1MB"), ["--shared-buffer", "--weight-buffer"]),
        ((*EVALUATE, "--cores", "0"), ["--cores", "'0'"]),
        ((*EVALUATE, "--cores", "1.5"), ["--cores", "'1.5'"]),
        ((*EVALUATE, "--cores", "100000"), ["cores", "65536", "100000"]),
        ((*EVALUATE, "--batch", "-1"), ["--batch", "'-1'"]),
        ((*EVALUATE, "--batch", "9" * 5000), ["--batch", "whole number"]),
        ((*EVALUATE, "--max-regions", "0"), ["--max-regions", "'none'", "'0'"]),
        ((*PARTITION, "--metric", "area"), ["--metric", "'area'", "latency-sum"]),
        ((*PARTITION, "--method", "magic"), ["--method", "'magic'"]),
        ((*PARTITION, "--samples", "0"), ["--samples", "'0'"]),
        ((*PARTITION, "--samples", "1e3"), ["--samples", "'1e3'"]),
        ((*PARTITION, "--seed", "-1"), ["--seed", "'-1'"]),
        ((*PARTITION, "--seed", "99999999999999999999"), ["--seed", "18446744073709551615"]),
        ((*PARTITION, "-o", "plan.txt"), ["plan.txt", ".json"]),
        ((*PARTITION, "-o", ""), ["-o", "empty"]),
        ((*EXPLORE, "--shared", "--separate"), ["--shared", "--separate"]),
        ((*EXPLORE, "--shared-buffer", "1MB"), ["--shared-buffer"]),
        ((*EXPLORE, "--alpha", "nan"), ["--alpha", "finite", "'nan'"]),
        ((*EXPLORE, "--alpha", "inf"), ["--alpha", "finite", "'inf'"]),
        ((*EXPLORE, "--alpha", "1e300"), ["--alpha", "1e+15", "'1e300'"]),
        ((*EXPLORE, "--alpha=-0.1"), ["alpha", "at least 0", "-0.1"]),
        ((*EXPLORE, "--alpha", "much"), ["--alpha", "'much'"]),
        ((*EXPLORE, "--weights", "1", "2"), ["weights", "1", "2"]),
        ((*EXPLORE, "--weights", "0"), ["weights", "above 0", "0"]),
        ((*EXPLORE, "--weights", "nan"), ["--weights", "'nan'"]),
        (("explore", "vgg16", "gpt", "vgg16"), ["'vgg16'", "twice", "weight"]),
        ((*EXPLORE, "--shared", *["--range", "1MB:2MB:64KB"] * 2), ["--shared", "one --range", "2"]),
        ((*EXPLORE, "--separate", "--range", "1MB:2MB:64KB"), ["--separate", "two --range", "1"]),
        ((*EXPLORE, "--shared", "--range", "1MB:2MB"), ["--range", "LOW:HIGH:STEP", "'1MB:2MB'"]),
        ((*EXPLORE, "--shared", "--range", "2MB:1MB:64KB"), ["low", "high", "2097152"]),
        ((*EXPLORE, "--shared", "--range", "1MB:2MB:0"), ["at least 1 byte", "'0'"]),
        ((*EXPLORE, "--shared", "--range", "1:1GB:1"), ["candidates", "step"]),
        ((*EXPLORE, "-o", ""), ["-o", "empty"]),
        ((*EXPLORE, "--exchange", "2MB/mJ"), ["exchange", "'2MB/mJ'", "mJ", "mm2"]),
        ((*EXPLORE, "--minimize", "energy", "--limit", "energy=4mW"), ["energy", "mJ", "'energy=4mW'"]),
        (("show", "vgg16", "--extent", "N=5"), ["vgg16", "--extent N=5", "ONNX"]),
        ((*EXPLORE, "--extent", "N=5"), ["vgg16", "--extent N=5", "ONNX"]),
        (("map", "vgg16", "--tries", "5"), ["--tries 5", "closed", "random"]),
        (("map", "vgg16", "--method", "random", "--fixed-axes", "K,C"), ["--fixed-axes KC", "random", "closed"]),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_malformed_command_line(arguments: Sequence[str], words: Sequence[str], tmp_path: Path):
    assert_malformed(cocco(*arguments, folder=tmp_path), words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "size",
    ["0", "0KB", "-1", "1.5", "0.3KB", "nan", "NaN", "inf", "1e6", "1TB", "KB", "", "1 000KB", "0x10", "1_000", "1,5MB",
     "9999999999GB", "9" * 30, "\u0661MB", "1.MB", ".5MB"],
)  # fmt: skip
def test_malformed_size_names_the_option_and_the_value(size: str):
    finished = cocco(*EVALUATE, f"--shared-buffer={size}")
    assert_malformed(finished, ["--shared-buffer", "size", size])


PLANS: dict[str, tuple[Any, list[str]]] = {
    "unknown layer": ([["conv1_1", "conv1_3"]], ["'conv1_3'", "did you mean"]),
    "repeated layer": ([["conv1_1"], ["conv1_1", "conv1_2"]], ["'conv1_1'", "subgraph 0", "subgraph 1"]),
    "repeated inside a subgraph": ([["conv1_1", "conv1_1"]], ["'conv1_1'", "again"]),
    "disconnected subgraph": ([["conv1_1", "conv2_1"]], ["not connected", "'conv1_1'", "'conv2_1'"]),
    "empty subgraph": ([[]], ["subgraph 0", "empty"]),
    "string for a list": (["conv1_1"], ["list"]),
    "number for a name": ([[1]], ["1", "layer names"]),
    "no list": ("conv1_1", ["'subgraphs'", "list"]),
    "null": (None, ["'subgraphs'", "list"]),
}


@pytest.mark.parametrize("case", PLANS)
def test_malformed_partition(case: str, tmp_path: Path):
    groups, words = PLANS[case]
    path = write_json(tmp_path / "plan.json", {"network": "vgg16", "subgraphs": groups})
    assert_malformed(cocco("evaluate", "vgg16", "--partition", path), ["plan.json", *words])


def test_partition_whose_subgraphs_wait_for_each_other(tmp_path: Path):
    """pool1 -> a -> b -> c -> add, pool1 -> shortcut -> add: {pool1, shortcut, add} and {a, b, c} need each other."""
    groups = [["pool1", "s1b1_shortcut", "s1b1_add"], ["s1b1_a", "s1b1_b", "s1b1_c"]]
    path = write_json(tmp_path / "plan.json", {"network": "resnet50", "subgraphs": groups})
    finished = cocco("evaluate", "resnet50", "--partition", path)
    assert_malformed(finished, ["plan.json", "wait for each other", "'pool1'"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"subgraphs": [], "layers": 3}, ["'layers'"]),
        ({"network": "vgg16"}, ["'subgraphs'"]),
        ({"network": "resnet50", "subgraphs": []}, ["'resnet50'", "'vgg16'"]),
        ({"network": 3, "subgraphs": []}, ["3", "'vgg16'"]),
        ([], ["mapping"]),
    ],
)
def test_malformed_partition_file(content: Any, words: Sequence[str], tmp_path: Path):
    path = write_json(tmp_path / "plan.json", content)
    assert_malformed(cocco("evaluate", "vgg16", "--partition", path), ["plan.json", *words])


BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9))])
FILES: dict[str, tuple[str, bytes, list[str]]] = {
    "empty": (".json", b"", ["empty"]),
    "blank": (".yaml", b" \n", ["empty"]),
    "truncated": (".json", b'{"network": "vgg16", "subgr', ["not JSON"]),
    "binary": (".json", bytes(range(256)), ["not text"]),
    "nested": (".json", b'{"subgraphs": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ["deep"]),
    "nested yaml": (".yaml", b"subgraphs: " + b"[" * 5_000 + b"]" * 5_000, ["deep"]),
    "aliased to death": (".yaml", BOMB.encode(), ["aliases"]),
    "python object": (".yaml", b"subgraphs: !!python/object/apply:os.system [ls]", ["tag"]),
    "repeated key": (".json", b'{"subgraphs": [], "subgraphs": []}', ["'subgraphs'"]),
    "not a number": (".json", b'{"subgraphs": [[NaN]]}', ["finite"]),
    "huge number": (".json", b'{"subgraphs": [[' + b"9" * 10_000 + b"]]}", []),
    "long name": (".json", json.dumps({"subgraphs": [["x" * 100_000]]}).encode(), ["unknown layer"]),
    "wrong suffix": (".csv", b"a,b", [".csv", ".json"]),
}


@pytest.mark.parametrize("case", FILES)
def test_partition_file_that_is_no_sound_text(case: str, tmp_path: Path):
    suffix, content, words = FILES[case]
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    assert_malformed(cocco("evaluate", "vgg16", "--partition", path), [f"bad{suffix}", *words])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("case", [case for case, (suffix, *_) in FILES.items() if suffix == ".json"])
def test_network_file_that_is_no_sound_text(case: str, tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_bytes(FILES[case][1])
    assert_malformed(cocco("show", path), ["bad.json"])
    assert list(tmp_path.iterdir()) == [path]


def node(name: str, op: str, inputs: Sequence[str], shape: Sequence[int], **more: Any) -> dict[str, Any]:
    """One node of a layer-graph/1; a conv is 1x1 unless more says otherwise."""
    window = {"kernel": [1, 1], "stride": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1], "groups": 1}
    extra = window | {"in_channels": 8} if op == "conv" else {}
    return {"name": name, "op": op, "inputs": list(inputs), "out_shape": list(shape), **extra, **more}


IMAGE = node("x", "input", [], [1, 8, 4, 4])
CONV = node("a", "conv", ["x"], [1, 8, 4, 4])
GRAPHS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "wrong version": ({"format": "layer-graph/2", "nodes": [IMAGE, CONV]}, ["'layer-graph/2'", "'layer-graph/1'"]),
    "no nodes": ({"nodes": []}, ["layers"]),
    "only an input": ({"nodes": [IMAGE]}, ["layers"]),
    "cycle": (
        {"nodes": [IMAGE, node("a", "add", ["x", "b"], [1, 8, 4, 4]), node("b", "conv", ["a"], [1, 8, 4, 4])]},
        ["'a'", "'b'", "cycle"],
    ),
    "dangling input": ({"nodes": [IMAGE, node("a", "conv", ["y"], [1, 8, 4, 4])]}, ["'a'", "'y'"]),
    "mismatching shapes": ({"nodes": [IMAGE, node("a", "conv", ["x"], [1, 8, 5, 4])]}, ["'a'", "5", "4"]),
    "unknown op": ({"nodes": [IMAGE, node("a", "lstm", ["x"], [1, 8, 4, 4])]}, ["'a'", "'lstm'", "conv"]),
    "repeated name": ({"nodes": [IMAGE, CONV, CONV]}, ["'a'", "unique"]),
    "batch of two": ({"nodes": [node("x", "input", [], [2, 8, 4, 4]), CONV]}, ["'x'", "2"]),
    "zero extent": ({"nodes": [node("x", "input", [], [1, 8, 0, 4]), CONV]}, ["'x'", "0"]),
    "absurd extent": ({"nodes": [node("x", "input", [], [1, 8, 10**12, 10**12]), CONV]}, ["'x'"]),
    "fractional kernel": ({"nodes": [IMAGE, node("a", "conv", ["x"], [1, 8, 4, 4], kernel=[1.5, 1])]}, ["'a'", "1.5"]),
}


@pytest.mark.parametrize("case", GRAPHS)
def test_malformed_network_file(case: str, tmp_path: Path):
    graph, words = GRAPHS[case]
    path = write_json(tmp_path / "net.json", {"format": "layer-graph/1", "name": "net", **graph})
    assert_malformed(cocco("evaluate", path, "--partition", "layerwise"), ["net.json", *words])


def test_a_very_long_chain_is_no_traceback(tmp_path: Path):
    """A sound network of 3000 layers: nothing that we do with a graph may recurse along it."""
    chain = [node(f"n{i}", "conv", [f"n{i - 1}" if i else "x"], [1, 8, 4, 4]) for i in range(3000)]
    path = write_json(tmp_path / "net.json", {"format": "layer-graph/1", "name": "net", "nodes": [IMAGE, *chain]})
    plan = write_json(tmp_path / "plan.json", {"subgraphs": [[f"n{i}" for i in range(3000)]]})
    finished = cocco("evaluate", path, "--partition", plan, "--max-regions", "none", "--shared-buffer", "1GB", "--json")
    assert finished.returncode == 0 and finished.stderr == ""
