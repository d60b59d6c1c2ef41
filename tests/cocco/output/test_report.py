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
from simulator.model.cost import EnergyBreakdown
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.hostile_network import LAYER, NAME, hostile_network
from tests.helpers.pages import LOADS, change, data_of, near_sizes, page_of
from workloads.errors import FileFormatError

pytestmark = pytest.mark.usefixtures("undrawn")

EXPLORE = ("--samples", 400, "--method", "ga")
RANGE = ("--range", "768KB:1536KB:64KB")


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
    assert page.rows["subgraphs"] == len(result["subgraphs"]) and page.rows["sizes"] == near_sizes(result)
    assert "Sizes that cost at most 1 % more: " in text and "costs at least (%)" in text and "dark band" in text
    assert "12.5 pJ/bit (Cocco, Sec. 5.1.2)" in text and "needs at least (MB)" in page.texts
    alone = sum(len(subgraph["layers"]) == 1 for subgraph in result["subgraphs"])
    assert f"{alone} of {len(result['subgraphs'])} subgraphs are one layer that runs alone" in text
    for subgraph in result["subgraphs"]:
        assert f"{subgraph['activation_bytes'] / 1024:,.1f}" in page.texts
    (plan,) = data_of(run_folder)["choices"][0]["plans"]
    held = zip(plan["weights"], plan["main"], plan["side"], plan["kept"])
    taken = [each["activation_bytes"] + each["weight_bytes"] for each in result["subgraphs"]]
    assert [sum(each) for each in held] == taken and any(plan["side"])
    energies = [sum(parts) for parts in zip(*plan["energy"].values())]
    assert energies == pytest.approx([each["energy_pj"] for each in result["subgraphs"]])
    assert len(plan["needs"]) == len(taken) and max(plan["compute"]) > 0


def test_page_says_how_several_cores_share_each_subgraph(tmp_path: Path):
    folder = tmp_path / "run"
    assert cocco("explore", "vgg16", "--cores", 4, *EXPLORE, *RANGE, "-o", folder).returncode == 0
    assert cocco("report", folder).returncode == 0
    schemes = [each["scheme"] for each in json.loads((folder / "result.json").read_text())["result"]["subgraphs"]]
    texts = page_of(folder).texts
    assert texts.count("cores") == 1 + len(data_of(folder)["choices"])  # a number of the hardware, a column of each
    assert [text for text in texts if text in schemes][: len(schemes)] == schemes
    said = next(text for text in texts if "How the cores share the subgraphs: " in text)
    assert f"channels {schemes.count('channels')} (channels dealt)" in said
    assert json.loads((folder / "partition.json").read_text())["schemes"] == schemes
    damaged = json.loads((folder / "result.json").read_text())
    damaged["result"]["subgraphs"][0]["scheme"] = "mirrored"
    (folder / "result.json").write_text(json.dumps(damaged))
    assert_malformed(cocco("report", folder), ["'scheme' is 'mirrored'; known are channels, rotated, held, alone"])


def test_page_fetches_nothing(run_folder: Path):
    """Nothing but links inside the page, and those to partition files beside it; the policy forbids the rest."""
    page = page_of(run_folder)
    for tag, attributes in page.elements:
        for name in LOADS & attributes.keys():
            is_plan = tag == "a" and re.fullmatch(r"(sizes/|partitions/)?[\w.-]+\.json", str(attributes[name]))
            assert is_plan or str(attributes[name]).startswith(("#", "data:")), (tag, attributes)
    text = (run_folder / "report.html").read_text()
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttp|WebSocket", text)
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\"'<> ]+", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_every_size_shows_the_price_and_the_bound_that_the_run_has(run_folder: Path):
    """Priced: the least sample or the plan of the ranges. Bound: what is left of the cost's for alpha x metric."""
    result = json.loads((run_folder / "result.json").read_text())["result"]
    chart = data_of(run_folder)["chart"]
    samples = pandas.read_csv(run_folder / "samples.csv").groupby("shared_buffer_bytes")["value"].min()
    candidates = {each["shared_buffer_bytes"]: each for each in result["ranges"]["sizes"]}
    assert chart["x"] == sorted(candidates) and chart["whole"] and chart["banded"]
    for x, price, least in zip(chart["x"], chart["y"][0], chart["least"]):
        each = candidates[x]
        known = [value for value in (samples.get(x), each["value"]) if value is not None]
        if x != result["shared_buffer_bytes"]:
            assert price == (min(known) if known else None)
        assert least is not None and (price is None or least <= price)
        assert x + result["alpha"] * least <= (each["cost"] or float("inf")) * (1 + 1e-9)
        assert x + result["alpha"] * least >= each["bound"] * (1 - 1e-9)
    star = chart["star"]
    assert chart["x"][star] == result["shared_buffer_bytes"] and chart["y"][0][star] == result["totals"]["energy_pj"]
    assert chart["lines"][star][-1] == "recommended" and chart["slider"]["alpha"] == result["alpha"]


