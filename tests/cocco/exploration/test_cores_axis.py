"""Cores as an axis: each row is what a search for that number answers; the command line, its folder, its picture."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

import cocco as library
import workloads
from cocco.cli.options.parser import parse
from cocco.effort.status import Interrupted
from cocco.exploration.cores import CoresAxis
from cocco.output import pictures
from tests.helpers.command_line import answer, assert_malformed, cocco

pytestmark = pytest.mark.usefixtures("undrawn")

SPACE = library.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
QUESTION = {"space": SPACE, "keep": "none", "samples": 200, "seed": 3}
ASKED = ("--range", "256KB:1MB:256KB", "--keep", "none", "--samples", 200, "--seed", 3)


@pytest.fixture(scope="module")
def axis() -> CoresAxis:
    return library.explore_cores(workloads.load("vgg16"), (1, 4, 2), **QUESTION)


def test_each_row_is_the_answer_for_so_many_cores(axis: CoresAxis):
    network = workloads.load("vgg16")
    assert axis.cores == (1, 4, 2)
    for cores, result, row in zip(axis.cores, axis.results, axis.rows()):
        alone = library.explore(network, cores=cores, **QUESTION)
        assert result.to_json() == alone.to_json() and result.accelerator.cores == cores
        size = alone.accelerator.buffer_bytes
        assert (row["capacity_bytes"], row["capacity_all_bytes"]) == (size, cores * size)
        assert row["area_mm2"] == alone.accelerator.area_mm2 == pytest.approx(1.2 * cores * size / 2**20)
        assert row["energy_pj"] == alone.evaluation.energy_pj and row["cost"] == alone.cost
        assert row["latency_cycles"] == alone.evaluation.latency_cycles
        assert sum(row["schemes"].values()) == (row["subgraphs"] if cores > 1 else 0)
    frame = axis.to_frame()
    assert frame["cores"].tolist() == [1, 4, 2] and frame["channels"].dtype == int


def test_workers_change_nothing(axis: CoresAxis):
    again = library.explore_cores(workloads.load("vgg16"), [1, 4, 2], workers=2, **QUESTION)
    assert again.to_json() == axis.to_json()


@pytest.mark.parametrize(
    ("cores", "workers", "message"),
    [
        ([], 1, "cores must have a number at least"),
        ([2, 2], 1, "cores has 2 twice"),
        ([0], 1, "cores must be an integer from 1"),
        ([2], 0, "workers must be an integer from 1"),
    ],
)
def test_malformed_axes_are_errors(cores: list[int], workers: int, message: str):
    with pytest.raises(ValueError, match=message):
        library.explore_cores(workloads.load("vgg16"), cores, workers=workers, **QUESTION)


def test_an_interrupted_axis_has_what_was_searched():
    network = workloads.load("vgg16")
    seen = []

    def stop(done: int, total: int, best: float) -> None:
        seen.append(done)
        if seen.count(done) and done < max(seen):  # the second search has begun
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        library.explore_cores(network, [1, 2, 4], progress=stop, **QUESTION | {"method": "ga", "samples": 2000})
    found = stopped.value.result
    assert isinstance(found, CoresAxis) and found.cores == (1, 2) and found.status == "stopped"
    assert [result.status for result in found.results] == ["feasible", "stopped"]


def test_the_picture_has_energy_latency_and_both_capacities(axis: CoresAxis):
    energy, latency, memory = pictures.cores_figure(axis).axes
    assert list(energy.get_lines()[0].get_xdata()) == [1, 2, 4]
    by_cores = {row["cores"]: row for row in axis.rows()}
    assert list(energy.get_lines()[0].get_ydata()) == [by_cores[n]["energy_pj"] * 1e-9 for n in (1, 2, 4)]
    assert list(latency.get_lines()[0].get_ydata()) == [by_cores[n]["latency_cycles"] * 1e-6 for n in (1, 2, 4)]
    one, every = (list(line.get_ydata()) for line in memory.get_lines())
    assert [n * size for n, size in zip((1, 2, 4), one)] == every


def test_numbers_behind_cores_end_where_the_network_begins():
    def cores(*words: str) -> tuple[object, list[str]]:
        found = parse(["explore", *words])
        return found.cores, found.networks

    assert cores("--cores", "2", "vgg16") == (2, ["vgg16"])
    assert cores("--cores", "1", "2", "4", "vgg16", "gpt") == ((1, 2, 4), ["vgg16", "gpt"])
    assert cores("vgg16", "--cores", "8") == (8, ["vgg16"])
    assert cores("vgg16", "--cores=1,2") == ((1, 2), ["vgg16"])


def test_the_command_prints_the_table_and_writes_a_run_folder_for_each(axis: CoresAxis, tmp_path: Path):
    folder = tmp_path / "axis"
    finished = cocco("explore", "--cores", 1, 4, 2, "vgg16", *ASKED, "-o", folder, "--json")
    content = answer(finished)
    assert content == json.loads(json.dumps(axis.to_json() | {"results": content["results"]}))
    pandas.testing.assert_frame_equal(pandas.read_csv(folder / "cores.csv"), axis.to_frame())
    assert {path.name for path in folder.iterdir()} == {
        "cores.csv", "cores.png", "cores.svg", "cores-1", "cores-2", "cores-4"
    }  # fmt: skip
    about = json.loads((folder / "cores-2" / "result.json").read_text())
    assert about["settings"]["cores"] == 2 and about["result"]["accelerator"]["cores"] == 2
    assert cocco("report", folder / "cores-2").returncode == 0
    plan, size = folder / "cores-4" / "partition.json", axis.rows()[1]["capacity_bytes"]
    priced = answer(
        cocco("evaluate", "vgg16", "--partition", plan, "--shared-buffer", size, "--cores", 4, "--verify", "--json")
    )
    assert priced["verified"] and priced["totals"]["energy_pj"] == axis.rows()[1]["energy_pj"]


def test_what_has_no_axis_is_said_in_one_line():
    several = ("explore", "vgg16", "--cores", 1, 2)
    assert_malformed(cocco(*several, "--addresses"), ["--addresses not allowed with several numbers of --cores"])
    assert_malformed(cocco(*several, "--minimize", "energy"), ["--minimize not allowed with several numbers"])
    assert_malformed(cocco("explore", "vgg16", "--cores", 2, 2), ["each number once"])
    assert_malformed(cocco("explore", "vgg16", "--cores", "two"), ["--cores", "'two'"])
    assert_malformed(cocco("partition", "vgg16", "--cores", 2, 4), ["unrecognized"])
