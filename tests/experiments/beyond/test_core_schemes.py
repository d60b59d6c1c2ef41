"""The table of schemes on a tiny network: every plan is executed, every subgraph is counted once."""

from __future__ import annotations

from pathlib import Path

from experiments.beyond import core_schemes
from simulator.partition.schemes import CORE_SCHEMES
from tests.helpers.tiny_network import write_tiny


def test_each_row_has_every_subgraph_once_and_an_execution(tmp_path: Path):
    network = write_tiny(tmp_path / "tiny.json")
    table = core_schemes.run(quick=True, seed=0, folder=tmp_path / "out", networks=[network], samples=100)
    assert table["cores"].tolist() == [2, 4, 8]
    assert (table[list(CORE_SCHEMES)].sum(axis=1) == table["subgraphs"]).all()
    assert table["verified"].all() and (table["different"] == 0).all() and (table["equal"] > 0).all()
    drawn = core_schemes.plot(table).axes[0]
    assert sum(bar.get_height() for bar in drawn.patches) == table["subgraphs"].sum()
