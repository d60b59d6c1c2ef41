"""Every script can be aimed, in the same words from the shell and in `run()`; what means nothing to it is refused."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from experiments.beyond import kept_tensors, pareto
from experiments.common import aims, command, drawing
from experiments.common.experiment import Experiment
from experiments.paper import alpha_sweep, coexploration_shared, fusion_depth, partition_quality
from tests.helpers.command_line import ROOT, answer, cocco, in_this_process
from tests.helpers.tiny_network import write_tiny

SCRIPTS = sorted(
    path.stem for path in (ROOT / "experiments").rglob("*.py") if "\nEXPERIMENT = " in path.read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_tiny(tmp_path_factory.mktemp("networks") / "tiny.json")


def script(name: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    started = [sys.executable, "-m", f"experiments.{name}", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        started, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_an_experiment_is_aimed_from_the_shell_as_in_run(network: str, tmp_path: Path):
    words = ["--networks", network, "--alphas", "0.001", "0.01", "--samples", "100", "--cores", "1", "2"]
    words += ["--batch", "2", "--buffers", "separate", "-o", "out"]
    finished = script("alpha_sweep", tmp_path, *words)
    assert finished.returncode == 0, finished.stderr
    table = alpha_sweep.run(
        tmp_path / "again", networks=[network], alphas=[0.001, 0.01], samples=100, cores=[1, 2], batch=[2],
        buffers=["separate"],
    )  # fmt: skip
    assert (tmp_path / "out" / "alpha_sweep.csv").read_text() == table.to_csv(index=False, lineterminator="\n")
    assert [*zip(table["cores"], table["batch"], table["alpha"])] == [
        (cores, 2, alpha) for cores in (1, 2) for alpha in (0.001, 0.01)
    ]
    assert {"global_kb", "weight_kb"} <= {*table.columns} and set(table["space"]) == {"separate"}
    settings = json.loads((tmp_path / "out" / "alpha_sweep.json").read_text())["settings"]
    assert settings["cores"] == [1, 2] and "seeds" not in settings


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--samples", "9"], "fusion_depth has no samples to choose; it takes networks, cores, batch, hardware"),
        (["--networks", "vgg61"], "unknown network 'vgg61'; did you mean 'vgg16'"),
        (["--cores", "0"], "--cores: must be a whole number from 1"),
        (["--cores", "2", "2"], "cores must name each value once; got 2 2"),
        (["--alphas", "0"], "--alphas: must be above 0; got '0'"),
        (["--buffers", "both"], "must be one of shared, separate; got 'both'"),
        (["--range", "2KB:1KB:1KB"], "--range: range low must be at most high, got low=2048 and high=1024 bytes"),
        (["--range", "1KB:2KB:0"], "--range: a size must be at least 1 byte"),
        (["--range", "1:9000000:1"], "--range: a range has at most 65536 candidates, got 9000000"),
    ],
)
def test_what_means_nothing_is_one_line_and_exit_2_before_anything_runs(words: list[str], said: str, tmp_path: Path):
    finished = in_this_process(partial(command.main, fusion_depth.EXPERIMENT), *words, folder=tmp_path)
    assert (finished.returncode, finished.stdout) == (2, "")
    (line,) = finished.stderr.splitlines()
    assert line.startswith("fusion_depth: error: ") and said in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alphas": [0.1]}, "fusion_depth has no alphas to choose"),
        ({"networks": "vgg16"}, "networks must be one or more values in a list; got 'vgg16'"),
        ({"networks": []}, "networks must be one or more values in a list"),
        ({"cores": [True]}, "cores: must be a whole number from 1"),
        ({"batch": [1.0]}, "batch: must be a whole number from 1"),
    ],
)
def test_run_refuses_what_the_shell_refuses(given: dict[str, Any], said: str, tmp_path: Path):
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        fusion_depth.run(tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_says_what_it_takes_and_has_it_as_settings_or_axes(name: str):
    experiment: Experiment = importlib.import_module(f"experiments.{name}").EXPERIMENT
    assert experiment.name == name and set(experiment.axes) <= set(aims.FIELDS)
    assert not set(experiment.axes) & set(experiment.full), "either a setting or an axis"
    assert set(experiment.quick) <= set(experiment.full)
    if name not in ("mapping_quality", "language_models", "allocation_time"):
        assert "networks" in experiment.taken


CHIP = "technology:\n  dram_pj_per_byte: 40\n  pe_rows: 8\ncores: 2\nshared_buffer: 1MB\n"


@pytest.mark.parametrize("keep", ["auto", "none"])
@pytest.mark.parametrize("metric", ["energy", "ema"])
def test_alpha_sweep_of_one_s_own_chip_is_what_explore_says(keep: str, metric: str, network: str, tmp_path: Path):
    """To the byte: the memory and the cost, with the same hardware, candidates and kept tensors."""
    chip, sizes, alphas = tmp_path / "chip.yaml", "1KB:16KB:1KB", ["0.001", "0.01"]
    chip.write_text(CHIP)
    asked = {"hardware": [str(chip)], "range": [sizes], "keep": [keep], "metric": [metric]}
    table = alpha_sweep.run(tmp_path / "out", networks=[network], samples=200, alphas=[0.001, 0.01], **asked)
    assert list(table["hardware_file"]) == [str(chip)] * 2
    for alpha, row in zip(alphas, table.to_dict("records")):
        words = ["--hardware", chip, "--range", sizes, "--keep", keep, "--metric", metric, "--samples", 200]
        found = answer(cocco("explore", network, *words, "--alpha", alpha, "--json"))
        assert (row["cost"], row["shared_kb"]) == (found["cost"], found["shared_buffer_bytes"] // 1024)
        assert row["energy_pj" if metric == "energy" else "ema_bytes"] in found["totals"].values()
    (picture,) = [axes.get_ylabel() for axes in alpha_sweep.EXPERIMENT.picture(table).axes[:1]]
    assert picture.startswith(metric)


def test_run_refuses_a_range_that_is_none_before_anything_runs(tmp_path: Path):
    with pytest.raises(ValueError, match="range: range low must be at most high, got low=2048 and high=1024 bytes"):
        alpha_sweep.run(tmp_path / "out", range=["2KB:1KB:1KB"])
    assert not (tmp_path / "out").exists()


def test_sizes_that_are_no_whole_kb_are_exact(network: str, tmp_path: Path):
    table = alpha_sweep.run(
        tmp_path, networks=[network], samples=200, alphas=[0.0001, 0.001, 0.01], range=["1000:30000:700"]
    )
    capacity = 1024 * table["shared_kb"]
    assert ((capacity - 1000) % 700 == 0).all() and (capacity % 1024 > 0).any()
    assert list(table["cost"]) == pytest.approx(list(capacity + table["alpha"] * table["energy_pj"]), rel=1e-12)


def test_a_memory_that_is_recommended_is_what_its_cost_counts(tmp_path: Path):
    """The network of one block takes 7.5 KB."""
    found = kept_tensors.run(
        tmp_path / "out", networks=[write_tiny(tmp_path / "a.json", "a")], samples=100, kilobytes=[8]
    )
    chosen = found[found["memory"] == "chosen"]
    capacity = 1024 * chosen["kilobytes"]
    assert list(chosen["cost"]) == pytest.approx(list(capacity + 0.002 * chosen["energy_pj"]), rel=1e-12)


def test_where_the_buffers_are_fixed_those_of_the_file_replace_them(network: str, tmp_path: Path):
    """Without a file, and with one that has no buffers, they are the paper's; eight bytes hold nothing."""
    for name, text in {"none": "cores: 1", "small": "shared_buffer: 3KB", "no": "shared_buffer: 8"}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    files = [str(tmp_path / f"{name}.yaml") for name in ("none", "small", "no")]
    plain = fusion_depth.run(tmp_path / "plain", networks=[network])
    depths = fusion_depth.run(tmp_path / "depths", networks=[network], hardware=files)
    assert list(depths["ema_bytes"][:3]) == list(plain["ema_bytes"])
    assert (depths["ema_bytes"][3:6] > depths["ema_bytes"][2]).all() and depths["ema_bytes"][6:].isna().all()
    found = partition_quality.run(tmp_path / "found", networks=[network], hardware=files, samples=200)
    for file, rows in found.groupby("hardware_file"):
        words = [network, "--method", "exact", "--metric", "ema", "--plans", "paper", "--hardware", file]
        words += ["--global-buffer", "1MB", "--weight-buffer", "1152KB"] if file == files[0] else []
        known = {row["method"]: row for row in rows.to_dict("records")}
        if file == files[2]:
            assert rows["ema_bytes"].isna().all() and set(rows["status"]) == {"infeasible"}
        else:
            assert known["enumeration"]["ema_bytes"] == answer(cocco("partition", *words, "--json"))["cost"]
    assert "buffers of the hardware file" in partition_quality.EXPERIMENT.picture(found).axes[0].get_title()


