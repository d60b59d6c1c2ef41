"""The experiments about allocation: their tables on small instances, and pictures drawn from the CSV alone."""

from __future__ import annotations

import io
from pathlib import Path

import pandas
import pytest
from pandas.testing import assert_frame_equal

from experiments.paper.related import allocation_time, instances

pytest.importorskip("ortools")
pytest.importorskip("scipy")

#: every step holds 4 bytes, but no 4 bytes are enough (TelaMalloc's Fig. 1 in small; 5 are)
TIGHT = "id,lower,upper,size\np0,0,1,3\np1,0,3,1\np2,1,2,2\np3,1,4,1\np4,2,3,1\np5,2,5,1\np6,3,4,2\np7,4,5,3\n"


@pytest.fixture
def tight(tmp_path: Path) -> str:
    path = tmp_path / "tight.4.csv"
    path.write_text(TIGHT)
    return str(path)


def times(tight: str, folder: Path) -> pandas.DataFrame:
    return allocation_time.run(folder, files=[tight], parts=(2, None), factors=(1.0, 1.25), seeds=2)


def test_every_method_decides_a_problem_of_eight_buffers_and_all_but_times_repeats(tight: str, tmp_path: Path):
    """With 4 bytes there is no allocation, with 5 there is; the first two buffers alone fit in 4 and in 5."""
    table = times(tight, tmp_path / "a")
    assert len(table) == 2 * 2 * 2 * 4
    again = times(tight, tmp_path / "b").drop(columns="cpu_seconds")
    assert_frame_equal(table.drop(columns="cpu_seconds"), again, check_exact=True)
    whole = (table["part"] == "all") & (table["factor"] == 1)
    assert (table[whole]["status"] == "infeasible").all() and (table[whole]["capacity_bytes"] == 4).all()
    assert (table[~whole]["status"] == "feasible").all()
    assert set(table[table["part"] == 2]["buffers"]) == {2}


def test_a_summary_has_medians_and_spread_and_counts_what_is_decided(tight: str, tmp_path: Path):
    table = times(tight, tmp_path / "a")
    table["cpu_seconds"] = [1.0 if method == "auto" else 2.0 + 4 * seed for method, seed in
                            zip(table["method"], table["seed"])]  # fmt: skip
    short = allocation_time.summary(table)
    assert len(short) == 2 * 2 * 4
    row = short[(short["method"] == "CP-SAT") & (short["part"] == "all") & (short["factor"] == 1)].iloc[0]
    assert (row["median"], row["least"], row["most"], row["over_ours"]) == (4, 2, 6, 4)
    assert (row["decided"], row["seeds"]) == (2, 2)
    read = pandas.read_csv(io.StringIO(table.to_csv(index=False)))
    allocation_time.plot(read).savefig(io.BytesIO(), format="png", dpi=30)


def test_encodings_of_too_many_pairs_are_left_out(tight: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(allocation_time, "MOST_PAIRS", 3)
    table = allocation_time.run(tmp_path / "out", files=[tight], parts=(None,), seeds=1)
    left_out = ["CP-SAT pairs", "HiGHS"]
    assert list(table[table["status"] == "left out"]["method"]) == left_out
    assert not set(left_out) & set(allocation_time.summary(table)["method"])


def test_instances_that_are_missing_or_named_alike_are_refused(tight: str, tmp_path: Path):
    with pytest.raises(ValueError, match="name some by --instances"):
        allocation_time.run(tmp_path / "out", files=())
    with pytest.raises(ValueError, match="names of their own, got tight, tight"):
        allocation_time.run(tmp_path / "out", files=[tight, tight])


def test_a_seed_is_another_order_of_the_same_buffers(tight: str):
    buffers = instances.first_buffers(tight, None)
    mixed = instances.shuffled(buffers, 1)
    assert mixed != buffers and sorted(mixed, key=lambda each: each.id) == list(buffers)
    assert mixed == instances.shuffled(buffers, 1) != instances.shuffled(buffers, 2)
    assert instances.capacity_of(buffers, 1.3) == 5
