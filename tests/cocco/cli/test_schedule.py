"""cocco schedule as people run it: answers, files, pictures, exit codes, and what is malformed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workloads
from cocco.cli import main
from simulator.schedule.files import read_schedule
from simulator.schedule.operators import operators_of
from simulator.schedule.replay import replay
from tests.helpers.command_line import ENVIRONMENT, answer, assert_malformed, cocco, write_json
from workloads import Builder

KEYS = (
    "network operators tensors scratchpad_bytes parameters granularity method order_from status offchip_bytes "
    "spilled_bytes retrieved_bytes compulsory_bytes lower_bound_bytes gap budgets peak_live_bytes height_bytes packing "
    "cuts windows windows_proved deterministic order segments verified"
).split()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain with a skip: x(64) -> a(128) -> b(96) -> c(96) -> d, a -> d as a concat; M_R 544, M_P 544."""
    b = Builder("skip")
    x = b.input("x", 4, 4, 4)
    a = b.conv("a", x, 8)
    c = b.conv("c", b.conv("b", a, 6), 8)
    b.conv("e", b.conv("d", b.add("sum", [a, c]), 12), 2)
    path = tmp_path_factory.mktemp("net") / "skip.json"
    workloads.save(b.build(), path)
    return path


def test_json_has_the_keys_of_the_contract_and_a_plan_that_replays():
    found = answer(cocco("schedule", "resnet50", "--scratchpad", "minimum", "--parameters", "--json"))
    assert list(found) == KEYS
    assert (found["status"], found["offchip_bytes"], found["lower_bound_bytes"]) == ("optimal", 602_112, 602_112)
    assert (found["method"], found["order_from"], found["gap"], found["verified"]) == ("tight", "free", 0.0, True)
    assert found["budgets"]["minimum_bytes"] == found["scratchpad_bytes"] == 2_409_472
    assert found["budgets"]["peak_proved"] is True and found["deterministic"] is True
    assert found["granularity"] == {"concat": "copy", "input_has_host_copy": False, "alignment": 1}
    assert len(found["order"]) == found["operators"] == 73
    assert found["spilled_bytes"] + found["retrieved_bytes"] == found["offchip_bytes"]


def test_the_same_question_has_the_same_bytes(network: Path):
    words = ("schedule", network, "--scratchpad", "MR", "--parameters", "--json")
    assert cocco(*words).stdout == cocco(*words).stdout


def test_a_written_schedule_replays_and_serves_as_an_order(tmp_path: Path):
    path, picture = tmp_path / "plan.json", tmp_path / "plan.png"
    words = ("schedule", "resnet50", "--scratchpad", "minimum", "--parameters")
    found = answer(cocco(*words, "-o", path, "--picture", picture, "--json"))
    operators = operators_of(workloads.load("resnet50"), parameters=True)
    counted = replay(read_schedule(path), operators, found["scratchpad_bytes"])
    assert not counted.violations and counted.offchip_bytes == found["offchip_bytes"] == 602_112
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = answer(cocco(*words, "--order", path, "--json"))
    assert (again["method"], again["order_from"], again["offchip_bytes"]) == ("gap", "file", 602_112)
    given = answer(cocco(*words, "--check", path, "--json"))
    assert (given["method"], given["offchip_bytes"], given["verified"]) == ("given", 602_112, True)


def test_every_method_answers_and_none_beats_the_optimum(network: Path, capsys: pytest.CaptureFixture[str]):
    def run(method: str) -> dict[str, Any]:
        words = ["schedule", str(network), "--scratchpad", "MR", "--parameters", "--method", method, "--json"]
        assert main(words) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["method"] == method and found["verified"]
        return found

    best = run("tight")
    assert best["status"] == "optimal"
    for method in ("windows", "divide", "paper", "beam", "gap", "belady", "greedy"):
        assert run(method)["offchip_bytes"] >= best["offchip_bytes"], method