def test_sizes_that_a_proof_solved_have_their_plans(tmp_path: Path):
    """Beside the recommendation: a file for each, priced again, to the number that the ranges have."""
    space = ("--shared", "--range", "512KB:1024KB:128KB")
    assert cocco("explore", "vgg16", *space, "-o", tmp_path).returncode == 0
    assert cocco("report", tmp_path).returncode == 0
    data, result = data_of(tmp_path), json.loads((tmp_path / "result.json").read_text())["result"]
    values = {each["shared_buffer_bytes"]: each["value"] for each in result["ranges"]["sizes"]}
    chart, opened = data["chart"], 0
    for x, place in zip(chart["x"], chart["plan"]):
        if place is not None:
            (plan,) = data["choices"][place]["plans"]
            assert plan["capacity"] == [x] and sum(map(sum, plan["energy"].values())) == pytest.approx(values[x])
            assert place == 0 or (tmp_path / "sizes" / f"{x // 1024}KB.json").is_file()
            opened += 1
    assert opened == 1 + len(list((tmp_path / "sizes").iterdir())) > 1
    next((tmp_path / "sizes").iterdir()).write_text("[")
    assert cocco("report", tmp_path).returncode == 0  # without that plan
    assert len(data_of(tmp_path)["choices"]) == opened - 1


def test_same_run_gives_the_same_page(run_folder: Path, copy: Path):
    report.write(copy)
    assert (copy / "report.html").read_bytes() == (run_folder / "report.html").read_bytes()


def test_a_new_answer_leaves_no_page_about_the_one_before(tmp_path: Path):
    words = ("vgg16", "--samples", 100, "--method", "ga", "--keep", "none", "-o", tmp_path)
    assert cocco("explore", *words).returncode == 0
    for name in ("report.html", "compare.html", "compare-x.html", "notes.html"):
        (tmp_path / name).write_text("before")
    assert cocco("explore", *words, "--seed", 2, "--force").returncode == 0
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["notes.html"]


def test_several_networks_each_have_a_table(tmp_path: Path):
    words = (
        "explore",
        "vgg16",
        "resnet50",
        "--separate",
        "--range",
        "512KB:1MB:256KB",
        "--range",
        "576KB:1152KB:288KB",
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
    here, beside = (len(list(folder.glob("*vgg16.json"))) for folder in (tmp_path, tmp_path / "sizes"))
    steps = sum(len(network["subgraphs"]) for network in content["networks"])
    assert page.rows["subgraphs"] == (here + beside) * steps  # the same plans in the sizes beside the answer
    assert page.rows["sizes"] == near_sizes(content)
    sizes = [content[f"{name}_buffer_bytes"] // 1024 for name in ("global", "weight")]
    assert f"a global buffer of {sizes[0]} KB and a weight buffer of {sizes[1]} KB" in " ".join(page.texts)


def test_names_are_text_wherever_they_stand(tmp_path: Path):
    """A name with markup, quotes, the end of a script and dollar signs, in a network of the user's own."""
    network = hostile_network(tmp_path)
    finished = cocco("explore", network, *EXPLORE, *RANGE, "--keep", "none", "-o", tmp_path / "run")
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


def test_every_part_of_the_energy_has_a_colour():
    """Without one it would be black, as others without one."""
    style = (Path(report.__file__).parent / "script" / "page.css").read_text()
    assert all(re.search(rf"\.e-{part}\b[^{{}}]*{{ fill: var", style) for part in EnergyBreakdown._fields)
