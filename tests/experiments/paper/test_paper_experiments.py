"""The scripts of the paper's figures and tables, on a tiny network, and the tables that they made."""

from __future__ import annotations

import importlib
import io
import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
from pandas.testing import assert_frame_equal

import workloads
from cocco.problem.problem import on_hardware
from experiments import __main__ as every
from experiments.common import command, published, searches
from experiments.common.published import difference, with_paper
from experiments.paper import convergence, fusion_depth
from simulator.accelerator import Accelerator
from tests.helpers.command_line import in_this_process
from tests.helpers.parts import first_of
from tests.helpers.tiny_network import write_tiny

REFERENCE = Path(every.__file__).parent / "reference"
SMALL: dict[str, dict[str, Any]] = {
    "fusion_depth": {},
    "partition_quality": {"samples": 200},
    "coexploration_separate": {"samples": 120},
    "coexploration_shared": {"samples": 120},
    "convergence": {"samples": 200, "seeds": 2},
    "sample_cloud": {"samples": 400},
    "alpha_sweep": {"samples": 100},
    "cores_batch": {"samples": 100},
}
assert tuple(SMALL) == every.PAPER_SCRIPTS


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_tiny(tmp_path_factory.mktemp("networks") / "tiny.json")


@pytest.fixture(scope="module")
def tables(network: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pandas.DataFrame]:
    folder = tmp_path_factory.mktemp("results")
    return {name: table_of(name, network, folder / name) for name in SMALL}


def script(name: str) -> ModuleType:
    return importlib.import_module(f"experiments.{name}")


def table_of(name: str, network: str, folder: Path) -> pandas.DataFrame:
    found: pandas.DataFrame = script(name).run(quick=True, seed=0, folder=folder, networks=[network], **SMALL[name])
    return found


