"""`cocco map` as a user runs it: answers, the loop nest, machines in files, what is malformed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cocco.mapping import map_layer
from cocco.mapping.layer_lists import layers_of, read_layers
from simulator.mapping import SIMBA, LayerMapping, LayerShape, evaluate, read_architecture
from tests.helpers.command_line import answer, assert_malformed, cocco
from workloads.network.layers.layer import Layer

HEAD = "layer,count,R,S,P,Q,C,K,N,stride_w,stride_h,dilation_w,dilation_h,macs\n"
ONE = "one,2,3,3,8,8,16,32,1,1,1,0,1,294912\n"
TWO = "two,1,1,1,4,4,32,16,1,2,2,1,1,8192\n"
SIMBA_YAML = """
name: two-level
macs: 8
levels:
  - {name: buffer, entries: 4096, instances: 1, stores: {W: 0.5, I: 0.25, O: 0.25}, fanout: 8}
  - {name: DRAM, stores: {W: 1, I: 1, O: 1}}
dram_read_words_per_cycle: 4
"""


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(lines))
    return path


def test_json_has_the_keys_of_the_contract_and_totals_weigh_by_count(tmp_path: Path):
    found = answer(cocco("map", write(tmp_path / "l.csv", HEAD, ONE, TWO), "--method", "cosa", "--json"))
    assert list(found) == ["source", "method", "architecture", "rules", "totals", "layers"]
    assert (found["source"], found["method"], found["architecture"]) == ("l.csv", "cosa", "simba")
    assert {"halo", "stride_rule", "multicast", "weights"} <= found["rules"].keys()
    assert {"layers": 3, "distinct": 2, "macs": 2 * 294912 + 8192}.items() <= found["totals"].items()
    one, two = found["layers"]
    assert list(one) == [
        "name", "count", "shape", "status", "objective", "objective_parts", "objective_bound", "cycles",
        "compute_cycles", "bound_cycles", "utilization", "energy_pj", "accesses", "mapping", "evaluations", "valid",
    ]  # fmt: skip
    for name in ("cycles", "bound_cycles", "energy_pj"):
        assert found["totals"][name] == pytest.approx(2 * one[name] + two[name])
    weights, parts = found["rules"]["weights"], one["objective_parts"]
    signs = {"compute": 1, "utilization": -1, "traffic": 1}
    assert one["objective"] == pytest.approx(sum(signs[name] * weights[name] * parts[name] for name in parts))
    assert one["status"] == "optimal" and one["objective_bound"] <= one["objective"]
    shape = LayerShape(3, 3, 8, 8, 16, 32)
    mapping = LayerMapping.of([(each["spatial"], each["temporal"]) for each in one["mapping"]])
    judged = evaluate(mapping, shape, SIMBA)
    assert json.loads(json.dumps(judged.to_json())) == {name: one[name] for name in judged.to_json()}
    assert [each["level"] for each in one["mapping"]] == list(SIMBA.names)


def test_the_same_question_has_the_same_bytes_and_a_file_holds_them(tmp_path: Path):
    layers = write(tmp_path / "l.csv", HEAD, ONE)
    for method in (("cosa",), ("climb", "--samples", 3)):
        words = ("map", layers, "--method", *method, "--seed", 4, "--json")
        first = cocco(*words, "-o", tmp_path / "out.json")
        assert first.returncode == 0, first.stderr
        assert first.stdout == (tmp_path / "out.json").read_text()
        assert first.stdout == cocco(*words).stdout


def test_people_get_the_loop_nest_and_a_table(tmp_path: Path):
    """The closed form of 8 x 8 x 16 x 32, 3 x 3: 1024 lanes at work, 294912 / 1024 = 288 cycles, 576 for two."""
    finished = cocco("map", write(tmp_path / "l.csv", HEAD, ONE))
    assert finished.returncode == 0
    assert "one: R3 S3 P8 Q8 C16 K32 N1\n  # PE array\n" in finished.stdout
    assert "parallel for k in 0..7\n" in finished.stdout and "multiply, accumulate" in finished.stdout
    row = next(line for line in finished.stdout.splitlines() if line.startswith("  one"))
    assert row.split()[:3] == ["one", "2", "optimal"]
    found = answer(cocco("map", tmp_path / "l.csv", "--json"))
    assert found["layers"][0]["compute_cycles"] == 288 and found["layers"][0]["objective"] is None
    fixed = answer(cocco("map", tmp_path / "l.csv", "--fixed-axes", "K,C", "--json"))
    assert fixed["layers"][0]["compute_cycles"] == 576  # C 16 on 32 lanes: half idle


def test_a_network_is_its_distinct_shapes_with_counts():
    found = answer(cocco("map", "resnet50", "--json"))
    assert found["source"] == "resnet50" and found["totals"]["layers"] == 54
    assert found["totals"]["distinct"] == len(found["layers"]) < 54
    assert sum(each["count"] for each in found["layers"]) == 54
    assert found["totals"]["utilization"] > 0.9
    assert all(each["cycles"] >= each["bound_cycles"] - 1e-9 for each in found["layers"])


def test_a_machine_in_a_file(tmp_path: Path):
    arch = read_architecture(write(tmp_path / "m.yaml", SIMBA_YAML))
    assert (arch.name, arch.macs, arch.levels[1].entries, arch.dram_read_words_per_cycle) == ("two-level", 8, None, 4)
    found = answer(
        cocco("map", write(tmp_path / "l.csv", HEAD, TWO), "--method", "cosa", "--arch", tmp_path / "m.yaml", "--json")
    )
    assert found["architecture"] == "two-level" and found["layers"][0]["compute_cycles"] >= 1024
    with pytest.raises(ValueError, match="two fan-outs of lanes"):
        map_layer(LayerShape(1, 1, 1, 1, 1, 1), arch, "closed")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("entries: 4096, ", ""), ("level 'buffer' lacks its capacity",)),
        (("stores: {W: 0.5", "stores: {X: 0.5"), ("level 'buffer'", "W, I or O")),
        (("W: 0.5", "W: 0.9"), ("shares", "1.4")),
        (("W: 0.5, ", ""), ("no level on the chip stores W",)),
        (("fanout: 8", "fanout: 0"), ("fanout", "got 0")),
        (("macs: 8", "macs: 9"), ("product of the fan-outs, 8, got 9",)),
        (("macs: 8", "lanes: 8"), ("'lanes'", "known are")),
        (("levels:", "levels: 3\nmore:"), ("'more'",)),
        (("dram_read_words_per_cycle: 4", "dram_read_words_per_cycle: 0"), ("dram_read_words_per_cycle", "got 0")),
        (("name: DRAM, ", "name: DRAM, entries: 5, "), ("level 'DRAM'",)),
    ],
)
def test_a_malformed_machine_is_named(tmp_path: Path, change: tuple[str, str], words: tuple[str, ...]):
    assert change[0] in SIMBA_YAML
    path = write(tmp_path / "m.yaml", SIMBA_YAML.replace(*change))
    with pytest.raises(ValueError) as raised:
        read_architecture(path)
    assert all(word in str(raised.value) for word in ("m.yaml", *words)), raised.value


def test_a_core_whose_level_lacks_a_capacity_is_one_line(tmp_path: Path):
    path = write(tmp_path / "m.yaml", SIMBA_YAML.replace("entries: 4096, ", ""))
    layers = write(tmp_path / "l.csv", HEAD, TWO)
    assert_malformed(cocco("map", layers, "--arch", path), ("m.yaml", "level 'buffer' lacks its capacity"))


def test_a_bad_row_does_not_end_the_run_and_the_code_is_2(tmp_path: Path):
    bad = ("zero,1,3,3,0,8,16,32,1,1,1,1,1,\n", "minus,1,3,3,8,8,-16,32,1,1,1,1,1,\n", "few,1,3\n")
    more = ("text,1,3,3,8,8,x,32,1,1,1,1,1,\n", "sum,1,3,3,8,8,16,32,1,1,1,1,1,5\n", "none,0,1,1,1,1,1,1,1,1,1,1,1,\n")
    finished = cocco("map", write(tmp_path / "l.csv", HEAD, ONE, *bad, *more, TWO), "--json")
    found = answer(finished, code=2)
    states = {each["name"]: each["status"] for each in found["layers"]}
    assert states == dict.fromkeys(("zero", "minus", "few", "text", "sum", "none"), "error") | {
        "one": "optimal", "two": "optimal"
    }  # fmt: skip
    said = {each["name"]: each["error"] for each in found["layers"] if each["status"] == "error"}
    assert "P must be an integer from 1" in said["zero"] and "got 0" in said["zero"] and "line 3" in said["zero"]
    assert "C must be" in said["minus"] and "3 cells" in said["few"] and "C must be a whole number" in said["text"]
    assert "the extents come to 294912" in said["sum"] and "count must be" in said["none"]
    errors = [line for line in finished.stderr.splitlines() if line.startswith("cocco: error: ")]
    assert len(errors) == 1 and "zero: line 3: P must be" in errors[0] and "and 5 more" in errors[0]
    assert found["totals"]["layers"] == 9 and found["totals"]["macs"] == 2 * 294912 + 8192


def test_every_bad_row_is_named_for_people(tmp_path: Path):
    finished = cocco("map", write(tmp_path / "l.csv", HEAD, "few,1,3\n", ONE, "less,1\n"))
    assert finished.returncode == 2
    assert "few: error: line 2: has 3 cells" in finished.stdout and "less: error: line 4: has 2" in finished.stdout


def test_a_list_of_bad_rows_alone_is_one_line_and_no_json(tmp_path: Path):
    bad = write(tmp_path / "l.csv", HEAD, "few,1,3\n", "less,1\n")
    assert_malformed(cocco("map", bad, "--json"), ("few: line 2: has 3 cells", "and 1 more"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("is empty", "stride_w")),
        (HEAD.replace(",K,", ","), ("the column K is missing",)),
        (HEAD.replace(",K,", ",C,"), ("the column K is missing",)),
        (HEAD.replace(",macs", ",C"), ("the column C stands there twice",)),
        (HEAD, ("has no layers",)),
        ('"open', ("is not CSV",)),
    ],
)
def test_a_malformed_table_is_named(tmp_path: Path, text: str, words: tuple[str, ...]):
    path = write(tmp_path / "bad.csv", text)
    with pytest.raises(ValueError) as raised:
        read_layers(path)
    assert all(word in str(raised.value) for word in ("bad.csv", *words)), raised.value


def test_a_table_without_a_column_is_one_line(tmp_path: Path):
    path = write(tmp_path / "bad.csv", HEAD.replace(",K,", ","), ONE)
    assert_malformed(cocco("map", path), ("bad.csv", "the column K is missing"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fixed-axes", "K,X"), ("K, C, P, Q",)),
        (("--limit", "0"), ("above 0",)),
        (("--arch", "there-is-none.yaml"), ("there-is-none.yaml",)),
    ],
)
def test_malformed_options_are_one_line(tmp_path: Path, options: tuple[str, ...], words: tuple[str, ...]):
    assert_malformed(cocco("map", write(tmp_path / "l.csv", HEAD, ONE), *options), words)


def test_a_layer_without_mapping_is_exit_1(tmp_path: Path):
    tight = SIMBA_YAML.replace("entries: 4096", "entries: 2").replace("W: 0.5, I: 0.25, O: 0.25", "W: .3, I: .3, O: .3")
    write(tmp_path / "m.yaml", tight)
    layers = write(tmp_path / "l.csv", HEAD, ONE)
    words = ("map", layers, "--arch", tmp_path / "m.yaml", "--method", "cosa")
    found = answer(cocco(*words, "--json"), code=1)
    assert found["layers"][0]["status"] == "infeasible" and found["layers"][0]["cycles"] is None
    assert "infeasible" in cocco(*words).stdout


def test_depthwise_rows_are_mapped_by_every_method(tmp_path: Path):
    head, row = HEAD.replace("macs", "groups"), "d,1,3,3,8,8,1,32,1,1,1,1,1,32\n"
    write(tmp_path / "l.csv", head, row)
    for method in ("cosa", "climb"):
        found = answer(cocco("map", tmp_path / "l.csv", "--method", method, "--json"))["layers"][0]
        assert found["cycles"] >= found["bound_cycles"] and '"G"' in json.dumps(found["mapping"])
    assert answer(cocco("map", tmp_path / "l.csv", "--json"))["layers"][0]["compute_cycles"] == 288
    assert read_layers(tmp_path / "l.csv")[0].shape == LayerShape(3, 3, 8, 8, 1, 32, groups=32)


def test_layers_of_a_network_keep_widths_apart_from_heights():
    """R, P, stride (0) are of the width; two heads of a product are groups."""
    layer = Layer("c", "conv", ("x",), 5, 7, 8, 4, (1, 3), (2, 1), dilation=(1, 2))
    assert LayerShape.of_layer(layer) == LayerShape(3, 1, 7, 5, 4, 8, 1, (1, 2), 1, (2, 1))
    product = Layer("m", "matmul", ("a", "b"), 8, 1, 16, 16, groups=2, whole=(1,))
    assert LayerShape.of_layer(product, samples=3) == LayerShape(1, 1, 1, 8, 8, 16, 3, groups=2)
    import workloads

    rows: list[Any] = layers_of(workloads.load("vgg16"))
    assert sum(row.times * row.shape.macs for row in rows) == workloads.load("vgg16").macs