def test_hardware_that_is_malformed_is_one_line(tmp_path: Path):
    (tmp_path / "chip.yaml").write_text("technology:\n  dram_pj_per_bite: 40\n")
    words = ("--hardware", str(tmp_path / "chip.yaml"))
    finished = in_this_process(partial(command.main, fusion_depth.EXPERIMENT), *words, folder=tmp_path)
    assert finished.returncode == 2 and "dram_pj_per_bite" in finished.stderr


def test_a_file_that_changed_is_computed_anew(tmp_path: Path):
    path = tmp_path / "mine.json"
    write_tiny(path)
    before = fusion_depth.run(tmp_path / "out", networks=[str(path)])
    path.write_text(path.read_text().replace("32, 32]", "16, 32]"))
    after = fusion_depth.run(tmp_path / "out", networks=[str(path)])
    assert (after["ema_bytes"] < before["ema_bytes"]).all()


def test_seeds_are_rows_of_tables_1_and_2_and_the_picture_shows_their_spread(network: str, tmp_path: Path):
    table = coexploration_shared.run(tmp_path, networks=[network], samples=120, seeds=2, cores=[1, 2])
    assert table.groupby(["cores", "method", "seed"]).size().eq(1).all()
    assert set(table["seed"]) == {0, 1} and len(table) == 2 * 2 * 9
    figure = coexploration_shared.EXPERIMENT.picture(table)
    assert [each.get_title() for each in figure.axes] == ["tiny.json, 1 core", "tiny.json, 2 cores"]
    assert all(each.containers for each in figure.axes)


