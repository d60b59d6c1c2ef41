"""cocco evaluate --prove: what it says of runs, of plans, of runs that lie, and of questions without an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cocco import partition
from cocco.bounds.kinds import kinds_of_plans
from simulator import Accelerator, Machine
from tests.helpers.command_line import answer, assert_malformed, cocco, write_json
from tests.helpers.random_graphs import random_network
from tests.helpers.tiny_network import write_tiny
from workloads import save

pytestmark = pytest.mark.usefixtures("undrawn")

RANGE = ("--shared", "--range", "40KB:72KB:8KB", "--alpha", "0.005")
PARTITIONS, EVERYTHING = (list(kinds_of_plans(Machine(), keep)) for keep in ("none", "auto"))


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first six of its layers: a block, and two convolutions of the next."""
    path = Path(write_tiny(tmp_path_factory.mktemp("network") / "tiny.json"))
    content = json.loads(path.read_text())
    return str(write_json(path, content | {"nodes": content["nodes"][:7]}))


@pytest.fixture(scope="module")
def run(network: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that chose one of five memories, with kept tensors, proved."""
    folder = tmp_path_factory.mktemp("runs") / "kept"
    assert cocco("explore", network, *RANGE, "-o", folder).returncode == 0
    return folder


def proved(*words: object, code: int = 0) -> dict[str, Any]:
    found = answer(cocco("evaluate", *words, "--prove", "--json"), code)["second_opinion"]
    assert isinstance(found, dict)
    return found


def test_a_proved_run_is_confirmed_on_its_memory_and_on_all_others(run):
    found = proved(run)
    assert found["status"] == "confirmed" and found["space"] == EVERYTHING
    assert found["other_memories"] == found["confirmed_memories"] == 4
    result = json.loads((run / "result.json").read_text())["result"]
    assert result["status"] == "optimal" and found["least_cost"] == result["totals"]["energy_pj"]
    shown = cocco("evaluate", run, "--prove").stdout
    assert "Second opinion: confirmed." in shown and "any of the other 4 memories of the run" in " ".join(shown.split())


def test_a_run_with_nothing_kept_is_confirmed_among_plans_with_nothing_kept(network, tmp_path):
    """With --keep auto more plans are looked at, and one of them costs less."""
    assert cocco("explore", network, *RANGE, "--keep", "none", "-o", tmp_path / "run").returncode == 0
    found = proved(tmp_path / "run")
    assert (found["status"], found["space"], found["confirmed_memories"]) == ("confirmed", PARTITIONS, 4)
    plan = tmp_path / "run" / "partition.json"
    assert proved(network, plan)["space"] == PARTITIONS
    more = proved(network, plan, "--keep", "auto", code=1)
    assert (more["status"], more["space"]) == ("refuted", EVERYTHING)


def test_a_run_that_lies_is_refuted_by_a_cheaper_plan_that_can_be_priced(network, tmp_path):
    """What two samples found is called the optimum, with a bound to match: every other number is that of the plan."""
    folder = tmp_path / "lie"
    weak = ("--keep", "none", "--method", "sa", "--samples", "2", "--seed", "1")
    assert cocco("explore", network, *RANGE, *weak, "-o", folder).returncode == 0
    content = json.loads((folder / "result.json").read_text())
    content["result"] |= {"status": "optimal", "gap": 0.0, "lower_bound": content["result"]["cost"]}
    (folder / "result.json").write_text(json.dumps(content))
    found = proved(folder, code=1)
    assert found["status"] == "refuted" and found["least_cost"] < found["claimed_cost"]
    better = tmp_path / "better.json"
    better.write_text(json.dumps(found["better"]["plan"]))
    priced = answer(cocco("evaluate", network, better, "--json"))["totals"]["energy_pj"]
    assert priced == found["better"]["cost"] == found["least_cost"]
    finished = cocco("evaluate", folder, "--prove")
    assert finished.returncode == 1 and "Second opinion: refuted. A plan costs" in finished.stdout


def test_a_memory_that_is_not_the_cheapest_choice_is_refuted_by_another(run, network, tmp_path):
    """The best plan of the largest memory, and a folder that recommends it."""
    large = ("--shared", "--range", "72KB:72KB:8KB", "--alpha", "0.005")
    assert cocco("explore", network, *large, "-o", tmp_path / "large").returncode == 0
    path = tmp_path / "large" / "result.json"
    content = json.loads(path.read_text())
    content["settings"]["space"]["shared_buffer"]["low"] = 40960
    del content["result"]["ranges"]  # as in a folder of version 0.1: what it says of other sizes would be compared
    path.write_text(json.dumps(content))
    found = proved(tmp_path / "large", code=1)
    assert found["status"] == "refuted" and found["least_cost"] == found["claimed_cost"]
    assert found["better"]["plan"]["accelerator"]["shared_buffer"] < 73728


def test_a_plan_on_other_hardware_is_looked_at_alone(run):
    assert "other_memories" not in proved(run, "--max-regions", "32")
    shown = " ".join(cocco("evaluate", run, "--prove", "--max-regions", "32").stdout.split())
    assert "Second opinion: confirmed." in shown and "only this plan on this memory was looked at" in shown


def test_it_gives_up_after_as_many_steps_as_it_may_take(run, network):
    found = proved(run, "--steps", "300", code=1)
    assert found["status"] == "gave_up" and found["least_cost"] is None and found["confirmed_memories"] == 0
    enough = proved(network, run / "partition.json")["steps"]
    one = proved(run, "--steps", enough)
    assert (one["status"], one["confirmed_memories"]) == ("confirmed", 0)
    shown = " ".join(cocco("evaluate", run, "--prove", "--steps", enough).stdout.split())
    assert "Of the other 4 memories of the run 0 were looked at to the end" in shown


def test_a_cheaper_plan_without_addresses_refutes_nothing(tmp_path):
    """In 29 bytes a plan of 11 bytes fits, not on multiples of 8; of all 218 plans those with addresses move 13."""
    network = random_network(5111, 9, whole=True)
    chip = Accelerator(shared_buffer=29, max_regions=None)
    best = partition(network, chip, metric="ema")
    assert best.status == "optimal" and best.evaluation.ema_bytes == 13
    save(network, tmp_path / "network.json")
    best.plan.save(tmp_path / "plan.json", chip)
    words = (tmp_path / "network.json", tmp_path / "plan.json")
    found = proved(*words, code=1)
    assert (found["status"], found["least_cost"], found["better"]["has_addresses"]) == ("gave_up", 11, False)
    assert "no addresses were found" in " ".join(cocco("evaluate", *words, "--prove").stdout.split())


def test_steps_without_prove_and_runs_with_a_broken_range_are_malformed(run, tmp_path):
    assert_malformed(cocco("evaluate", run, "--steps", "5"), ["--steps 5", "--prove"])
    content = json.loads((run / "result.json").read_text())
    content["settings"]["space"] = {"shared_buffer": {"low": 40960, "high": 1, "step": 1}}
    for each in run.iterdir():
        if each.is_file():
            (tmp_path / each.name).write_bytes(each.read_bytes())
    (tmp_path / "result.json").write_text(json.dumps(content))
    assert_malformed(cocco("evaluate", tmp_path, "--prove"), ["result.json", "low=40960 and high=1"])


def test_what_does_not_fit_has_no_second_opinion(network):
    finished = cocco("evaluate", network, "layerwise", "--shared-buffer", "8", "--prove", "--json")
    assert "second_opinion" not in answer(finished, 1)
