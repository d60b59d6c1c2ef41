"""The least traffic of a tiny network: tiles, whole tensors and kept tensors, and that these meet at the bound."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

from experiments.beyond import kept_tensors, network_traffic, tensors_or_tiles
from simulator.technology import KiB
from tests.helpers.tiny_network import write_tiny


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_tiny(tmp_path_factory.mktemp("networks") / "tiny.json")


def test_whole_tensors_and_tiles_meet_at_the_floor_and_kept_tensors_are_below_both(network: str, tmp_path: Path):
    """In a memory that holds all, each moves what every plan must; below that, never less."""
    table = tensors_or_tiles.run(quick=True, seed=0, folder=tmp_path / "a", networks=[network], samples=200)
    for column in ("tensors_bytes", "tiles_bytes", "kept_bytes"):
        known = table[table[column].notna()]
        assert len(known) and (known[column] >= known["floor_bytes"]).all()
    assert tensors_or_tiles.above(table).empty
    assert (table["tensors_bytes"].isna() == (table["bytes"] < table["minimum_bytes"])).all()
    assert tensors_or_tiles.plot(pandas.DataFrame(table)).axes


def test_kept_tensors_does_not_depend_on_the_workers(network: str, tmp_path: Path):
    def table(workers: int) -> pandas.DataFrame:
        folder = tmp_path / str(workers)
        return kept_tensors.run(folder, networks=[network], samples=100, kilobytes=(8, 16), workers=workers)

    one = table(1)
    assert one.equals(table(2))
    chosen = one[one["memory"] == kept_tensors.MEMORY].set_index("keep")
    assert chosen["verified"].all() and chosen.loc["auto", "cost"] <= chosen.loc["none", "cost"]
    given = one[one["memory"] == "given"]
    for what in ("ema_bytes", "energy_pj"):
        none, auto = (given[given["keep"] == keep][what].to_numpy() for keep in ("none", "auto"))
        assert (auto <= none).all()
    assert kept_tensors.plot(one).axes


def test_network_traffic_has_a_row_for_each_network_and_capacity(network: str, tmp_path: Path):
    table = network_traffic.run(tmp_path, networks=[network], samples=100)
    assert list(table["bytes"] // KiB) == list(network_traffic.KILOBYTES)
    assert (table["kept_bytes"] <= table["tiles_bytes"]).all()
    assert network_traffic.plot(table).axes
