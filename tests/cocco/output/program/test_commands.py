"""A plan as data: it has the keys of its schema, and the reader of the documentation adds up what is printed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from cocco.output.program.commands import plan_commands
from simulator import evaluate
from tests.helpers.command_line import ROOT, cocco
from tests.helpers.random_runs import random_run

EXAMPLES = ROOT / "docs" / "examples"


def check(value, schema, path="plan"):
    """Compare a value with what the schema says of it: types, required keys, and no key that it does not know."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert isinstance(value, tuple(kinds[each] for each in types)), path
    assert value in schema.get("enum", [value]), path
    for key in schema.get("required", ()):
        assert key in value, f"{path}.{key}"
    for key, each in value.items() if "properties" in schema else ():
        assert key in schema["properties"], f"{path}.{key}"
        check(each, schema["properties"][key], f"{path}.{key}")
    for i, each in enumerate(value) if "items" in schema else ():
        check(each, schema["items"], f"{path}[{i}]")


def read(path):
    """Run the reader of the documentation."""
    return subprocess.run(
        [sys.executable, EXAMPLES / "read_plan.py", path], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("kind", ["graphs", "chains", "epilogues"])
@pytest.mark.parametrize("seed", range(6))
def test_a_random_plan_has_the_keys_of_the_schema_and_crosses_what_is_printed(kind, seed, tmp_path):
    network, plan, chip = random_run(kind, seed)
    chip, plan = replace(chip, cores=1), replace(plan, schemes=())
    evaluation = evaluate(network, plan, chip)
    if not evaluation.fits:
        return
    try:
        content = plan_commands(network, evaluation)
    except ValueError as refusal:
        assert "has no address map" in str(refusal)
        return
    check(content, json.loads((EXAMPLES / "plan.schema.json").read_text()))
    (tmp_path / "plan.json").write_text(json.dumps(content))
    found = read(tmp_path / "plan.json")
    assert found.returncode == 0, found.stderr
    printed = {name: int(size.replace(",", "")) for name, size, _ in map(str.split, found.stdout.splitlines()[1:])}
    for name, size in (
        ("weights", evaluation.ema_weight_bytes),
        ("inputs", evaluation.ema_input_bytes),
        ("outputs", evaluation.ema_output_bytes),
    ):
        assert printed.get(name, 0) == size


def test_the_reader_finds_an_overlap(tmp_path):
    content = json.loads(cocco("export", "vgg16", "layerwise", "--shared-buffer", "2MB", "--json").stdout)
    regions = content["steps"][0]["regions"]
    regions[1]["first"] = regions[0]["first"] + 8
    (tmp_path / "plan.json").write_text(json.dumps(content))
    assert "is not free" in read(tmp_path / "plan.json").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "export needs --c DIR"),
        (("--verify", "c"), "--verify c builds the program of --c DIR"),
        (("--c", "x", "--cores", "2"), "plan on 2 cores"),
        (("--c", "x", "--tile-rule", "paper"), "tile rule 'paper'"),
        (("--c", "x", "--bits", "weights=bf16"), "weights of layer 'conv1_1': bf16; a program has int8 or int16"),
        (("--c", "x", "--bits", "weights=16"), "weights of layer 'conv1_1': int16, but tensor 'image': int8"),
        (("--c", "x", "--bits", "sums=24"), "layer 'conv1_1': sums of 24 bits; a program has sums of 32"),
    ],
)
def test_what_has_no_program_is_refused_in_one_line(words, message, tmp_path):
    found = cocco("export", "vgg16", "layerwise", *words, folder=tmp_path)
    assert found.returncode == 2 and message in found.stderr and found.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()
