"""The folder of a search over machines: its page, its picture, what is worked out again, and what a lie is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import cocco as library
import workloads
from cocco.chips.table import height
from cocco.cli import main
from cocco.output import pictures, report
from cocco.output.folders.verified.made_for import RunFolder
from cocco.output.folders.verified.verify_run import check_numbers
from simulator import Machine, Technology
from simulator.chip.logic import NVDLA
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.pages import change, data_of
from workloads.errors import FileFormatError

pytestmark = pytest.mark.usefixtures("undrawn")

ASKED = ("--axis", "pe=4x4,8x8", "--axis", "dram=lpddr5,hbm2e", "--range", "256KB:1MB:256KB", "--keep", "none")
CHIP = ("--logic", "nvdla", "--exchange", "0.5mJ/mm2", "--sensitivity")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chip")
    assert main(["explore", "vgg16", *ASKED, *CHIP, "-o", str(path)]) == 0
    return path


def test_the_page_has_the_chip_every_machine_and_what_decides(folder: Path):
    assert cocco("report", folder).returncode == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    said = json.loads((folder / "result.json").read_text())["result"]
    axes = ", ".join(f"{name} {value}" for name, value in said["axes"].items())
    assert f"Build {axes}, with a shared buffer" in text and "proved: no machine, memory or plan costs less" in text
    assert "the next machine, " in text and "the choice is" in text and "energy of a DRAM byte" in text
    table = text[text.index('<table class="machines">') :]
    assert table[: table.index("</table>")].count("<tr data-row") == len(said["machines"]) == 4
    assert 'class="plan-title"' in text and '<select data-head="pe">' in text


def test_the_drawing_has_every_machine_and_nothing_below_the_stairs(folder: Path):
    report.write(folder)
    chart = data_of(folder)["chart"]
    rows = json.loads((folder / "result.json").read_text())["result"]["machines"]
    assert sorted(chart["x"]) == chart["x"] == sorted(row["area_mm2"] for row in rows)
    assert [row["verdict"] for row in rows].count("best") == 1 and chart["plan"][chart["star"]] == 0
    for heights, stairs in zip(chart["y"], chart["floors"]):
        for x, y in zip(chart["x"], heights):
            assert y >= min(low for across, low in stairs if across <= x) * (1 - 1e-9)
    star = chart["star"]
    cost = [y + chart["slope"] * x for x, y in zip(chart["x"], chart["y"][0])]
    assert min(cost) == cost[star]  # no machine lies below the line of equal cost


def test_the_folder_is_a_plan_and_hardware(folder: Path):
    told = answer(cocco("evaluate", folder, "--verify", "--json"))
    said = json.loads((folder / "result.json").read_text())["result"]
    assert told["verified"] and told["totals"]["energy_pj"] == said["totals"]["energy_pj"]
    assert told["accelerator"] == said["accelerator"]
    plan = ("--partition", folder / "partition.json", "--hardware", folder, "--json")
    assert answer(cocco("evaluate", "vgg16", *plan))["totals"] == said["totals"]


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("result: cost", 1e9, "result: cost is"),
        ("result: chip: area_mm2: total", 2.0, "result: chip: area_mm2: total is 2.0"),
        ("result: axes: pe", "8x8", "for another machine than that of its axes, pe 8x8"),
        ("result: axes: pe", "4x8", "pe 4x8, dram hbm2e is no machine of those that were asked"),
        ("result: machines 0: energy_pj", 1.0, "machines 0: energy_pj is 1.0"),
        ("result: lower_bound", 9e9, "lower_bound is"),
        ("settings: technology: logic: core_mm2", 0.5, "for another machine"),
        ("settings: limits", {"area": 2.0}, "its chip breaks the limit of area"),
        ("result: floors: least", [[1]], "stairs are pairs of numbers"),
        ("result: machines 1: verdict", 3, "verdict"),
    ],
)  # fmt: skip
def test_a_lie_is_told(folder: Path, tmp_path: Path, where: str, value: object, words: str):
    lie = tmp_path / "lie"
    shutil.copytree(folder, lie)
    content = json.loads((lie / "result.json").read_text())
    inner, keys = content, [key for word in where.split(": ") for key in word.split(" ")]
    for key in keys[:-1]:
        inner = inner[int(key)] if key.isdigit() else inner[key]
    inner[keys[-1]] = value
    (lie / "result.json").write_text(json.dumps(content))
    assert_malformed(cocco("report", lie), words)


def test_two_folders_are_compared_and_none_of_another_kind(folder: Path, tmp_path: Path):
    """VGG16 once more with a mm2 four times as dear: a smaller memory, and only the exchange is asked differently."""
    dear, plain = tmp_path / "dear", tmp_path / "plain"
    assert main(["explore", "vgg16", *ASKED, "--logic", "nvdla", "--exchange", "2mJ/mm2", "-o", str(dear)]) == 0
    page = Path(cocco("report", folder, dear).stdout.strip()).read_text(encoding="utf-8")
    told = answer(cocco("compare", folder, dear, "--json"))
    chips = [run["axes"] for run in told["runs"]]
    said = [json.loads((each / "result.json").read_text())["result"] for each in (folder, dear)]
    assert chips == [each["axes"] for each in said] and told["runs"][1]["exchange"] == "2mJ/mm2"
    assert {each["setting"] for each in told["asked_differently"]} == {"exchange"}
    text = cocco("compare", folder, dear).stdout
    for area in (each["chip"]["area_mm2"]["total"] for each in said):
        assert f"{area:.2f} mm2" in text and f"{area:.2f} mm2" in page
    assert page.count('<section class="plan"') == 2
    assert main(["explore", "vgg16", "--range", "1MB:1MB:1KB", "--keep", "none", "-o", str(plain)]) == 0
    assert_malformed(cocco("report", folder, plain), "both of a comparison must be over machines (--axis), or none")
    front = ("pareto", "vgg16", *ASKED, "--samples", "100", "-o", str(tmp_path / "front"))
    assert main([*front]) == 0
    assert_malformed(cocco("report", tmp_path / "front"), "a front of chips has pareto.csv")


def test_a_question_without_a_chip_has_a_page(tmp_path: Path):
    asked = ("--axis", "pe=4x4,8x8", "--range", "1MB:1MB:1KB", "--keep", "none", "--logic", "nvdla")
    assert cocco("explore", "vgg16", *asked, "--limit", "area=1mm2", "-o", tmp_path).returncode == 1
    assert cocco("report", tmp_path).returncode == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No chip for vgg16. Nearest is pe 4x4." in text and "ruled out by area" in text


def test_limits_in_the_unit_of_a_clock_are_checked_and_no_other_question(tmp_path: Path):
    """40 ms on a clock of 0.8 GHz are 32 million cycles; 40 frames a second are 25 ms."""
    asked = ("--axis", "clock=0.8,1.0", "--range", "1MB:1MB:1KB", "--keep", "none", "--logic", "nvdla", "-o", tmp_path)
    assert cocco("explore", "vgg16", *asked, "--limit", "latency=40ms").returncode == 0
    assert cocco("report", tmp_path).returncode == 0
    assert_malformed(cocco("explore", "vgg16", *asked, "--limit", "latency=40fps"), "holds the run of another question")
    change(tmp_path, lambda content: content["settings"]["limits"]["latency"].update(number=1.0))
    assert_malformed(cocco("report", tmp_path), "its chip breaks the limit of latency")


def test_rates_and_two_networks_are_worked_out_again(tmp_path: Path):
    asked = ("--axis", "pe=4x4,8x8", "--range", "1MB:1MB:1KB", "--keep", "none", "--logic", "nvdla", "-o", tmp_path)
    rates = ("--rate", "vgg16=5fps,googlenet=10fps", "--idle", "gated=0.2")
    assert cocco("explore", "vgg16", "googlenet", *asked, *rates).returncode == 0
    assert cocco("report", tmp_path).returncode == 0
    assert "on average, busy" in (tmp_path / "report.html").read_text(encoding="utf-8")
    change(tmp_path, lambda content: content["settings"].update(idle=1.0))
    assert_malformed(cocco("report", tmp_path), "result: power_mw is")


def test_the_picture_has_answers_bounds_the_front_and_the_line_of_equal_cost():
    space = library.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    found = library.explore_chips(
        workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)], "cores": [1, 2]}, exchange="0.5mJ/mm2", space=space,
        machine=Machine(technology=Technology(logic=NVDLA)), keep="none",
    )  # fmt: skip
    figure = pictures.chips_figure(found)
    energy, latency = figure.axes
    for axes, name, scale in ((energy, "least", 1e-9), (latency, "least_ms", 1.0)):
        lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 1 and line.get_markersize() == 5]
        marks = sorted((*map(float, line.get_xydata()[0]), line.get_fillstyle()) for line in lines)
        assert [mark[2] for mark in marks].count("full") == 1
        assert [mark[:2] for mark in marks] == [
            pytest.approx(each)
            for each in sorted((row["area_mm2"], scale * height(row, name)) for row in found.machines)
        ]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"pe 4x4", "cores 2", "the answer", "no machine is below", "costs as much as the answer"} <= set(words)
    timed = library.explore_chips(workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, space=space, keep="none",
                                  minimized="capacity", limits={"latency": 3e7})  # fmt: skip
    assert [axes.get_ylabel() for axes in pictures.chips_figure(timed).axes] == ["latency (ms)"]


def test_broken_folders_are_one_line(folder: Path, tmp_path: Path):
    """Parts of result.json that the page reads, gone or of another kind."""
    content = json.loads((folder / "result.json").read_text())
    wrong = [
        lambda said: said["result"].pop("floors"), lambda said: said["result"].update(machines=[]),
        lambda said: said["result"]["machines"][0].pop("pe"), lambda said: said["result"]["machines"][1].update(pe=4),
        lambda said: said["result"].update(left_out={"x": "y"}), lambda said: said["result"].update(remarks=3),
        lambda said: said["settings"].update(exchange=3), lambda said: said["settings"].update(rates=[1]),
        *(lambda said, name=name: said["result"]["machines"][0].update({name: None}) for name in
          ("memory_bytes", "paid", "least", "least_ms", "latency_ms")),
    ]  # fmt: skip
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    for each in wrong:
        (broken / "result.json").write_text(json.dumps(content))
        change(broken, each)
        with pytest.raises(FileFormatError):
            report.write(broken)
            check_numbers(RunFolder(broken), {"vgg16": workloads.load("vgg16")})
