"""cocco evaluate: --explain, --addresses, --verify and --trace each add their part, and none hinders another."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cocco.cli import main
from cocco.output.program import verify
from cocco.output.program.verify import claims_of
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.tiny_network import write_tiny

pytestmark = pytest.mark.usefixtures("undrawn")

QUESTIONS = ("--explain", "--addresses", "--verify", "--trace")
COMBINATIONS = [
    [name for name, is_asked in zip(QUESTIONS, asked) if is_asked] for asked in product((False, True), repeat=4)
]
CHIP = ("--shared-buffer", "1MB")
EXPLAINED = "#0 "  #: begins what --explain says of the first subgraph
PLACED = "Addresses of tiny, bytes of one core:"
VERIFIED = "Verified: executed tile by tile "


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_tiny(tmp_path_factory.mktemp("network") / "tiny.json")


@pytest.fixture
def ask(network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Evaluate in this process: 33 others would take half a minute."""

    def run(*words: str, partition: str = "layerwise", chip: tuple[str, ...] = CHIP) -> tuple[int, str, str]:
        asked = list(words)
        if "--trace" in asked:
            asked.insert(asked.index("--trace") + 1, str(tmp_path / "t.json"))
        code = main(["evaluate", network, "--partition", partition, *chip, *asked])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def alone(network: str) -> dict[str, dict[str, Any]]:
    """What each question says by itself, and what is said without any."""
    words = ("evaluate", network, "--partition", "layerwise", *CHIP, "--json")
    return {name: answer(cocco(*words, *[name] * bool(name))) for name in ("", *QUESTIONS[:3])}


@pytest.mark.parametrize("asked", COMBINATIONS, ids=" ".join)
def test_the_json_of_a_combination_has_the_part_of_each_question_alone(asked, ask, alone, tmp_path):
    whole = dict(alone[""])
    parts = {"--addresses": ["addresses", "places"], "--explain": ["explained", "repaired"]}
    assert whole["verified"] is None
    parts["--verify"] = ["verified", "checks", "subgraph_checks"]
    for name, key in [(name, key) for name, keys in parts.items() for key in keys]:
        if name in asked:
            whole[key] = alone[name][key]
    code, out, err = ask(*asked, "--json")
    assert code == 0 and json.loads(out) == whole
    assert ("trace written" in err) == (tmp_path / "t.json").exists() == ("--trace" in asked)


@pytest.mark.parametrize("asked", COMBINATIONS, ids=" ".join)
def test_the_text_of_a_combination_has_the_part_of_each_question_in_order(asked, ask, tmp_path):
    code, out, _ = ask(*asked)
    assert code == 0 and out.startswith(ask()[1].rstrip("\n"))
    parts = {"--explain": EXPLAINED, "--addresses": PLACED, "--verify": VERIFIED}
    assert {name: f"\n\n{words}" in out for name, words in parts.items()} == {name: name in asked for name in parts}
    places = [out.index(f"\n\n{words}") for name, words in parts.items() if name in asked]
    assert places == sorted(places)
    if "--verify" in asked:
        assert ("at these addresses" in out) == ("--addresses" in asked)
    assert (tmp_path / "t.json").exists() == ("--trace" in asked)


@pytest.mark.parametrize("asked", COMBINATIONS, ids=" ".join)
def test_a_partition_that_cannot_run_has_neither_addresses_nor_trace(asked, ask, tmp_path):
    """All layers in one subgraph of 8 KB: no memory for it, so nothing is placed, executed or drawn."""
    plan = tmp_path / "whole.json"
    plan.write_text(json.dumps({"subgraphs": [["a1", "a2", "a0", "a3", "b1", "b2", "b0", "b3"]]}))
    code, out, err = ask(*asked, "--json", partition=str(plan), chip=("--shared-buffer", "8KB"))
    keys = {"status", "infeasible", *(("explained", "repaired") if "--explain" in asked else ())}
    assert code == 1 and json.loads(out).keys() == keys
    assert ("no trace" in err) == ("--trace" in asked) and not (tmp_path / "t.json").exists()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.usefixtures("unoptimized")
def test_verify_c_says_in_a_line_that_the_program_of_the_plan_ran_as_claimed(ask):
    code, out, _ = ask("--verify", "c", "--addresses")
    assert code == 0 and "The program in C ran with guards and sanitizers" in out and VERIFIED not in out
    content = json.loads(ask("--verify", "c", "--json")[1])
    assert content["verified"] and content["program"]["counted"] == content["program"]["claimed"]


def test_verify_c_without_a_program_or_a_compiler_is_a_line(ask, monkeypatch):
    code, _, err = ask("--verify", "c", "--cores", "2")
    assert code == 2 and "plan on 2 cores: a program has one" in err and err.count("\n") == 1
    monkeypatch.setenv("PATH", "")
    code, _, err = ask("--verify", "c")
    assert code == 2 and "--verify c needs gcc and make" in err and err.count("\n") == 1


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.usefixtures("unoptimized")
def test_verify_c_says_what_differs(ask, monkeypatch):
    monkeypatch.setattr(verify, "claims_of", lambda evaluation: claims_of(evaluation) | {"inputs": 7})
    code, out, _ = ask("--verify", "c")
    assert code == 1 and "The program in C differs: inputs: claimed 7 bytes, counted" in out


def test_the_table_of_addresses_is_written_beside_an_explanation_and_a_trace(ask, tmp_path):
    table = tmp_path / "a.csv"
    code, out, _ = ask("--addresses", "--explain", "--trace", "-o", str(table))
    assert code == 0 and EXPLAINED in out and PLACED in out
    assert table.read_text().startswith("memory,subgraph,tensor,kind,start,end\n")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "a.csv"), ("-o", "--addresses")),
        (("--addresses", "-o", "a.txt"), ("-o", ".csv", "'a.txt'")),
        (("--trace", "t.txt"), ("--trace", ".json", "'t.txt'")),
        (("--explain", "--addresses", "-o", "none/a.csv", "--trace", "file/t.json"), ("file", "cannot be written")),
    ],
)
def test_files_that_cannot_be_are_one_line(words, said, tmp_path):
    (tmp_path / "file").write_text("")
    assert_malformed(cocco("evaluate", "vgg16", "--partition", "layerwise", *words, folder=tmp_path), said)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
