"""cocco report: the page of a run, from the real command line; what is missing, cut off or of something else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas
import pytest

from cocco.output import report
from cocco.problem.dominance import non_dominated
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.hostile_network import LAYER, NAME, hostile_network
from tests.helpers.pages import LOADS, change, near_sizes, page_of, points_of
from workloads.errors import FileFormatError

EXPLORE = ("--samples", 400, "--method", "ga")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run for vgg16 and its page."""
    folder = tmp_path_factory.mktemp("run") / "vgg16"
    assert cocco("explore", "vgg16", *EXPLORE, "--keep", "none", "-o", folder).returncode == 0
    assert cocco("report", folder).stdout == f"{folder / 'report.html'}\n"
    return folder


@pytest.fixture
def copy(run_folder: Path, tmp_path: Path) -> Path:
    """A copy of the run without the page, to be damaged."""
    shutil.copytree(run_folder, tmp_path / "copy")
    (tmp_path / "copy" / "report.html").unlink()
    return tmp_path / "copy"


def test_page_says_what_to_build_and_shows_every_subgraph(run_folder: Path):
    result = json.loads((run_folder / "result.json").read_text())["result"]
    page = page_of(run_folder)
    text = " ".join(page.texts)
    assert f"Build a shared buffer of {result['shared_buffer_bytes'] // 1024} KB: energy" in text
    assert f"in {len(result['subgraphs'])} subgraphs." in text
    assert f"{result['cost']:,.0f} = {result['shared_buffer_bytes']:,} bytes of buffer" in text
    assert page.count("tr") == 1 + len(result["subgraphs"]) + 1 + near_sizes(result)
    assert "Sizes that cost at most 1 % more: " in text and "costs at least (%)" in text and "dark band" in text
    for subgraph in result["subgraphs"]:
        assert f"{subgraph['activation_bytes'] / 1024:,.1f}" in page.texts
    assert page.count("svg") == 4  # front, occupancy, energy, the network
    assert "SIDE, rows kept" in text and "capacity of one core (KB)" in text


def test_page_says_how_several_cores_share_each_subgraph(tmp_path: Path):
    folder = tmp_path / "run"
    assert cocco("explore", "vgg16", "--cores", 4, *EXPLORE, "-o", folder).returncode == 0
    assert cocco("report", folder).returncode == 0
    schemes = [each["scheme"] for each in json.loads((folder / "result.json").read_text())["result"]["subgraphs"]]
    texts = page_of(folder).texts
    assert texts.count("cores") == 1 and [text for text in texts if text in schemes] == schemes
    said = next(text for text in texts if text.startswith("How the cores share the subgraphs: "))
    assert f"channels {schemes.count('channels')} (channels dealt)" in said
    assert json.loads((folder / "partition.json").read_text())["schemes"] == schemes
    damaged = json.loads((folder / "result.json").read_text())
    damaged["result"]["subgraphs"][0]["scheme"] = "mirrored"
    (folder / "result.json").write_text(json.dumps(damaged))
    assert_malformed(cocco("report", folder), ["'scheme' is 'mirrored'; known are channels, rotated, held, alone"])


def test_page_fetches_nothing(run_folder: Path):
    """Nothing but links inside the page; the policy forbids the rest."""
    page = page_of(run_folder)
    for tag, attributes in page.elements:
        for name in LOADS & attributes.keys():
            assert str(attributes[name]).startswith(("#", "data:")), (tag, attributes)
    text = (run_folder / "report.html").read_text()
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttp|WebSocket", text)
    assert "default-src 'none'" in text
    assert {found for found in re.findall(r"https?://[^\"'<> ]+", text)} <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip


def test_points_in_the_page_are_the_samples(run_folder: Path):
    """The line goes through the samples that nothing beats, and the last point is the recommendation."""
    data = points_of(run_folder)
    sizes, values, counts, costs = (column["values"] for column in data["columns"])
    samples = pandas.read_csv(run_folder / "samples.csv")
    capacity, value = samples["shared_buffer_bytes"], samples["value"]
    front = {(int(capacity[i]), float(f"{value[i] * 1e-9:.6g}")) for i in non_dominated(capacity, value)}
    assert front <= set(zip(sizes, values))
    for i, title in enumerate(data["titles"][:-1]):
        row = samples.iloc[int(title.removeprefix("sample ").replace(",", "")) - 1]
        assert (sizes[i], counts[i], costs[i]) == (row["shared_buffer_bytes"], row["subgraphs"], round(row["cost"]))
    result = json.loads((run_folder / "result.json").read_text())["result"]
    assert data["titles"][-1] == "recommended" and costs[-1] == round(result["cost"])
    assert counts[-1] == len(result["subgraphs"])
    assert len({len(column) for column in (data["x"], data["y"], values, data["titles"])}) == 1


def test_same_run_gives_the_same_page(run_folder: Path, copy: Path):
    report.write(copy)
    assert (copy / "report.html").read_bytes() == (run_folder / "report.html").read_bytes()


