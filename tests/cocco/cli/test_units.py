"""A tiny network on the command line: what it takes is read in uJ, us and KB, and limits are given in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import workloads
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.pages import data_of, page_of
from workloads import Builder

pytestmark = pytest.mark.usefixtures("undrawn")

RANGE = ("--shared", "--range", "16KB:32KB:16KB", "--samples", 200)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A map of 16 x 16 through a convolution, a pool and a classifier."""
    b = Builder("tiny")
    x = b.conv("conv", b.input("image", 16, 16, 8), 32, kernel=3, padding="same")
    b.fc("fc", b.maxpool("pool", x, 2), 10)
    workloads.save(b.build(), tmp_path / "tiny.json")
    return tmp_path / "tiny.json"


def test_no_number_of_a_tiny_network_reads_as_nothing(tiny: Path):
    found = cocco("evaluate", tiny, "--partition", "layerwise", "--shared-buffer", "16KB")
    text = found.stdout
    assert found.returncode == 0 and " mJ" not in text and " ms" not in text and " MB" not in text
    assert re.search(r"energy +\d+\.\d{3} uJ", text) and re.search(r"latency +\d+\.\d{3} us \(paper", text)
    assert re.search(r"^  buffer area +0\.0\d\d mm2", text, re.MULTILINE)
    zeros = {"0.000", "0.0 KB", "0.0 %"}  # of the crossbar of one core; weights and MACs of a pool
    assert {each for each in re.findall(r"(?<![\d.])0\.0+(?: KB| %)?(?![\d.])", text)} <= zeros


def test_a_tile_is_no_larger_than_its_map(tiny: Path):
    """Candidates are squares of up to 64; the JSON has the one that was priced."""
    for batch in (1, 2):
        more = ("--shared-buffer", "64KB", "--batch", batch)
        tiles = re.findall(r"(\d+) x (\d+) ", cocco("evaluate", tiny, "--partition", "layerwise", *more).stdout)
        assert tiles == [("16", "16"), ("8", "8"), ("1", "1")]
    plan = tiny.with_name("plan.json")
    plan.write_text('{"network": "tiny", "subgraphs": [["conv", "pool"], ["fc"]]}')
    asked = ("evaluate", tiny, "--partition", plan, "--shared-buffer", "64KB")
    assert re.findall(r"(\d+) x (\d+) ", cocco(*asked).stdout) == [("8", "8"), ("1", "1")]
    assert "tiles of 8 x 8" in cocco(*asked, "--explain").stdout
    assert answer(cocco(*asked, "--json"))["subgraphs"][0]["tile"] == [64, 64]


def test_macs_over_those_that_fit_into_the_cycles(tiny: Path):
    """The conv: 16 x 16 x 32 outputs of 72 MACs, 1024 in a cycle, in 576 cycles; the fc: 20,480 MACs."""
    content = answer(cocco("evaluate", tiny, "--partition", "layerwise", "--shared-buffer", "64KB", "--json"))
    conv, pool, fc = content["subgraphs"]
    assert (conv["compute_cycles"], conv["utilization"], pool["utilization"]) == (576, 1.0, 0.0)
    assert fc["utilization"] == 20_480 / 1024 / fc["compute_cycles"]
    totals, macs = content["totals"], 16 * 16 * 32 * 72 + 20_480
    assert totals["utilization"] == pytest.approx(macs / 1024 / totals["compute_cycles"], rel=1e-12)
    assert totals["utilization_executed"] == pytest.approx(macs / 1024 / totals["latency_executed_cycles"], rel=1e-12)
    text = cocco("evaluate", tiny, "--partition", "layerwise", "--shared-buffer", "64KB").stdout
    assert f"  MACs busy               {100 * totals['utilization']:.1f} % of the cycles of computing, " in text
    assert " 100.0 %\n" in text


def test_limits_in_small_units_and_in_frames_a_second(tiny: Path):
    asked = ("explore", tiny, *RANGE, "--minimize", "energy", "--json")
    for batch, fps in ((1, "100000fps"), (4, "400000fps")):  # 10 us for the whole batch
        rate, time, cycles = (
            cocco(*asked, "--batch", batch, "--limit", f"latency={limit}").stdout for limit in (fps, "10us", "10000")
        )
        assert rate == time == cycles and '"limits": {"latency_executed_cycles": 10000.0}' in rate
    found = answer(cocco(*asked, "--limit", "energy=5uJ", "--limit", "ema=64KB"))
    assert found["limits"] == {"energy_pj": 5e6, "ema_bytes": 65536.0}
    none = cocco("explore", tiny, *RANGE, "--minimize", "energy", "--limit", "latency=1e9fps")
    assert none.returncode == 1 and "latency at most 1 ns" in none.stdout
    assert_malformed(cocco(*asked, "--limit", "latency=0fps"), "must be above 0")
    assert_malformed(cocco(*asked, "--limit", "energy=5fps"), "known units are pJ, nJ, uJ, mJ, J")


def test_buffer_is_exchanged_in_small_units(tiny: Path):
    asked = ("explore", tiny, *RANGE, "--json")
    small, same = (cocco(*asked, "--exchange", worth).stdout for worth in ("0.512uJ/KB", "500pJ/B"))
    assert small == same and small
    assert_malformed(cocco(*asked, "--exchange", "30fps/mm2"), "pJ, nJ, uJ, mJ, J")


def test_the_page_of_a_tiny_network_has_its_units(tiny: Path):
    folder = tiny.parent / "run"
    assert cocco("explore", tiny, *RANGE, "-o", folder).returncode == 0
    assert cocco("report", folder).returncode == 0
    page, result = page_of(folder), json.loads((folder / "result.json").read_text())["result"]
    heads = {"energy (uJ)", "latency (us)", "off-chip (KB)", "MACs busy (%)"}
    assert heads <= set(page.texts) and not {"energy (mJ)", "latency (ms)"} & set(page.texts)
    for subgraph in result["subgraphs"]:
        assert f"{100 * subgraph['utilization']:.1f}" in page.texts
    assert f"MACs busy: {100 * result['totals']['utilization']:.1f} % of the cycles" in " ".join(page.texts)
    data = data_of(folder)
    (plan,) = data["choices"][0]["plans"]
    assert data["chart"]["up"][0]["unit"] == "uJ"
    assert (plan["units"]["energy"], plan["units"]["time"]) == (["uJ", 1e6], ["us", 1e3])
