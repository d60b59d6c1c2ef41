"""cocco report A B: two runs beside each other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cocco.output.report import read_pair
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.pages import Page, data_of

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One network with two spaces of memories."""
    folder = tmp_path_factory.mktemp("runs")
    for name, space in (("one", "--shared"), ("two", "--separate")):
        words = ("vgg16", space, "--samples", 200, "--method", "ga", "--keep", "none", "-o", folder / name)
        assert cocco("explore", *words).returncode == 0
    return folder / "one", folder / "two"


def test_a_pair_says_what_differs_in_question_and_answer(runs: tuple[Path, Path]):
    first, second = runs
    assert cocco("report", first, second).stdout == f"{first / 'compare-two.html'}\n"
    text = (first / "compare-two.html").read_text()
    (first / "report.html").write_text(text)  # where data_of looks
    data, page = data_of(first), Page(text)
    results = [json.loads((folder / "result.json").read_text())["result"] for folder in runs]
    for result in results:
        assert f"{result['cost']:,.0f}" in page.texts
        assert f"{result['totals']['energy_pj'] * 1e-9:,.3f} mJ" in page.texts
    change = results[1]["totals"]["energy_pj"] / results[0]["totals"]["energy_pj"] - 1
    assert f"{100 * change:+.2f} %" in page.texts
    assert "space.shared_buffer.low" in page.texts and "samples" not in page.texts  # asked alike
    overlay = data["chart"]["overlay"]
    assert overlay["y"][overlay["star"]] == results[1]["totals"]["energy_pj"]
    assert data["chart"]["slider"]["reset"] == "As asked"
    recommended = data["chart"]["plan"][data["chart"]["star"]], overlay["plan"][overlay["star"]]
    assert [len(data["choices"][at]["plans"][0]["time"]) for at in recommended] == [
        len(result["subgraphs"]) for result in results
    ]
    assert page.count("select") == 2 and page.count("option") == len(data["choices"]) > 2  # a list for each run


def test_of_two_alphas_the_button_says_whose_it_goes_back_to(runs: tuple[Path, Path], tmp_path: Path):
    asked = ("vgg16", "--shared", "--alpha", 0.01, "--samples", 200, "--method", "ga", "--keep", "none")
    assert cocco("explore", *asked, "-o", tmp_path / "other").returncode == 0
    page = cocco("report", tmp_path / "other", runs[0]).stdout.strip()
    assert '"reset":"As other asked"' in Path(page).read_text()


def test_each_comparison_has_a_page_of_its_own(runs: tuple[Path, Path], tmp_path: Path):
    """Also where two that are compared with have one name; asked again, a page is written anew."""
    first, second = runs
    other = tmp_path / "two"
    shutil.copytree(second, other)
    before = {page.name for page in first.glob("compare*")}
    (pages,) = {json.loads(cocco("report", first, other, "--json").stdout)["page"]} - before
    assert pages.startswith("compare-") and pages.endswith("_two.html")
    assert cocco("report", first, second).returncode == 0
    assert {page.name for page in first.glob("compare*")} == before | {"compare-two.html", pages}
    assert json.loads(cocco("report", first, other, "--json").stdout)["page"] == pages


def test_a_pair_needs_two_runs_of_explore(runs: tuple[Path, Path], tmp_path: Path):
    assert_malformed(cocco("report", runs[0], tmp_path), ["result.json", "No such file"])
    assert_malformed(cocco("report", runs[0], ""), ["OTHER is empty"])


def test_runs_of_different_networks_are_compared_in_what_can_be(runs: tuple[Path, Path], tmp_path: Path):
    """Their energies are no change of each other; how far each is above what any schedule moves can be compared."""
    words = ("googlenet", "--shared", "--samples", 200, "--method", "ga", "--keep", "none", "-o", tmp_path / "other")
    assert cocco("explore", *words).returncode == 0
    rows = {row[0]: row[1:] for row in read_pair(runs[0], tmp_path / "other").answers}
    results = [json.loads((folder / "result.json").read_text())["result"] for folder in (runs[0], tmp_path / "other")]
    for name in ("cost", "energy", "off-chip traffic", "latency", "subgraphs"):
        assert rows[name][2] == "of other networks"
    assert rows["buffer area"][2].endswith("%")
    times = [each["totals"]["ema_bytes"] / each["any_schedule_bound_bytes"] for each in results]
    assert rows["over the least of any schedule"][:2] == tuple(f"{each:.3f} times" for each in times)
