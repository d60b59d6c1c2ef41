"""The command line where nothing runs: exit 1, what is missing and what would do, JSON without numbers, no file."""

from __future__ import annotations

import csv
import json

import pytest

import workloads
from simulator import Partition, least_capacity
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.search_graphs import chain

pytestmark = pytest.mark.usefixtures("undrawn")

LOW = ("--range", "5:15:5")
COMMANDS = {
    "partition": ("partition", "--shared-buffer", 15),
    "pair": ("partition", "--global-buffer", 500, "--weight-buffer", 5),
    "explore": ("explore", *LOW),
    "pairs": ("explore", "--separate", "--range", "1:9:1", "--range", "1:9:1", "--addresses"),
    "cores": ("explore", *LOW, "--cores", 1, 2),
    "limits": ("explore", *LOW, "--minimize", "capacity", "--limit", "energy=1mJ"),
    "pareto": ("pareto", *LOW, "--exchange", "500pJ/B"),
}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "chain.json"
    workloads.save(chain(3), path)
    return path


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("keep", ["auto", "none"])
def test_what_is_missing_is_said_and_nothing_written(tmp_path, network, name, keep):
    command, *options = COMMANDS[name]
    words = [command, network, *options, "--keep", keep, "--samples", 20]
    output = tmp_path / "new" / ("plan.json" if command == "partition" else "run")
    told = cocco(*words, "-o", output)
    assert told.returncode == 1 and not (tmp_path / "new").exists(), told.stderr
    assert "Infeasible: no plan of chain runs on" in told.stdout and "runs from a" in told.stdout
    assert "needs 656 bytes" in told.stdout or "bytes, has" in told.stdout
    assert "Written" not in told.stdout and "inf" not in told.stdout.replace("Infeasible", "").replace("infeasible", "")
    content = answer(cocco(*words, "--json"), 1)
    assert content["status"] == "infeasible"
    (found,) = [content] if "results" not in content else content["results"][:1]
    assert found["infeasible"][0]["needed_bytes"] > found["infeasible"][0]["available_bytes"]
    least = least_capacity(chain(3), Partition.layerwise(chain(3)))
    known = {f"{each}_bytes": getattr(least, each) for each in ("shared_buffer", "global_buffer", "weight_buffer")}
    assert found["least"].items() <= known.items()
    for table in ("csv", "markdown"):
        assert cocco(*words, "--format", table).returncode == 1


@pytest.mark.parametrize("method", ["auto", "ga", "greedy", "dp", "idp", "exact", "sa"])
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_every_method_says_so(network, method, cores):
    words = ("partition", network, "--shared-buffer", 10, "--cores", cores, "--method", method, "--json")
    content = answer(cocco(*words), 1)
    assert (content["status"], content["cost"], content["partition"]) == ("infeasible", None, None)


def test_what_stands_in_a_folder_stays_where_nothing_runs(tmp_path, network):
    plan = tmp_path / "plan.json"
    assert cocco("partition", network, "--shared-buffer", 1000, "-o", plan).returncode == 0
    before = plan.read_bytes()
    assert cocco("partition", network, "--shared-buffer", 100, "-o", plan).returncode == 1
    assert cocco("partition", network, "--shared-buffer", 100, "--from", plan).returncode == 1
    assert plan.read_bytes() == before


def test_cores_that_run_are_written_beside_those_that_do_not(tmp_path, network):
    """One core needs 656 bytes, two with half of the channels each less."""
    words = ("explore", network, "--range", "655:655:1", "--cores", 1, 2, "--samples", 20)
    told = cocco(*words, "-o", tmp_path / "run")
    assert told.returncode == 1 and "Infeasible: no plan of chain runs" in told.stdout
    assert sorted(each.name for each in (tmp_path / "run").glob("cores-*")) == ["cores-2"]
    rows = answer(cocco(*words, "--json"), 1)["cores"]
    assert rows[0]["capacity_bytes"] is None and rows[1]["capacity_bytes"] == 655


def test_plain_is_the_papers_algorithm_and_says_so(network):
    for command in (("partition", network, "--shared-buffer", "2KB"), ("explore", network, "--range", "1KB:2KB:1KB")):
        content = answer(cocco(*command, "--plain", "--samples", 60, "--json"))
        assert (content["method"], content["samples"]) == ("paper", 60)
        assert content == answer(cocco(*command, "--plain", "--method", "ga", "--samples", 60, "--json"))
        assert content == answer(cocco(*command, "--method", "paper", "--samples", 60, "--json"))


def test_every_parameter_of_the_genetic_algorithm_is_an_option(network, tmp_path):
    """Generations of the paper's are whole populations: 60 samples are three of 20."""
    explore = ("explore", network, "--range", "1KB:2KB:1KB", "--samples", 60, "--method", "paper")
    run = tmp_path / "run"
    answer(cocco(*explore, "--setting", "population=20", "--setting", "crossover=0.6", "--json", "-o", run))
    assert json.loads((run / "result.json").read_text())["settings"]["setting"] == {"population": 20, "crossover": 0.6}
    with (run / "history.csv").open() as file:
        assert [row["samples"] for row in csv.DictReader(file)] == ["20", "40", "60"]
    assert_malformed(cocco(*explore, "--setting", "populatio=20"), ["--setting", "populatio=20", "population, elite"])
    assert_malformed(cocco(*explore, "--setting", "elite=200"), ["settings.elite must be below population=100"])
    assert_malformed(cocco(*explore, "--setting", "uniform=2"), ["settings.uniform must be true or false, got 2"])
