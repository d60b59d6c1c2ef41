"""CoSA on lists of a few layers: the table, and the picture drawn from the CSV alone."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas
import pytest
from pandas.testing import assert_frame_equal

from experiments.common import command
from experiments.page_tables.tables import reference
from experiments.paper.related import mapping_quality
from simulator.mapping import SIMBA
from tests.helpers.command_line import ROOT

LIST = """layer,R,S,P,Q,C,K,N,stride_w,stride_h
one,3,3,14,14,32,32,1,1,1
two,1,1,14,14,64,32,1,2,2
"""


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("lists") / "cosa_short.csv"
    path.write_text(LIST)
    return str(path)


def quality(layers: str, folder: Path, machines: tuple[str, ...] = ("simba", "pe8x8")) -> pandas.DataFrame:
    return mapping_quality.run(quick=True, seed=1, folder=folder, layers=[layers], chosen=machines, valid=20)


def test_quality_has_a_row_for_each_layer_and_machine_and_repeats_but_for_its_times(layers: str, tmp_path: Path):
    table = quality(layers, tmp_path / "a")
    assert list(zip(table["machine"], table["layer"])) == [
        (machine, layer) for machine in ("simba", "pe8x8") for layer in ("one", "two")
    ]
    again = quality(layers, tmp_path / "b", ("simba",))
    times = [name for name in table if str(name).startswith("cpu_")]
    assert_frame_equal(table[:2].drop(columns=times), again.drop(columns=times), check_exact=True)
    assert (table["status"] == "optimal").all() and (table["list"] == "short").all()
    for method in ("cosa", "random", "search", "climb", "polished"):
        assert (table[f"{method}_cycles"] >= table["bound_cycles"] - 1e-9).all()
    assert (table["polished_cycles"] <= table["cosa_cycles"]).all()
    assert (table["random_objective"] >= table["cosa_objective"] - 1e-4).all()
    short = mapping_quality.summary(table)
    assert list(short["layers"]) == [2, 2] and (short["proven"] == 2).all()
    first = table[table["machine"] == "simba"]
    expected = np.exp(np.log(first["random_cycles"] / first["cosa_cycles"]).mean())
    assert short["random_cycles"].iloc[0] == pytest.approx(expected)
    read = pandas.read_csv(io.StringIO(table.to_csv(index=False)))
    mapping_quality.plot(read).savefig(io.BytesIO(), format="png", dpi=30)
    before = read.drop(columns=[name for name in read if "polished" in name])
    assert list(mapping_quality.summary(before)) == [name for name in short if "polished" not in name]


def test_a_list_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    words = ["--layers", str(tmp_path / "none.csv"), "-o", str(tmp_path)]
    assert command.main(mapping_quality.EXPERIMENT, words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "--layers" in said and "none.csv: cannot be read" in said


def test_the_machines_differ_in_what_their_names_say():
    machines = mapping_quality.machines()
    assert machines["simba"] is SIMBA
    wide, deep = machines["pe8x8"], machines["buffers2x"]
    assert wide.macs == 4 * SIMBA.macs and [level.fanout for level in wide.levels] == [1, 8, 1, 8, 64, 1]
    assert [level.entries for level in deep.levels] == [1, 128, 32768, 8192, 131072, None]


def test_the_page_on_mapping_has_the_summary_of_the_reference():
    page = (ROOT / "docs" / "mapping.md").read_text(encoding="utf-8")
    short = mapping_quality.summary(reference("mapping_quality"))
    assert short["layers"].sum() == short["proven"].sum() == 152
    for row in short.to_dict("records"):
        ways = [f"{row[f'{way}_{what}']:.2f}" for way in ("random", "search", "climb") for what in ("cycles", "energy")]
        last = [f"{row[name]:.2f}" for name in ("closed_cycles", "polished_cycles", "polished_energy")]
        assert " | ".join([str(row["layers"]), f"{row['cosa_over_bound']:.3f}", *ways, *last]) in page