@pytest.mark.parametrize("name", first_of([*SMALL][::-1], len(SMALL) // 2))
def test_table_is_the_same_when_it_is_computed_again(name: str, network: str, tables: dict, tmp_path: Path):
    assert_frame_equal(table_of(name, network, tmp_path), tables[name], check_exact=True)


@pytest.mark.parametrize("name", SMALL)
def test_picture_is_drawn_from_the_csv_alone(name: str, tables: dict):
    read = pandas.read_csv(io.StringIO(tables[name].to_csv(index=False)))
    figure = script(name).plot(read)
    axes = [each for each in figure.axes if each.has_data()]
    assert axes
    assert all(each.get_ylabel() for each in axes[:1]) and all(np.isfinite(each.get_ylim()).all() for each in axes)
    figure.savefig(io.BytesIO(), format="png", dpi=30)


@pytest.mark.parametrize(("space", "sizes"), [("separate", ["global_kb", "weight_kb"]), ("shared", ["shared_kb"])])
def test_tables_1_and_2_have_the_methods_of_the_paper_in_its_order(space: str, sizes: list[str], tables: dict):
    table = tables[f"coexploration_{space}"]
    fixed = ["Buf(S)", "Buf(M)", "Buf(L)"]
    assert list(table["method"]) == [*fixed, "RS+GA", "GS+GA", "SA", "Cocco (paper)", "Cocco (paper, 500)", "Cocco"]
    assert {"paper_cost", "cost_difference", *sizes, *(f"paper_{size}" for size in sizes)} <= {*table.columns}
    capacity = 1024 * table[sizes].sum(axis=1)
    np.testing.assert_allclose(table["cost"], capacity + searches.ALPHA * table["energy_pj"], rtol=1e-12)
    chosen = table[3:]
    assert (chosen["cost"] <= chosen["found_cost"]).all()
    assert table["status"].iloc[-1] == "optimal" and chosen["cost"].min() == table["cost"].iloc[-1]
    assert (chosen["gap"] >= 0).all() and chosen["gap"].iloc[-1] == 0


def test_partition_of_the_tiny_network_is_proven_and_no_method_is_better(tables: dict):
    table = tables["partition_quality"].set_index("method")
    assert list(table.index) == ["greedy", "dp", "enumeration", "Cocco"]
    assert table.loc["greedy", ["ema_share", "rate_share", "bandwidth_share"]].eq(1).all()
    assert table.loc["enumeration", "status"] == "optimal" and table.loc["enumeration", "gap"] == 0
    assert (table["ema_bytes"] >= table.loc["enumeration", "ema_bytes"]).all()
    assert (table["is_optimal"] == (table["gap"] == 0)).all()


def test_enumeration_that_gives_up_leaves_its_cells_empty():
    row = {"network": "n", "seed": 0, "samples": 1, "subgraphs": 2, "bandwidth_bytes_per_cycle": 1.0}
    row |= {"rate_bytes_per_cycle": 1.0, "ema_bytes": 100, "lower_bound": 80}
    gave_up = row | {"method": "enumeration", "status": "gave_up"}
    ours = row | {"method": "Cocco", "status": "feasible"}
    make = script("partition_quality")._row
    assert make(gave_up, ours, gave_up)["ema_bytes"] is None
    assert make(ours, ours, gave_up)["gap"] == pytest.approx(0.2)
    assert make(ours, ours, gave_up)["is_optimal"] is False


def test_more_layers_per_subgraph_never_need_more_traffic(tables: dict):
    table = tables["fusion_depth"]
    assert list(table["layers"]) == [1, 3, 5]
    assert table["ema_bytes"].is_monotonic_decreasing and table["subgraphs"].iloc[0] == 8


@pytest.mark.parametrize("most", [1, 2, 3, 8])
def test_cut_has_no_run_longer_than_allowed_and_each_layer_once(most: int, network: str):
    loaded = workloads.load(network)
    problem = on_hardware(loaded, Accelerator(global_buffer=2**20, weight_buffer=2**20), metric="ema")
    groups = fusion_depth.limited(problem, most)
    assert max(map(len, groups)) <= most
    assert sorted(v for group in groups for v in group) == list(range(len(loaded.layers)))


def test_more_weight_on_energy_never_costs_energy_at_the_optimum(tables: dict):
    """For two alphas and their optima, adding both optimality conditions gives the monotone trade."""
    table = tables["alpha_sweep"]
    assert list(table["alpha"]) == [0.0005, 0.001, 0.002, 0.005, 0.01] and (table["status"] == "optimal").all()
    assert table["energy_pj"].is_monotonic_decreasing and table["shared_kb"].is_monotonic_increasing
    assert table["energy_share"].iloc[0] == 1


def test_table_3_has_every_combination_in_the_order_of_the_paper(tables: dict):
    table = tables["cores_batch"]
    assert list(zip(table["cores"], table["batch"])) == [(c, b) for c in (1, 2, 4) for b in (1, 2, 8)]
    for name in ("energy_mj", "latency_ms", "shared_kb"):
        assert {f"paper_{name}", f"{name}_difference"} <= {*table.columns}


def test_convergence_falls_and_ends_at_the_best_of_the_run(tables: dict):
    table = tables["convergence"]
    assert list(dict.fromkeys(table["method"])) == list(searches.METHODS)
    for _, run in table.groupby(["method", "seed"]):
        assert run["best_cost"].is_monotonic_decreasing and run["samples"].iloc[-1] == 200
        within = run["samples_within"].iloc[0]
        assert math.isnan(within) == (run["over_best"].iloc[-1] > convergence.WITHIN_BEST)
    assert table["over_best"].min() == 0


def test_curve_starts_where_the_first_answer_is_there():
    row = {
        "network": "n",
        "method": "RS+GA",
        "seed": 0,
        "samples": 100,
        "samples_at": [50, 80],
        "costs": [110.0, 100.0],
    }
    curve = convergence._curve(row, 100.0)
    assert [point["samples"] for point in curve] == [60, 80, 100]
    assert [point["over_best"] for point in curve] == [0.1, 0, 0]
    assert {point["samples_within"] for point in curve} == {80}


def test_cloud_has_ten_groups_and_later_ones_cost_less(tables: dict):
    table = tables["sample_cloud"]
    assert list(dict.fromkeys(table["group"])) == list(range(1, 11))
    means = table.drop_duplicates("group")["mean_cost"].to_list()
    assert means[-1] < means[0]
    capacity = 1024 * table["capacity_kb"]
    np.testing.assert_allclose(table["cost"], capacity + searches.ALPHA * 1e6 * table["energy_uj"], rtol=0.01)


NOTHING = {
    "alpha_sweep": {"samples": 100, "range": ["3:9:3"]},
    "convergence": {"samples": 100, "seeds": 2, "range": ["3:9:3"]},
    "sample_cloud": {"samples": 100, "range": ["3:9:3"]},
    "fusion_depth": {},
    "partition_quality": {"samples": 100},
}  #: with these, and a chip of eight bytes, nothing runs


@pytest.mark.parametrize("name", NOTHING)
def test_what_does_not_run_is_a_row_without_numbers(name: str, network: str, tables: dict, tmp_path: Path):
    """Alone, and beside what runs: the others have the numbers that they have alone."""
    (tmp_path / "chip.yaml").write_text("shared_buffer: 8\n")
    (tmp_path / "usual.yaml").write_text("cores: 1\n")
    asked: dict[str, Any] = {"networks": [network], **NOTHING[name]}
    is_aimed = "range" in asked
    if not is_aimed:
        asked["hardware"] = [str(tmp_path / "chip.yaml")]
    axis, other = ("range", "1KB:30KB:1KB") if is_aimed else ("hardware", str(tmp_path / "usual.yaml"))
    alone = script(name).run(tmp_path / "alone", **asked)
    usual = script(name).run(tmp_path / "usual", **asked | {axis: [other]})
    mixed = script(name).run(tmp_path / "mixed", **asked | {axis: [*asked[axis], other]})
    about = {"network", "method", "layers", "alpha", "seed", "samples", "status", "group", "capacity_kb"}
    columns = {*tables[name].columns}
    assert columns <= {*alone.columns} and len(alone) and alone[sorted(columns - about)].isna().all(axis=None)
    assert "status" not in alone or set(alone["status"]) == {"infeasible"}
    assert_frame_equal(mixed[len(alone) :].reset_index(drop=True)[usual.columns], usual, check_dtype=False)
    for table in (alone, mixed):
        read = pandas.read_csv(io.StringIO(table.to_csv(index=False)))
        for each in (table, read):
            script(name).EXPERIMENT.picture(each).savefig(io.BytesIO(), format="png", dpi=30)


def test_samples_that_do_not_run_count_in_no_mean(tmp_path: Path, network: str, monkeypatch: pytest.MonkeyPatch):
    """By hand: of the costs 10, infinite, 20 and infinite the mean is 15, and the deviation the root of 50."""
    samples = {"generation": 0, "shared_buffer_bytes": 1600, "cost": [10, math.inf, 20, math.inf]}
    points = pandas.DataFrame(samples).assign(value=lambda table: table["cost"] * 1e6)
    monkeypatch.setattr(script("sample_cloud").cocco, "explore", lambda *_, **__: SimpleNamespace(points=points))
    rows = script("sample_cloud").clouded({"network": network, "population": 2, "seed": 0})["rows"]
    assert [row["cost"] for row in rows] == [10, None, 20, None] == [row["energy_uj"] for row in rows]
    assert {row["capacity_kb"] for row in rows} == {1.5625}
    assert {(row["mean_cost"], row["deviation"]) for row in rows} == {(15, 7)}


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("production_centric", ["--networks", "vgg16"], "vgg16 has no block of 4 layers or more with tiles"),
        ("production_centric", ["--networks", "vgg16", "gpt"], "vgg16, gpt have no block of 4 layers or more"),
        ("sample_cloud", ["--samples", "30"], "samples must be 20 whole generations; got 30"),
    ],
)
def test_what_an_experiment_cannot_have_is_one_line_before_anything_runs(
    name: str, words: list[str], said: str, tmp_path: Path
):
    finished = in_this_process(partial(command.main, script(name).EXPERIMENT), *words, folder=tmp_path)
    assert (finished.returncode, finished.stdout) == (2, "")
    (line,) = finished.stderr.splitlines()
    assert line.startswith(f"{name}: error: {said}") and not list(tmp_path.iterdir())


