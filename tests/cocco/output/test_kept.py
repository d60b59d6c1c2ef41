"""Plans with kept tensors in pictures, run folders and pages: intervals as bars, kept bytes as a layer of their own."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection

import cocco
import workloads
from cocco.output import pictures, report
from cocco.output.folders.read.front import read
from cocco.output.folders.written import run as folders
from cocco.output.pictures.occupancy import INTERVALS_NAMED, KeptBar
from cocco.output.text.plans.comparison import comparison_text
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.views.occupancy import rows_of
from tests.helpers.pages import change, data_of, near_sizes, page_of
from workloads.errors import FileFormatError

pytestmark = pytest.mark.usefixtures("undrawn")

RESNET = workloads.load("resnet50")
CHIP = Accelerator(shared_buffer=896 * KiB)


def save_kept(folder: Path, network) -> cocco.Result:
    """Save a run whose plan keeps tensors on chip."""
    found = cocco.explore(network, samples=200, method="ga")
    choice = cocco.keep_on_chip(network, found.plan, found.accelerator)
    assert choice.partition.keep
    cost = found.accelerator.buffer_bytes + found.alpha * choice.evaluation.energy_pj
    result = replace(found, plans=(choice.partition,), evaluations=(choice.evaluation,), cost=cost)
    about = {
        "command": "cocco explore", "settings": {}, "seed": 0, "versions": {}, "engine": result.engine,
        "result": result.to_json() | {"verified": None},
    }  # fmt: skip
    folders.save(folder, result, about)
    return result


@pytest.fixture(scope="module")
def resnet_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, cocco.Result]:
    """A run folder of ResNet50, and what it holds."""
    folder = tmp_path_factory.mktemp("run")
    return folder, save_kept(folder, RESNET)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=30))
def test_rows_hide_nothing_and_are_as_few_as_overlap(found):
    spans = [(start, start + length) for start, length in found]
    rows = rows_of(spans)
    for i, (start, stop) in enumerate(spans):
        assert not any(rows[i] == rows[j] and a < stop and start < b for j, (a, b) in enumerate(spans) if j != i)
    most = max((sum(a <= time < b for a, b in spans) for time in range(30)), default=0)
    assert len(set(rows)) == most


def test_bars_lie_over_the_steps_of_their_intervals():
    bars = [KeptBar("x", 0, 2, 2048), KeptBar("y$", 1, 4, 512)]
    (axes,) = pictures.kept_figure(bars, 6, "two").axes
    (drawn,) = axes.containers
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in drawn] == [(-0.5, 2.5), (0.5, 4.5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x, 2.0 KB", "y$, 512 B"]
    assert drawn[0].get_facecolor()[0] < drawn[1].get_facecolor()[0]  # the larger is darker
    with pytest.raises(ValueError, match="needs one that is kept"):
        pictures.kept_figure([], 6)


def test_many_intervals_share_rows():
    (axes,) = pictures.kept_figure(
        [KeptBar(f"t{i}", 2 * i, 2 * i + 1, 8) for i in range(INTERVALS_NAMED + 1)], 300
    ).axes
    assert len({bar.get_y() for bar in axes.containers[0]}) == 1 and not list(axes.get_yticks())


def test_the_network_has_a_dashed_line_to_each_reader_on_chip():
    plan = Partition.from_groups(
        RESNET, [["conv1", "pool1"], ["s1b1_*"]], keep=["pool1", {"tensor": "s1b1_add", "until": "s1b2_a"}]
    )
    (axes,) = pictures.network_figure(RESNET, plan).axes
    _, dashed, _ = (each for each in axes.collections if isinstance(each, LineCollection))
    assert len(dashed.get_segments()) == 3  # pool1 to s1b1_a and s1b1_shortcut, s1b1_add to s1b2_a
    assert dashed.get_linestyle()[0][1] is not None
    assert "dashed" in axes.get_title()


def test_the_page_shows_what_is_kept(resnet_run: tuple[Path, cocco.Result]):
    folder, result = resnet_run
    report.write(folder)
    run, page = read(folder), page_of(folder)
    (network,) = run.networks
    assert [(each.tensor, each.from_step, each.until_step) for each in network.keep] == [
        (each.tensor, each.from_step, each.until_step) for each in result.plan.keep
    ]
    assert [each.kept_bytes for each in network.subgraphs] == [each.kept_bytes for each in result.evaluation.subgraphs]
    assert Partition.load(folder / "partition.json", RESNET) == result.plan
    text = " ".join(page.texts)
    for words in ("kept (KB)", "Kept whole", "The tensors that stay on chip", "less off-chip traffic"):
        assert words in text, words
    assert "so its activations are not split" not in text  # it was priced again, kept tensors included
    (plan,) = data_of(folder)["choices"][0]["plans"]
    assert len(plan["time"]) == len(result.plan) and page.rows["sizes"] == near_sizes(result.to_json())
    assert [(tensor, start, until) for tensor, start, until, _ in plan["keep"]] == [
        (each.tensor, each.from_step, each.until_step) for each in result.plan.keep
    ]


def test_the_page_of_a_network_of_one_s_own_shows_it_too(tmp_path: Path):
    network = replace(workloads.load("googlenet"), name="<b>mine")
    result = save_kept(tmp_path, network)
    report.write(tmp_path)
    text = " ".join(page_of(tmp_path).texts)
    assert "<b>mine" in text and "The tensors that stay on chip" in text and result.plan.keep[0].tensor in text


@pytest.mark.parametrize(("key", "value"), [("until", "nothing"), ("from", "fc"), ("bytes", "many"), ("tensor", 3)])
def test_an_interval_that_no_search_writes_is_refused(key, value, tmp_path: Path, resnet_run):
    shutil.copytree(resnet_run[0], tmp_path / "copy")
    change(tmp_path / "copy", lambda content: content["result"]["keep"][0].update({key: value}))
    with pytest.raises(FileFormatError, match=r"result\.json: result: keep 0"):
        read(tmp_path / "copy")


def test_plans_that_differ_in_what_they_keep_are_compared():
    groups = [["conv1", "pool1"], ["s1b1_*"]]
    plans = {
        "none": Partition.from_groups(RESNET, groups),
        "kept": Partition.from_groups(RESNET, groups, keep=["pool1"]),
    }
    found = cocco.compare(RESNET, plans, CHIP)
    text = comparison_text(found)
    assert "differ in their order or in what they keep" in text and "  kept  " in text.splitlines()[2]
    none, kept = found.to_json()["partitions"]
    assert "keep" not in none and [each["tensor"] for each in kept["keep"]] == ["pool1"]
    assert kept["totals"]["kept_saved_bytes"] == none["totals"]["ema_bytes"] - kept["totals"]["ema_bytes"]
    most = max(
        each.activation_bytes + each.kept_bytes + each.weight_bytes
        for each in evaluate(RESNET, plans["kept"], CHIP).subgraphs
    )
    assert kept["held_bytes"] == most
    assert json.dumps(found.to_json())
