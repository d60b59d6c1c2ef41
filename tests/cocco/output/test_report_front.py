"""cocco report for the folders of cocco pareto and of cocco explore under limits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas
import pytest

from cocco.output import report
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.hostile_network import NAME, hostile_network
from tests.helpers.pages import change, data_of, page_of
from workloads.errors import FileFormatError

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def front_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A front of three objectives for vgg16, two buffers, and its page."""
    folder = tmp_path_factory.mktemp("front") / "vgg16"
    words = (
        "pareto",
        "vgg16",
        "--separate",
        "--range",
        "256KB:2048KB:256KB",
        "--range",
        "288KB:2304KB:288KB",
        "--objectives",
        "energy,capacity,latency",
        "--samples",
        600,
        "--keep",
        "none",
    )
    assert cocco(*words, "-o", folder).returncode == 0
    assert cocco("report", folder).stdout == f"{folder / 'report.html'}\n"
    return folder


def test_page_of_a_front_has_a_row_for_each_point(front_folder: Path):
    front = pandas.read_csv(front_folder / "pareto.csv")
    page = page_of(front_folder)
    assert page.rows["points"] == len(front)
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert links[: len(front)] == list(front["partition"])
    for partition, energy in zip(front["partition"], front["energy_pj"]):
        assert partition in page.texts and f"{energy * 1e-9:,.3f}" in page.texts
    assert f"{len(front)} memories with partitions for vgg16: energy " in " ".join(page.texts)
    assert "capacity (KB)" in page.texts and "latency-sum (million cycles)" in page.texts


def test_each_objective_has_a_drawing_against_capacity(front_folder: Path):
    """Capacity is drawn across, whichever objective was named first; every point opens its plan."""
    front = pandas.read_csv(front_folder / "pareto.csv").sort_values(["capacity_bytes", "energy_pj", "latency_cycles"])
    data = data_of(front_folder)
    chart = data["chart"]
    assert chart["x"] == list(front["capacity_bytes"])
    assert chart["y"] == [list(front["energy_pj"]), list(front["latency_cycles"])]
    assert chart["star"] is None and chart["slider"] is None and not chart["stairs"]
    assert report.read(front_folder).axes == ("capacity", "energy", "latency-sum")
    for energy, capacity, place in zip(front["energy_pj"], front["capacity_bytes"], chart["plan"]):
        (plan,) = data["choices"][place]["plans"]
        assert sum(map(sum, plan["energy"].values())) == pytest.approx(energy)
        assert sum(plan["capacity"]) == capacity and not plan["shared"]


def test_a_plan_that_this_version_prices_otherwise_is_only_a_link(front_folder: Path, tmp_path: Path):
    shutil.copytree(front_folder, tmp_path / "copy")
    table = pandas.read_csv(tmp_path / "copy" / "pareto.csv")
    table.loc[0, "energy_pj"] *= 1.001
    table.to_csv(tmp_path / "copy" / "pareto.csv", index=False)
    told = f"pareto.csv: energy_pj is {table.loc[0, 'energy_pj']!r}, result.json has "
    assert_malformed(cocco("report", tmp_path / "copy"), [told.replace("np.float64(", "").replace(")", "")])
    content = json.loads((tmp_path / "copy" / "result.json").read_text())
    content["result"]["front"][0]["energy_pj"] = table.loc[0, "energy_pj"]
    (tmp_path / "copy" / "result.json").write_text(json.dumps(content))
    assert_malformed(cocco("report", tmp_path / "copy"), ["front 0: energy_pj is", "worked out again"])
    report.write(tmp_path / "copy")
    assert len(data_of(tmp_path / "copy")["choices"]) == len(table) - 1


@pytest.mark.parametrize("limit", ["capacity=1MB", "capacity=129KB"])
def test_page_under_limits_shows_the_plan_or_that_there_is_none(tmp_path: Path, limit: str):
    words = (
        "explore",
        "vgg16",
        "--range",
        "128KB:1280KB:128KB",
        "--minimize",
        "latency-sum",
        "--limit",
        limit,
        "--limit",
        "energy=30mJ",
        "--samples",
        300,
        "--keep",
        "none",
    )
    done = cocco(*words, "-o", tmp_path)
    report.write(tmp_path)
    page, text = page_of(tmp_path), " ".join(page_of(tmp_path).texts)
    chart = data_of(tmp_path)["chart"]
    assert [each["text"] for each in chart["limits"]][-1] == "energy at most 30 mJ" and len(chart["limits"]) == 2
    assert (chart["star"] is None) == bool(done.returncode)
    if done.returncode == 0:
        subgraphs = json.loads((tmp_path / "result.json").read_text())["result"]["subgraphs"]
        assert page.rows["subgraphs"] == len(subgraphs) and chart["lines"][chart["star"]][-1] == "recommended"
        assert "for vgg16: latency" in text and "energy at most 30 mJ" in text
    else:
        assert page.count("table") == 0 and "No memory keeps capacity at most 129 KB" in text


def test_names_are_text_on_the_page_of_a_front(tmp_path: Path):
    network = hostile_network(tmp_path)
    assert cocco("pareto", network, "--samples", 200, "--keep", "none", "-o", tmp_path / "run").returncode == 0
    report.write(tmp_path / "run")
    page = page_of(tmp_path / "run")
    assert page.count("img") == page.count("b") == 0 and page.count("script") == 2
    assert any(NAME in text for text in page.texts)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda c: c["result"]["front"].pop(), ["pareto.csv", "result.json tells of"]),
        (lambda c: c["result"].update(networks="vgg16"), ["'networks' is 'vgg16'"]),
        (lambda c: c["result"].update(minimize="beauty", limits={}, nearest={}), ["'minimize' is 'beauty'"]),
        (lambda c: c["result"].update(minimize="energy", limits={"beauty": 1}, nearest={}), ["limits", "'beauty'"]),
        (lambda c: c.update(engine=3), ["'engine' is 3"]),
    ],
)
def test_front_of_something_else_is_one_line(front_folder: Path, tmp_path: Path, edit: Any, words: list[str]):
    for name in ("result.json", "pareto.csv", "samples.csv"):
        (tmp_path / name).write_bytes((front_folder / name).read_bytes())
    change(tmp_path, edit)
    assert_malformed(cocco("report", tmp_path), words)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("pareto.csv", "a,partition\n1,x\n", "has no column 'energy_pj'"),
        ("samples.csv", "sample,shared_buffer_bytes\n1,2\n", "fewer than two of the columns"),
        ("samples.csv", "sample,capacity_bytes,energy_pj\n1,2,3\n", "'..._buffer_bytes'"),
        ("pareto.csv", "", "no table"),
    ],
)
def test_table_of_something_else_is_one_line(front_folder: Path, tmp_path: Path, name: str, text: str, words: str):
    for each in ("result.json", "pareto.csv", "samples.csv"):
        (tmp_path / each).write_bytes((front_folder / each).read_bytes())
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=name) as caught:
        report.read(tmp_path)
    assert words in str(caught.value) and "\n" not in str(caught.value)