def test_difference_to_the_paper_stands_beside_our_number():
    row = with_paper({"network": "n", "cost": 110.0, "gap": 0.0}, {"cost": 100.0})
    assert list(row) == ["network", "cost", "paper_cost", "cost_difference", "gap"]
    assert row["cost_difference"] == pytest.approx(0.1)
    assert difference(None, 2.0) is None and difference(2.0, None) is None


def test_published_numbers_are_those_of_the_paper():
    """Rows that can be checked against each other: the fixed sizes, and Table 3 of one core against Table 2."""
    for name in searches.FOUR:
        for method, sizes in {"Buf(S)": (512, 576), "Buf(M)": (1024, 1152), "Buf(L)": (2048, 2304)}.items():
            row, shared = published.TABLE_1[name][method], published.TABLE_2[name][method]
            assert row is not None and row[:2] == sizes
            assert shared is not None and shared[0] == sizes[1]
        assert len(published.TABLE_3[name]) == 9
    for name in ("resnet50", "googlenet"):
        chosen, cell = published.TABLE_2[name]["Cocco"], published.TABLE_3[name]["1x1"]
        assert chosen is not None and cell is not None and chosen[0] == cell[2]
        cost = 1024 * cell[2] + searches.ALPHA * 1e9 * cell[0]
        assert cost == pytest.approx(chosen[1], rel=0.01)
    missing = [
        (name, method)
        for table in (published.TABLE_1, published.TABLE_2)
        for name, rows in table.items()
        for method, row in rows.items()
        if row is None
    ]
    assert missing == 2 * [(name, m) for name in ("randwire_a", "nasnet") for m in ("GS+GA", "SA", "Cocco")]


