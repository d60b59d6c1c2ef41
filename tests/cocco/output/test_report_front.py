"""cocco report for the folders of cocco pareto and of cocco explore under limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pytest

from cocco.output import report
from cocco.problem.dominance import non_dominated
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.hostile_network import NAME, hostile_network
from tests.helpers.pages import change, page_of, points_of
from workloads.errors import FileFormatError


@pytest.fixture(scope="module")
def front_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A front of three objectives for vgg16, two buffers, and its page."""
    folder = tmp_path_factory.mktemp("front") / "vgg16"
    words = (
        "pareto",
        "vgg16",
        "--separate",
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
    assert page.count("tr") == 1 + len(front)
    for partition, energy in zip(front["partition"], front["energy_pj"]):
        assert partition in page.texts and f"{energy * 1e-9:,.6g}" in page.texts
    assert f"{len(front)} memories with partitions for vgg16: energy " in " ".join(page.texts)
    assert "capacity (KB)" in page.texts and "latency (million cycles)" in page.texts


def test_black_dots_are_the_front_in_the_two_objectives_that_are_drawn(front_folder: Path):
    """Capacity is drawn across, whichever objective was named first."""
    front = pandas.read_csv(front_folder / "pareto.csv")
    rows = non_dominated(front["capacity_bytes"].to_numpy(float), front["energy_pj"].to_numpy(float))
    data = points_of(front_folder)
    columns = {column["before"]: column["values"] for column in data["columns"]}
    drawn = [i for i, title in enumerate(data["titles"]) if title.endswith("of the front")]
    assert [data["titles"][i] for i in drawn] == [f"point {row + 1} of the front" for row in rows]
    assert [columns["capacity "][i] for i in drawn] == [front["capacity_bytes"][row] / 1024 for row in rows]
    assert page_of(front_folder).count("polygon") == 0
    assert report.read(front_folder).axes == ("capacity", "energy")


@pytest.mark.parametrize("limit", ["capacity=1MB", "capacity=129KB"])
def test_page_under_limits_shows_the_plan_or_that_there_is_none(tmp_path: Path, limit: str):
    words = (
        "explore",
        "vgg16",
        "--minimize",
        "latency",
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
    assert points_of(tmp_path)["titles"][-1] == "recommended" or done.returncode
    if done.returncode == 0:
        subgraphs = json.loads((tmp_path / "result.json").read_text())["result"]["subgraphs"]
        assert page.count("tr") == 1 + len(subgraphs)
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