def test_fronts_are_overlaid_and_their_hypervolumes_are_areas_of_the_box(network: str, tmp_path: Path):
    """By hand: the area under the steps of a front, over the box, summed memory by memory."""
    table = pareto.run(tmp_path, networks=[network], samples=300, cores=[1, 2], seeds=2)
    for _, rows in table.groupby(["cores", "seed"]):
        assert rows["capacity_kb"].is_monotonic_increasing and rows["energy_pj"].is_monotonic_decreasing
        assert rows["hypervolume"].nunique() == 1 and 0 < rows["hypervolume"].iloc[0] < 1
    one = table[(table["cores"] == 1) & (table["seed"] == 0)]
    space = pareto.searches.SPACES["shared"]()
    width, height = pareto.worst(pareto.workloads.load(network), space, {})
    ends = [*(one["capacity_kb"].iloc[1:] * 1024), width]
    area = sum((end - 1024 * row.capacity_kb) * (height - row.energy_pj) for end, row in zip(ends, one.itertuples()))
    assert one["hypervolume"].iloc[0] == pytest.approx(area / (width * height), abs=1e-6)
    assert len(pareto.plot(table).axes[0].lines) == 4


def test_cases_are_named_only_where_they_differ(network: str, tmp_path: Path):
    table = fusion_depth.run(tmp_path, networks=[network], cores=[2], batch=[1, 8])
    assert set(drawing.by_case(table, ("cores", "batch"))["network"]) == {"tiny.json, batch 1", "tiny.json, batch 8"}
