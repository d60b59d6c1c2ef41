"""--plans, the space that an answer names, and the bound of any schedule: in JSON, text, and on the page of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workloads
from cocco.bounds.any_schedule import any_schedule_bound_bytes
from simulator import Accelerator, KiB
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.pages import page_of
from tests.helpers.tiny_network import write_tiny

pytestmark = pytest.mark.usefixtures("undrawn")

CHIP = ("--shared-buffer", "24KB")
SPACE = ("--range", "16KB:48KB:16KB", "--samples", 100)
PAPER = ["held subgraphs", "single layers in loop orders", "connected by edges"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_tiny(tmp_path_factory.mktemp("network") / "tiny.json")


def test_an_answer_names_its_space_and_what_any_schedule_moves(tiny: str):
    asked = ("partition", tiny, *CHIP, "--metric", "ema")
    content = answer(cocco(*asked, "--json"))
    assert content["space"][:2] == PAPER[:2] and "kept tensors" in content["space"]
    bound = any_schedule_bound_bytes(workloads.load(tiny), Accelerator(shared_buffer=24 * KiB))
    assert content["any_schedule_bound_bytes"] == bound <= content["lower_bound"]
    text = " ".join(cocco(*asked).stdout.split())
    assert f"among {', '.join(content['space'])} any schedule moves at least" in text and f"{bound:,} bytes" in text


def test_the_plans_of_the_paper_keep_nothing(tiny: str):
    """In every command that has a search; JSON says so in the accelerator as well."""
    content = answer(cocco("partition", tiny, *CHIP, "--plans", "paper", "--json"))
    assert (content["space"], content["accelerator"]["plans"]) == (PAPER, "paper")
    assert not content.get("keep") and content["status"] == "optimal"
    for command in ("explore", "pareto"):
        assert answer(cocco(command, tiny, *SPACE, "--plans", "paper", "--json"))["space"] == PAPER
    limited = answer(cocco("explore", tiny, *SPACE, "--minimize", "energy", "--limit", "capacity=48KB", "--json"))
    assert "kept tensors" in limited["space"] and limited["any_schedule_bound_bytes"] > 0


def test_the_genetic_algorithm_of_the_paper_has_its_plans(tiny: str):
    for more, space in ((), PAPER), (("--keep", "auto"), None), (("--plans", "all"), None):
        asked = ("partition", tiny, *CHIP, "--plain", "--samples", 100, *more, "--json")
        assert (answer(cocco(*asked))["space"] == PAPER) == (space is PAPER)


def test_a_file_with_kept_tensors_is_evaluated_without_them(tiny: str, tmp_path: Path):
    plan = {"network": "tiny", "subgraphs": [], "keep": [{"tensor": "a1", "from": "a1", "until": "a2"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    asked = ("evaluate", tiny, "--partition", tmp_path / "plan.json", "--shared-buffer", "64KB", "--json")
    assert answer(cocco(*asked))["keep"] and "keep" not in answer(cocco(*asked, "--plans", "paper"))


def test_contradictions_are_said_in_one_line(tiny: str, tmp_path: Path):
    for command in (("partition", tiny, *CHIP), ("explore", tiny, *SPACE), ("pareto", tiny, *SPACE),
                    ("evaluate", tiny, "--partition", "layerwise", *CHIP)):  # fmt: skip
        told = cocco(*command, "--plans", "paper", "--keep", "auto")
        assert_malformed(told, ["--keep auto", "--plans paper"])
    told = cocco("partition", tiny, *CHIP, "--plans", "paper", "--connected", "all")
    assert_malformed(told, ["--connected all", "--plans paper"])
    (tmp_path / "chip.yaml").write_text("shared_buffer: 24KB\nplans: paper\n")
    assert answer(cocco("partition", tiny, "--hardware", tmp_path / "chip.yaml", "--json"))["space"] == PAPER


def test_what_several_cores_leave_out_is_said(tiny: str):
    told = " ".join(cocco("partition", tiny, *CHIP, "--cores", 2, "--samples", 50).stdout.split())
    assert "not tried attention in blocks" in told and "for one core" in told
    assert "not tried" not in cocco("partition", tiny, *CHIP, "--cores", 2, "--samples", 50, "--plans", "paper").stdout


def test_a_run_folder_keeps_both_and_its_page_shows_them(tiny: str, tmp_path: Path):
    """`evaluate --verify` compares them with what they must be."""
    folder = tmp_path / "run"
    content = answer(cocco("explore", tiny, *SPACE, "-o", folder, "--json"))
    assert answer(cocco("evaluate", folder, "--verify", "--json"))["verified"]
    assert cocco("report", folder).returncode == 0
    text = " ".join(page_of(folder).texts)
    assert ", ".join(content["space"]) in text and "off chip that any schedule must move" in text
    result = json.loads((folder / "result.json").read_text())
    result["result"]["any_schedule_bound_bytes"] += 1
    (folder / "result.json").write_text(json.dumps(result))
    assert_malformed(cocco("evaluate", folder, "--verify"), ["any_schedule_bound_bytes", "worked out again"])