def test_a_budget_below_the_minimum_names_the_operator_and_the_bytes():
    found = answer(cocco("schedule", "resnet50", "--scratchpad", "1MB", "--json"), code=1)
    assert (found["status"], found["offchip_bytes"], found["segments"]) == ("infeasible", None, None)
    assert found["infeasible"][0]["layers"] == ["s1b1_add"]
    assert (found["infeasible"][0]["needed_bytes"], found["infeasible"][0]["available_bytes"]) == (2_408_448, 2**20)
    text = cocco("schedule", "resnet50", "--scratchpad", "1MB")
    assert text.returncode == 1 and "s1b1_add needs 2,408,448 bytes, there are 1,048,576" in text.stdout


def test_a_missing_solver_names_the_extra_and_the_rest_works_without(network: Path, tmp_path: Path):
    (tmp_path / "ortools").mkdir()
    (tmp_path / "ortools" / "__init__.py").write_text("raise ImportError('hidden')")
    hidden = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join((str(tmp_path), ENVIRONMENT["PYTHONPATH"]))}

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cocco.cli", "schedule", str(network), "--scratchpad", "MR", *map(str, words)]
        return subprocess.run(command, env=hidden, capture_output=True, text=True, timeout=60, check=False)

    assert_malformed(run("--method", "tight"), ("ortools", "cocco[solvers]"))
    for words in (("--order", "mpmf"), ()):
        assert answer(run(*words, "--json"))["verified"]


def test_a_schedule_that_breaks_a_rule_is_answered_with_step_tensor_and_rule(network: Path, tmp_path: Path):
    path = tmp_path / "plan.json"
    words = ("schedule", network, "--scratchpad", "peak")
    assert cocco(*words, "-o", path).returncode == 0
    content = json.loads(path.read_text())
    first = content["segments"][0]
    first["address"] += 10**6
    assert_malformed(cocco(*words, "--check", write_json(path, content)), ("bounds", "step 0", "'x'"))
    content["order"].reverse()
    assert_malformed(cocco(*words, "--order", write_json(path, content)), ("step 0", "'e'", "before its operand 'd'"))
    missing = cocco(*words, "--check", write_json(path, {"order": [], "segments": []}))
    assert_malformed(missing, ("rule 'order', tensor 'x': operator 'x' never runs",))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scratchpad", "small"), ("--scratchpad", "minimum, half, peak", "'small'")),
        (("--scratchpad", "0"), ("--scratchpad",)),
        ((), ("--scratchpad",)),
        (("--scratchpad", "MR", "--method", "magic"), ("--method", "magic")),
        (("--scratchpad", "MR", "--alignment", "0"), ("--alignment",)),
        (("--scratchpad", "MR", "--limit", "-1"), ("limit must be a number above 0",)),
        (("--scratchpad", "MR", "--method", "tight", "--order", "default"), ("tight", "gap")),
        (("--scratchpad", "MR", "--method", "gap", "--order", "free"), ("gap is for a given order",)),
        (("--scratchpad", "MR", "--order", "nowhere.json"), ("nowhere.json", "cannot be read")),
        (("--scratchpad", "MR", "--picture", "x.gif"), ("--picture", ".png")),
        (("--scratchpad", "MR", "-o", "x.txt"), ("-o", ".json")),
        (("--scratchpad", "MR", "--check", "nowhere.json"), ("nowhere.json",)),
        (("--scratchpad", "MR", "--check", "a.json", "--method", "gap"), ("--check", "--method")),
    ],
)
def test_malformed_command_lines_are_one_line(
    words: tuple[str, ...], said: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    """In this process: another for each would take a second each."""
    code = main(["schedule", "vgg16", *words])
    captured = capsys.readouterr()
    assert_malformed(subprocess.CompletedProcess([], code, captured.out, captured.err), said)


def test_a_malformed_command_line_is_one_line_in_a_process_of_its_own():
    assert_malformed(cocco("schedule", "vgg16", "--scratchpad", "small"), ("minimum, half, peak", "'small'"))