def test_three_layers_per_subgraph_save_on_resnet50_what_the_paper_says(tmp_path: Path):
    """Figure 3: 53.7 % and a further 13.6 points, of the traffic of activations; within one point."""
    table = fusion_depth.run(quick=True, seed=0, folder=tmp_path, networks=["resnet50"])
    assert table["ema_activation_share"].to_numpy() == pytest.approx([1.0, 0.463, 0.327], abs=0.01)
    assert table["paper_ema_activation_share"].to_numpy() == pytest.approx([1.0, 0.463, 0.327])


def test_all_scripts_run_in_a_folder_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(every, "SCRIPTS", ("sample_cloud", "fusion_depth"))
    assert every.main(["--quick", "--seed", "3", "-o", str(tmp_path)]) == 0
    for name in every.SCRIPTS:
        files = {path.name for path in (tmp_path / name).iterdir() if path.is_file() and path.name != ".sweep"}
        assert files == {f"{name}{suffix}" for suffix in (".csv", ".json", ".png", ".svg")}
    about = json.loads((tmp_path / "sample_cloud" / "sample_cloud.json").read_text())
    assert about["seed"] == 3 and about["settings"] == {"quick": True}
    assert capsys.readouterr().err.startswith("experiments: about ")


def test_malformed_option_of_all_scripts_is_one_line_and_exit_2(tmp_path: Path):
    words = [sys.executable, "-m", "experiments", "--workers", "0"]
    environment = os.environ | {"PYTHONPATH": str(Path(every.__file__).parents[1])}
    finished = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.splitlines()[-1].startswith("experiments: error: ") and "--workers" in finished.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", SMALL)
def test_reference_table_has_the_columns_of_the_script(name: str, tables: dict):
    reference = pandas.read_csv(REFERENCE / f"{name}.csv")
    assert list(reference.columns) == list(tables[name].columns)
    assert (REFERENCE / f"{name}.csv").stat().st_size < 100_000


def test_fixed_hardware_of_the_reference_is_where_the_paper_has_it():
    """Formula 2 of ResNet50 and GoogleNet, proven partitions: within 7 % (docs/model.md, section 10)."""
    for space in ("separate", "shared"):
        table = pandas.read_csv(REFERENCE / f"coexploration_{space}.csv")
        rows = table[table["method"].str.startswith("Buf") & table["network"].isin(["resnet50", "googlenet"])]
        assert len(rows) == 6 and (rows["status"] == "optimal").all()
        assert rows["cost_difference"].abs().max() < 0.07
