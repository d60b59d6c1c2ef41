"""cocco networks, show and evaluate: what they print, in the form that the design promises."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from tests.helpers.command_line import COMMAND, ENVIRONMENT, answer, cocco, write_json

TOTALS = {
    "subgraphs", "ema_bytes", "ema_weight_bytes", "ema_input_bytes", "ema_output_bytes", "energy_pj", "compute_cycles",
    "latency_cycles", "latency_executed_cycles", "bandwidth_mean_bytes_per_cycle", "bandwidth_peak_bytes_per_cycle",
    "compulsory_bytes", "utilization", "utilization_executed",
}  # fmt: skip
SUBGRAPH = {
    "layers", "tile", "activation_bytes", "weight_bytes", "ema_weight_bytes", "ema_input_bytes", "ema_output_bytes",
    "ema_bytes", "compute_cycles", "latency_cycles", "energy_pj", "energy_breakdown", "at_once", "loops",
    "utilization",
}  # fmt: skip
BREAKDOWN = {"dram", "global_buffer", "weight_buffer", "compute", "crossbar"}
BLOCK = ["pool1", "s1b1_a", "s1b1_b", "s1b1_c", "s1b1_shortcut", "s1b1_add"]


@pytest.fixture
def fused(tmp_path: Path) -> Path:
    """A partition file in which ResNet50's first block runs as one."""
    return write_json(tmp_path / "fused.json", {"network": "resnet50", "subgraphs": [BLOCK]})


def test_networks_lists_all_built_in_networks():
    content = answer(cocco("networks", "--json"))
    assert content.keys() == {"networks"}
    assert [row["name"] for row in content["networks"]] == list(workloads.names())
    assert all(row.keys() == {"name", "layers", "edges", "macs", "weight_bytes"} for row in content["networks"])
    vgg = next(row for row in content["networks"] if row["name"] == "vgg16")
    assert (vgg["layers"], vgg["edges"]) == (21, 20)  # 13 convolutions, 5 pools, 3 fully connected, in a chain


def test_networks_prints_a_table_for_people():
    finished = cocco("networks")
    assert finished.returncode == 0 and finished.stderr == ""
    assert "resnet50" in finished.stdout and "GMAC" in finished.stdout


def test_show_lists_layers_with_their_shapes():
    content = answer(cocco("show", "resnet50", "--json"))
    assert content.keys() == {"name", "layers", "edges", "macs", "weight_bytes", "inputs", "numbers"}
    assert content["inputs"] == [{"name": "image", "shape": [1, 3, 224, 224], "kind": "input"}]
    assert len(content["layers"]) == 72
    assert content["layers"][0] == {
        "name": "conv1", "op": "conv", "inputs": ["image"], "out_shape": [1, 64, 112, 112],
        "macs": 7 * 7 * 3 * 64 * 112 * 112, "weight_bytes": 7 * 7 * 3 * 64,
    }  # fmt: skip
    assert content["macs"] == sum(layer["macs"] for layer in content["layers"])


def test_show_reads_a_network_file(tmp_path: Path):
    workloads.save(workloads.load("vgg16"), tmp_path / "mine.json")
    assert "conv1_1" in cocco("show", "mine.json", folder=tmp_path).stdout
    assert answer(cocco("show", "mine.json", "--json", folder=tmp_path)) == answer(cocco("show", "vgg16", "--json"))


def test_evaluate_prints_what_the_design_promises():
    content = answer(cocco("evaluate", "resnet50", "--partition", "layerwise", "--json"))
    assert content.keys() == {
        "network", "accelerator", "tile_rule", "metric", "totals", "subgraphs", "verified"
    }  # fmt: skip
    assert (content["network"], content["tile_rule"], content["verified"]) == ("resnet50", "exact", None)
    assert content["totals"].keys() == TOTALS
    assert len(content["subgraphs"]) == content["totals"]["subgraphs"] == 72
    for subgraph in content["subgraphs"]:
        assert subgraph.keys() == SUBGRAPH
        assert subgraph["energy_breakdown"].keys() == BREAKDOWN
        assert len(subgraph["tile"]) == 2


def test_evaluate_prints_the_numbers_of_the_simulator(fused: Path):
    finished = cocco("evaluate", "resnet50", "--partition", fused, "--shared-buffer", "1344KB", "--cores", 2, "--json")
    network = workloads.load("resnet50")
    accelerator = Accelerator(shared_buffer=1344 * KiB, cores=2)
    expected = evaluate(network, Partition.from_groups(network, [BLOCK]), accelerator)
    assert answer(finished) == json.loads(json.dumps(expected.to_json() | {"verified": None}))


