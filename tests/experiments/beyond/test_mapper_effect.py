"""What the mappers change, on a tiny network, and the picture of it, drawn from the CSV alone."""

from __future__ import annotations

import io
from pathlib import Path

import pandas

from experiments.beyond import mapper_effect
from tests.helpers.tiny_network import write_tiny


def test_the_effect_of_a_mapper_is_measured_against_the_default(tmp_path: Path):
    network = write_tiny(tmp_path / "tiny.json", "a")
    table = mapper_effect.run(quick=True, seed=0, folder=tmp_path / "sweep", networks=[network], samples=6)
    assert list(table["mapper"]) == ["enumerate", "tiled", "cosa"] * 2
    plain = table[table["mapper"] == "enumerate"]
    assert (plain["regret_percent"] == 0).all() and (plain["solved"] == 0).all()
    assert (table["regret_percent"] >= 0).all()
    cosa = table[table["mapper"] == "cosa"]
    assert (cosa["solved"] > 0).all() and (cosa["asked"] > cosa["solved"]).all()
    read = pandas.read_csv(io.StringIO(table.to_csv(index=False)))
    mapper_effect.plot(read).savefig(io.BytesIO(), format="png", dpi=30)