def test_several_networks_each_have_a_table(tmp_path: Path):
    words = (
        "explore",
        "vgg16",
        "googlenet",
        "--separate",
        "--weights",
        1,
        3,
        "--metric",
        "ema",
        *EXPLORE,
        "--keep",
        "none",
    )
    content = answer(cocco(*words, "-o", tmp_path, "--json"))
    report.write(tmp_path)
    page = page_of(tmp_path)
    assert page.count("table") == 3
    rows = sum(len(network["subgraphs"]) for network in content["networks"]) + near_sizes(content)
    assert page.count("tr") == 3 + rows
    sizes = [content[f"{name}_buffer_bytes"] // 1024 for name in ("global", "weight")]
    assert f"a global buffer of {sizes[0]} KB and a weight buffer of {sizes[1]} KB" in " ".join(page.texts)


def test_names_are_text_wherever_they_stand(tmp_path: Path):
    """A name with markup, quotes, the end of a script and dollar signs, in a network of the user's own."""
    network = hostile_network(tmp_path)
    finished = cocco("explore", network, *EXPLORE, "--keep", "none", "-o", tmp_path / "run")
    assert finished.returncode == 0, finished.stderr
    report.write(tmp_path / "run")
    page = page_of(tmp_path / "run")
    assert page.count("img") == page.count("b") == 0
    assert page.count("script") == 2
    assert any(NAME in text for text in page.texts) and any(LAYER in text for text in page.texts)
    assert "not split into MAIN and SIDE" in " ".join(page.texts)


def test_folder_written_by_other_prices_is_shown_as_it_was(copy: Path):
    def edit(content: dict[str, Any]) -> None:
        content["result"]["subgraphs"][0]["energy_pj"] *= 2

    change(copy, edit)
    report.write(copy)
    assert "prices the plan otherwise" in " ".join(page_of(copy).texts)


def test_run_without_a_plan_has_a_page_without_pictures(copy: Path):
    def edit(content: dict[str, Any]) -> None:
        kept = {key: content["result"][key] for key in ("method", "metric", "seed", "samples", "alpha", "cost")}
        content["result"] = kept | {"status": "infeasible", "lower_bound": None, "gap": None, "networks": []}

    change(copy, edit)
    report.write(copy)
    page = page_of(copy)
    assert "No memory of this space runs the networks (infeasible)." in page.texts
    assert page.count("svg") == page.count("table") == 0


@pytest.mark.parametrize("name", ["result.json", "samples.csv", "history.csv"])
def test_file_that_is_missing_is_named(copy: Path, name: str):
    (copy / name).unlink()
    with pytest.raises(FileFormatError, match=f"{name}: cannot be read: No such file"):
        report.write(copy)
    assert not (copy / "report.html").exists()


@pytest.mark.parametrize(("name", "share"), [("result.json", 0.5), ("samples.csv", 0.501), ("history.csv", 0.7)])
def test_file_that_is_cut_off_is_named(copy: Path, name: str, share: float):
    """Anywhere, in the middle of a line or after one."""
    whole = (copy / name).read_bytes()
    cut = int(len(whole) * share)
    for size in (cut, whole.rindex(b"\n", 0, cut) + 1, 0):
        (copy / name).write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=r"samples\.csv|history\.csv|result\.json") as caught:
            report.read(copy)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda c: c.clear(), ["'result' is missing"]),
        (lambda c: c.update(result=[1]), ["'result' is [1]"]),
        (lambda c: c.update(seed=True), ["'seed' is True"]),
        (lambda c: c["result"].update(metric="beauty"), ["'metric' is 'beauty'", "ema, energy, latency"]),
        (lambda c: c["result"].update(tile_rule=None), ["'tile_rule' is None"]),
        (lambda c: c["result"]["accelerator"].update(shared_buffer=-1), ["shared_buffer", "-1"]),
        (lambda c: c["result"]["accelerator"].update(colour="red"), ["accelerator", "colour"]),
        (lambda c: c["result"]["subgraphs"].pop(), ["subgraphs", "totals say otherwise"]),
        (lambda c: c["result"]["subgraphs"][1].update(layers="conv"), ["subgraphs 1: 'layers' is 'conv'"]),
        (lambda c: c["result"]["subgraphs"][0].update(layers=[1]), ["subgraphs 0: 'layers' is [1]"]),
        (lambda c: c["result"]["subgraphs"][0].update(tile=[1, 2, 3]), ["'tile' is (1, 2, 3)"]),
        (lambda c: c["result"]["subgraphs"][0]["energy_breakdown"].pop("dram"), ["'dram' is missing"]),
        (lambda c: c["result"].update(networks=[{"a": 1}]), ["networks 0"]),
    ],
)
def test_result_of_something_else_is_one_line(copy: Path, edit: Any, words: list[str]):
    change(copy, edit)
    with pytest.raises(FileFormatError) as caught:
        report.write(copy)
    message = str(caught.value)
    assert str(copy / "result.json") in message and "\n" not in message
    assert all(word in message for word in words), message
    assert not (copy / "report.html").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no table"),
        ("a,b\n1,2\n", "has no column"),
        ("sample,generation,shared_buffer_bytes,value,cost,best_cost\n1,0,1,2,3,inf\n", "not finite"),
        ("sample,generation,shared_buffer_bytes,value,cost,best_cost\n1,0,1,two,3,4\n", "no table of numbers"),
        ("sample,generation,shared_buffer_bytes,value,cost,best_cost\n1,0,1,2,3,4\n", "history.csv with"),
    ],
)
def test_samples_of_something_else_are_one_line(copy: Path, text: str, words: str):
    (copy / "samples.csv").write_text(text)
    with pytest.raises(FileFormatError, match="samples.csv") as caught:
        report.read(copy)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_folder_that_is_none_is_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for name in ("nothing", "file"):
        with pytest.raises(FileFormatError, match=f"{name}: is no directory"):
            report.write(tmp_path / name)
    assert_malformed(cocco("report", ""), ["DIR is empty"])
    assert_malformed(cocco("report", tmp_path), ["result.json", "No such file"])


def test_page_of_before_stays_where_the_new_one_cannot_be_made(run_folder: Path, copy: Path):
    (copy / "report.html").write_text("before")
    (copy / "samples.csv").write_text("")
    with pytest.raises(FileFormatError):
        report.write(copy)
    assert (copy / "report.html").read_text() == "before"
    assert not list(copy.glob(".*"))
