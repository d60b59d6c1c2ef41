"""Run folders: what is written comes back, for a run of one network and of two, a front, and a search under limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import workloads
from cocco.exploration.answers.front import Front
from cocco.exploration.answers.limited import Limited
from cocco.exploration.explore import explore
from cocco.exploration.limits import minimize
from cocco.exploration.pareto import pareto
from cocco.output.folders.read.front import FrontRun, read
from cocco.output.folders.read.run import Run
from cocco.output.folders.written import front as front_folder
from cocco.output.folders.written import run as run_folder
from cocco.output.folders.written.about import (
    FRONT,
    HISTORY,
    RESULT,
    SAMPLES_FILE,
    SIZES_FOLDER,
    About,
    address_names,
    csv_text,
    partition_names,
    versions,
)
from cocco.problem.space import SharedBuffer
from simulator import KiB
from tests.helpers.tiny_network import write_tiny

pytestmark = pytest.mark.usefixtures("undrawn")

SPACE = SharedBuffer(16 * KiB, 256 * KiB, 16 * KiB)
FEW: dict[str, Any] = {"space": SPACE, "samples": 200, "seed": 3}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return workloads.load(write_tiny(tmp_path_factory.mktemp("network") / "tiny.json"))


def test_a_brief_table_has_its_last_row_and_the_improvements():
    """Of 250 rows every third up to the last, and those where the cost falls."""
    best = np.repeat([9.0, 5.0, 4.0], [100, 101, 49])
    frame = pandas.DataFrame({"sample": range(1, 251), "best_cost": best})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cocco.output.folders.written.about.FEW_ROWS", 100)
        rows = csv_text(frame, is_brief=True).split()
        assert csv_text(frame[:100], is_brief=True) == csv_text(frame[:100])
    numbers = [int(row.split(",")[0]) for row in rows[1:]]
    assert numbers == sorted({*range(1, 251, 3), 101, 202, 250}) and rows[0] == "sample,best_cost"
    assert csv_text(frame).count("\n") == 251


def about(result: dict[str, Any]) -> About:
    plain = json.loads(json.dumps(result))  # without tuples
    return About("cocco explore tiny", {"samples": 200}, 3, versions(), "reference", 1.5, plain)


def same_tables(written: pandas.DataFrame, found: pandas.DataFrame) -> bool:
    return written.to_csv(index=False) == found[list(written.columns)].to_csv(index=False)


@pytest.mark.parametrize("count", [1, 2])
def test_a_run_comes_back(tiny: Any, tmp_path: Path, count: int):
    networks = [replace(tiny, name=name) for name in ("tiny", "other")[:count]]
    result = explore(networks, alpha=0.002, **FEW)
    told = about(result.to_json())
    written = run_folder.save(tmp_path, result, told.to_json())
    assert {path.name for path in written} - {SIZES_FOLDER} == set(
        run_folder.file_names([network.name for network in networks])
    )
    found = read(tmp_path)
    assert isinstance(found, Run) and found.about == told
    same = ("method", "metric", "status", "samples", "alpha", "cost", "lower_bound", "gap", "accelerator")
    assert all(getattr(found, name) == getattr(result, name) for name in same)
    assert [network.weight for network in found.networks] == list(result.weights)
    for network, evaluation, plan in zip(found.networks, result.evaluations, result.plans):
        assert (network.name, network.energy_pj) == (evaluation.network, evaluation.energy_pj)
        assert [each.layers for each in network.subgraphs] == list(plan.names)
        assert [each.energy_breakdown for each in network.subgraphs] == [
            each.energy_breakdown for each in evaluation.subgraphs
        ]
    assert same_tables(result.points, found.points)
    assert len(pandas.read_csv(tmp_path / HISTORY)) == len(result.history)


def test_a_front_comes_back(tiny: Any, tmp_path: Path):
    front = pareto(tiny, objectives=("energy", "capacity", "latency-sum"), **FEW)
    found, told = saved(tmp_path, front)
    assert found.about == told and not found.is_limited
    same = ("objectives", "status", "samples", "method")
    assert all(getattr(found, name) == getattr(front, name) for name in same)
    assert (found.names, found.axes) == (("tiny",), ("capacity", "energy", "latency-sum"))
    assert same_tables(front.front, found.front) and same_tables(front.points, found.points)
    assert all((tmp_path / name).is_file() for name in found.front["partition"])


def test_a_search_under_limits_comes_back(tiny: Any, tmp_path: Path):
    limited = minimize(tiny, "energy", {"capacity": 64 * KiB, "latency-sum": 1e9}, **FEW)
    found, _ = saved(tmp_path, limited)
    assert (found.minimize, found.limits, found.status) == ("energy", limited.limits, limited.status)
    assert limited.best is not None and found.accelerator == limited.best.accelerator
    assert [each.layers for each in found.networks[0].subgraphs] == list(limited.best.plans[0].names)
    assert found.front["energy_pj"].tolist() == [limited.value]


def saved(folder: Path, answer: Front | Limited) -> tuple[FrontRun, About]:
    """Write an answer and read it again."""
    told = about(answer.to_json())
    written = front_folder.save(folder, answer, told.to_json())
    assert {path.name for path in written} == {*front_folder.FILES, "partitions"}
    assert {RESULT, FRONT, SAMPLES_FILE} <= {path.name for path in folder.iterdir()}
    found = read(folder)
    assert isinstance(found, FrontRun)
    return found, told


def test_the_keys_of_result_json_are_the_fields_of_about(tmp_path: Path, tiny: Any):
    result = explore(tiny, alpha=0.002, **FEW)
    run_folder.save(tmp_path, result, about(result.to_json()).to_json())
    keys = ["command", "settings", "seed", "versions", "engine", "seconds", "result"]
    assert list(json.loads((tmp_path / RESULT).read_text())) == keys == list(About.__dataclass_fields__)


def test_files_of_networks_of_one_name_are_told_apart():
    assert partition_names(["a/b"]) == ["partition.json"] and address_names(["x"]) == ["addresses.csv"]
    assert partition_names(["a/b", "a:b"]) == ["partition-a_b.json", "partition-a_b-2.json"]
    assert address_names(["a", "a", "a"]) == ["addresses-a.csv", "addresses-a-2.csv", "addresses-a-3.csv"]
