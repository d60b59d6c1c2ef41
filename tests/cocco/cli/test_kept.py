"""cocco evaluate --keep and plans with kept tensors at the real command line: what is chosen, written and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command_line import answer, assert_malformed, cocco, write_json
from tests.helpers.parts import first_of

pytestmark = pytest.mark.usefixtures("undrawn")

CHIP = ("--shared-buffer", "1MB")
BLOCKS = [["conv1", "pool1"], ["s1b1_*"], ["s1b2_a..s1b2_c"], ["s1b2_add"]]


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    return write_json(tmp_path / "mine.json", {"network": "resnet50", "subgraphs": BLOCKS})


def evaluate(*words: object, folder: Path | None = None):
    return cocco("evaluate", "resnet50", "--partition", *words, folder=folder)


def test_keep_auto_chooses_saves_and_never_costs_more(by_hand: Path, tmp_path: Path):
    """The plan that is written is priced to the byte as it was chosen, and runs."""
    plain = answer(evaluate(by_hand, *CHIP, "--json"))
    found = answer(evaluate(by_hand, *CHIP, "--keep", "auto", "-o", tmp_path / "kept.json", "--json"))
    assert "keep" not in plain and "choice" not in plain
    assert found["choice"] == {"metric": "energy", "exact": True, "given": plain["totals"]}
    assert found["totals"]["energy_pj"] < plain["totals"]["energy_pj"]
    assert found["totals"]["kept_saved_bytes"] == plain["totals"]["ema_bytes"] - found["totals"]["ema_bytes"] > 0
    assert all(each.keys() == {"tensor", "from", "until", "bytes"} for each in found["keep"])
    assert all(each["kept_bytes"] >= 0 for each in found["subgraphs"])
    written = json.loads((tmp_path / "kept.json").read_text())
    assert written["keep"] == [{k: each[k] for k in ("tensor", "from", "until")} for each in found["keep"]]
    again = answer(evaluate(tmp_path / "kept.json", *CHIP, "--verify", "--json"))
    assert (again["totals"], again["keep"], again["verified"]) == (found["totals"], found["keep"], True)
    shown = {"subgraphs": [each["layers"] for each in found["subgraphs"]], "keep": found["keep"]}
    assert all(each["bytes"] > 0 for each in shown["keep"])
    read = answer(evaluate(write_json(tmp_path / "shown.json", shown), *CHIP, "--json"))
    assert (read["totals"], read["keep"]) == (found["totals"], found["keep"])


def test_keep_none_prices_the_subgraphs_alone(tmp_path: Path, by_hand: Path):
    kept = write_json(tmp_path / "kept.json", {"subgraphs": BLOCKS, "keep": ["pool1"]})
    assert answer(evaluate(kept, *CHIP, "--json"))["keep"]
    assert answer(evaluate(kept, *CHIP, "--keep", "none", "--json")) == answer(evaluate(by_hand, *CHIP, "--json"))


def test_people_read_what_was_chosen_and_why_not_more(by_hand: Path):
    text = evaluate(by_hand, *CHIP, "--keep", "auto", "--explain").stdout
    head = text.splitlines()[0]
    assert head.startswith("Kept on chip for the least energy: ") and " mJ less than as it was given (" in head
    assert "activations      kept" in text  # a column of the table of subgraphs
    for words in ("kept tensor", "from step", "not kept", "lacks", "room", "needs", "free"):
        assert words in text, words


def test_explained_reasons_are_in_the_json(by_hand: Path):
    found = answer(evaluate(by_hand, *CHIP, "--keep", "auto", "--explain", "--json"))
    assert found["kept_because"][0].keys() == {
        "tensor", "from", "until", "bytes", "from_step", "until_step", "reads", "written", "saved_bytes",
    }  # fmt: skip
    assert [room["position"] for room in found["rooms"]] == list(range(len(found["subgraphs"])))
    for room, cost in zip(found["rooms"], found["subgraphs"]):
        assert room["kept_bytes"] == cost["kept_bytes"]
        assert room["free_bytes"] == room["capacity_bytes"] - room["kept_bytes"] - room["needed_bytes"] >= 0
    lacking = [each for each in found["not_kept"] if each["missing_bytes"]]
    assert lacking and all(each["step"] is not None for each in lacking)
    assert "rooms" not in answer(evaluate(by_hand, *CHIP, "--explain", "--json"))


@pytest.mark.parametrize("size", first_of(["64KB", "16KB"], 1))
def test_layer_by_layer_in_a_small_memory_costs_no_more(size):
    found = answer(evaluate("layerwise", "--shared-buffer", size, "--keep", "auto", "--json"))
    assert found["totals"]["energy_pj"] <= found["choice"]["given"]["energy_pj"]


def test_o_writes_what_was_asked_for(by_hand: Path, tmp_path: Path):
    assert_malformed(evaluate(by_hand, "-o", tmp_path / "plan.json"), ["-o", "--keep"])
    assert_malformed(evaluate(by_hand, "--keep", "auto", "-o", tmp_path / "plan.csv"), ["-o", "--addresses"])
    assert_malformed(evaluate(by_hand, "--keep", "auto", "-o", tmp_path / "plan.txt"), [".csv", ".json", ".yaml"])
    assert_malformed(evaluate(by_hand, "--keep", "all"), ["--keep", "auto", "none"])


def test_subgraphs_that_do_not_run_whatever_is_kept_say_so(tmp_path: Path):
    plan = write_json(tmp_path / "deep.json", {"subgraphs": [["s4b1_a..s4b3_add"]]})
    finished = evaluate(plan, *CHIP, "--keep", "auto")
    assert finished.returncode == 1
    assert finished.stdout.startswith(
        "Kept on chip: as it was given; nothing was found with which these subgraphs run."
    )
    assert answer(evaluate(plan, *CHIP, "--keep", "auto", "--json"), code=1)["choice"]["given"] is None


def test_the_plan_that_was_chosen_is_executed_placed_and_traced(by_hand: Path, tmp_path: Path):
    words = ("--keep", "auto", "--verify", "--addresses", "--explain", "--trace", tmp_path / "t.json", "--json")
    found = answer(evaluate(by_hand, "--shared-buffer", "2MB", *words))
    assert found["verified"] is True and found["addresses"]
    slices = [
        each for each in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if each.get("cat") == "kept"
    ]
    assert [each["name"] for each in slices] == [each["tensor"] for each in found["keep"]]
