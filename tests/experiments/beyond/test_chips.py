"""The fastest chip within an area: more of it is never slower, and its parts add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.beyond import chips
from tests.helpers.tiny_network import write_tiny


def test_more_area_is_never_slower_and_its_parts_add_up(tmp_path: Path):
    network = write_tiny(tmp_path / "tiny.json")
    table = chips.run(quick=True, seed=0, folder=tmp_path / "out", networks=[network], areas=[2.4, 2.5])
    assert table["status"].tolist() == ["optimal", "optimal"]
    assert (table["area_mm2"] <= table["budget_mm2"]).all() and table["latency_ms"].is_monotonic_decreasing
    assert table[[f"{part}_mm2" for part in chips.PARTS]].sum(axis=1).tolist() == pytest.approx(table["area_mm2"])
    drawn = chips.plot(table).axes[0]
    assert sum(bar.get_height() for bar in drawn.patches) == pytest.approx(table["area_mm2"].sum())