def test_default_hardware_is_the_paper_s():
    accelerator = answer(cocco("evaluate", "vgg16", "--partition", "layerwise", "--json"))["accelerator"]
    assert accelerator["global_buffer"] == 1024 * 1024 and accelerator["weight_buffer"] == 1152 * 1024
    assert accelerator["shared_buffer"] is None
    assert "1MB global buffer and 1152KB weight buffer" in cocco("evaluate", "--help").stdout


@pytest.mark.parametrize("size", ["2097152", "2048KB", "2048KiB", "2MB", "2mb", "2.0MiB", "2097152B", "2 MB"])
def test_sizes_may_be_written_in_several_ways(size: str):
    finished = cocco("evaluate", "vgg16", "--partition", "layerwise", "--shared-buffer", size, "--json")
    assert answer(finished)["accelerator"]["shared_buffer"] == 2 * 1024 * 1024


def test_evaluate_for_people_starts_with_hardware_and_totals(fused: Path):
    finished = cocco("evaluate", "resnet50", "--partition", fused)
    assert finished.returncode == 0 and finished.stderr == ""
    first = finished.stdout.splitlines()[0]
    assert first == "resnet50 in 67 subgraphs on a global buffer of 1024 KB and a weight buffer of 1152 KB"
    assert "--json prints all of them" in finished.stdout  # 67 rows are too many for a screen
    for unit in ("MB", "mJ", "ms", "GB/s", "mm2"):
        assert unit in finished.stdout


def test_infeasible_is_an_answer_with_exit_code_1(fused: Path):
    arguments = ("evaluate", "resnet50", "--partition", fused, "--global-buffer", "8KB", "--weight-buffer", "1MB")
    content = answer(cocco(*arguments, "--json"), code=1)
    assert content.keys() == {"status", "infeasible"} and content["status"] == "infeasible"
    (failure,) = content["infeasible"]
    assert failure.keys() == {"layers", "reason", "needed_bytes", "available_bytes"}
    assert failure["layers"] == BLOCK and failure["available_bytes"] == 8192 < failure["needed_bytes"]
    finished = cocco(*arguments)
    assert finished.returncode == 1 and finished.stderr == ""
    assert finished.stdout.startswith("Infeasible: ") and str(failure["needed_bytes"]) in finished.stdout


def test_verify_passes_for_the_exact_rule(fused: Path):
    finished = cocco("evaluate", "resnet50", "--partition", fused, "--verify", "--json")
    assert answer(finished)["verified"] is True
    assert "Verified" in cocco("evaluate", "resnet50", "--partition", fused, "--verify").stdout


def test_verify_names_the_tensor_that_the_paper_s_rule_loses(fused: Path):
    finished = cocco("evaluate", "resnet50", "--partition", fused, "--tile-rule", "paper", "--verify", "--json")
    assert answer(finished, code=1)["verified"] is False
    assert "verification failed" in finished.stderr and "'pool1'" in finished.stderr


def test_yaml_partition_files_are_read(tmp_path: Path):
    (tmp_path / "plan.yaml").write_text("network: vgg16\nsubgraphs:\n- [conv1_1, conv1_2]\n")
    content = answer(cocco("evaluate", "vgg16", "--partition", "plan.yaml", "--json", folder=tmp_path))
    assert content["subgraphs"][0]["layers"] == ["conv1_1", "conv1_2"]


def test_a_reader_that_leaves_early_is_no_error():
    with subprocess.Popen(
        [*COMMAND, "show", "nasnet", "--json"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_help_explains_sizes_and_exit_codes():
    text = " ".join(cocco("explore", "--help").stdout.split())
    assert "1 KB = 1 KiB = 1024 bytes" in text and "exit status" in text


def test_the_same_question_has_the_same_bytes(fused: Path):
    arguments = ("evaluate", "resnet50", "--partition", fused, "--json")
    assert cocco(*arguments).stdout == cocco(*arguments).stdout


def test_a_buffer_whose_unit_was_forgotten_is_noted():
    finished = cocco("partition", "vgg16", "--shared-buffer", 896, "--method", "greedy", "--keep", "none")
    assert finished.stderr.startswith("cocco: note: --shared-buffer 896 is 896 bytes")
    assert "896KB would be 896 KB" in finished.stderr
    finished = cocco("partition", "vgg16", "--shared-buffer", "896KB", "--method", "greedy", "--keep", "none")
    assert "note" not in finished.stderr
