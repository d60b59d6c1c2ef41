"""Sensitivity to memory: what is scaled, what is said where every size misses the clock, and the picture of it."""

from __future__ import annotations

import pandas
import pytest

from experiments.beyond.sensitivity_memory import ANSWERS, SAMPLES, cases, plot, recommend, rows, technology
from tests.helpers.command_line import ROOT

CSV = ROOT / "experiments" / "reference" / "sensitivity_memory.csv"


def test_every_number_is_scaled_alone():
    """Energies, leakage and cycle time of a table; energy and bandwidth of DRAM."""
    plain, table = technology("paper", "paper", "none", 1.0), "cacti7_22nm_hp"
    assert technology("paper", "paper", "DRAM energy", 2.0).dram_pj_per_byte == 2 * plain.dram_pj_per_byte
    assert technology("paper", "paper", "DRAM bandwidth", 0.5).dram_bytes_per_cycle == 8
    scaled = {"SRAM energy": ["read_pj_per_byte", "write_pj_per_byte"], "leakage": ["leakage_mw"]}
    found = technology(table, "paper", "none", 1.0).sram("activation", 2**19)
    for changed, columns in (scaled | {"cycle time": ["cycle_ns"]}).items():
        other = technology(table, "paper", changed, 2.0).sram("activation", 2**19)
        changes = {name: getattr(other, name) / value for name, value in found._asdict().items() if value}
        assert {name: change for name, change in changes.items() if change != 1} == pytest.approx(
            dict.fromkeys(columns, 2)
        )


def test_where_all_sizes_miss_the_clock_there_is_no_recommendation():
    """And the rows say so: of one network, with answers made up for the other technologies."""
    slow = [case for case in cases() if (case["changed"], case["factor"]) == ("cycle time", 2.0)][1]
    found = recommend({"network": "vgg16", **slow, "samples": 10, "seed": 0})
    assert (found["missed_clock"], found["status"], found["shared_buffer_bytes"]) == (47, "all miss the clock", None)
    given = dict.fromkeys(ANSWERS, 1.0) | {"shared_buffer_bytes": 1024, "status": "optimal", "costs": {"1024": 2.0}}

    def compute(_, points):
        return [point | (found if slow.items() <= point.items() else given) for point in points]

    table = rows(compute, 0, ["vgg16"], 10, {})
    assert [row["regret_percent"] for row in table if row["shared_buffer_bytes"] is None] == [None]
    assert {row["regret_percent"] for row in table if row["shared_buffer_bytes"]} == {100.0}
    plot(pandas.DataFrame(table))


def test_the_reference_has_every_technology_of_every_network():
    table = pandas.read_csv(CSV)
    assert table.groupby("network", sort=False).size().to_dict() == dict.fromkeys(SAMPLES, len(cases()))
    ours = table[(table["sram"] == "paper") & (table["dram"] == "paper") & (table["changed"] == "none")]
    assert list(ours["regret_percent"]) == [0.0] * len(SAMPLES)
    assert table[table["status"] == "all miss the clock"].groupby("sram").size().to_dict() == {
        "cacti7_22nm_lop": len(SAMPLES), "cacti7_22nm_lstp": len(SAMPLES),
    }  # fmt: skip


def test_the_page_has_the_sizes_of_the_reference():
    """In KB, with those that certainly cost at most 1 % more where there are any but the recommended one."""
    page, table = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8"), pandas.read_csv(CSV)
    for name, mine in table.groupby("network"):
        kb = mine.set_index(["sram", "dram", "changed", "factor"])[["shared_buffer_bytes", "low_1", "high_1"]] / 1024
        plain = kb[kb.index.get_level_values("changed") == "none"].itertuples(index=False)
        cells = [f"{size:g}" + (f" ({low:g}-{high:g})" if low < high else "") for size, low, high in plain]
        assert f"| {name} | {' | '.join(cells)} |" in page
