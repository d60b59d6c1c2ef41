"""Numbers in the sentences of docs/experiments.md are those of experiments/reference/*.csv, as its tables are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas
import pytest

from experiments.tables import reference

WORDS = " ".join((Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8").split())
FOUR = ("resnet50", "googlenet", "randwire_a", "nasnet")


def says(text: str) -> bool:
    """Tell whether the page has these words, wherever its lines end."""
    return " ".join(text.split()) in WORDS


def by(table: pandas.DataFrame, *keys: str) -> pandas.DataFrame:
    return table.set_index([*keys]).sort_index()


def words(values: Sequence[str]) -> str:
    """Return "1, 2 and 3".

    >>> words(["1", "2", "3"])
    '1, 2 and 3'
    """
    return f"{', '.join(values[:-1])} and {values[-1]}"


def test_three_and_five_layers_per_subgraph():
    rows = by(reference("fusion_depth"), "network", "layers").loc["resnet50"]
    saved = 100 * (1 - rows["ema_activation_share"])
    assert says(f"-{saved[3]:.1f} %, and a further {saved[5] - saved[3]:.1f} points")
    whole, activations = rows.loc[1, ["ema_bytes", "ema_activation_bytes"]] / 2**20
    falls = words([f"{100 * (1 - rows.loc[depth, 'ema_share']):.1f}" for depth in (3, 5)])
    weights = f"because {whole - activations:.0f} of {whole:.0f} MB are weights"
    assert says(f"falls by {falls} %, {weights}")


def test_production_centric_tiles():
    table = by(reference("production_centric"), "network", "tile")["times"]
    one, four = (table.loc["googlenet", tile] for tile in (1, 4))
    assert says(f"take {one.min():.2f} to {one.max():.2f} times as much in GoogleNet's modules")
    assert says(f"{four.min():.2f} to {four.max():.2f} times for 4 x 4")
    shortcuts = reference("production_centric").query("block.str.contains('shortcut')")["times"]
    assert says(f"one with a projection {shortcuts.min():.2f} to {shortcuts.max():.2f} times")


def test_partitions_below_greedy():
    table = by(reference("partition_quality"), "network", "method")
    ours = table.xs("Cocco", level="method")
    below = 100 * (1 - ours.loc[["randwire_a", "randwire_b"], "ema_share"])
    assert says(f"ours is {below.min():.0f} to {below.max():.0f} % below greedy")
    assert (ours["gap"] == 0).sum() == 6 and says("On all six networks where the enumeration finishes")


def test_energies_of_nasnet_over_alpha():
    rows = by(reference("alpha_sweep"), "network", "alpha").loc["nasnet"]
    assert rows.loc[0.0005, "shared_kb"] == rows.loc[0.001, "shared_kb"]
    assert says(f"they rise by {100 * (rows.loc[0.001, 'energy_share'] - 1):.2f} %")


def test_hypervolume_of_googlenet():
    rows = reference("pareto").query("network == 'googlenet' and cores == 1")["hypervolume"]
    assert rows.nunique() == 1 and says(f"GoogleNet's on one core, {rows.iloc[0]:.4f}")


@pytest.fixture(scope="module")
def cores() -> pandas.DataFrame:
    return by(reference("cores_batch"), "network", "cores", "batch")


@pytest.mark.parametrize("name", FOUR)
def test_one_row_of_cores_over_both_papers(name: str, cores: pandas.DataFrame):
    rows = cores.loc[name].xs(1, level="batch")
    energy, latency = (", ".join(f"{value:.2f}" for value in rows[each]) for each in ("energy_mj", "latency_ms"))
    size = ", ".join(map(str, rows["shared_kb"]))
    (line,) = [each for each in WORDS.split("| batch 1, cores 1, 2, 4 |")[1].split(" | |")[:6] if energy in each]
    assert latency in line and size in line


def test_energy_and_latency_over_cores(cores: pandas.DataFrame):
    energy = cores["energy_mj"].xs(1, level="batch")
    falls = {
        name: words([f"{100 * (1 - energy[name, one] / energy[name, other]):.1f}" for one, other in ((2, 1), (4, 2))])
        for name in FOUR
    }
    assert says(f"by {falls['resnet50']} % on ResNet50 and {falls['googlenet']} % on GoogleNet")
    assert says(f"**NASNet**, not proved, falls by {falls['nasnet']} %")
    latency = cores["latency_ms"].xs(1, level="batch")
    faster = {
        name: words([f"{latency[name, 1] / latency[name, each]:.2f}" for each in (2, 4)])
        for name in ("resnet50", "googlenet")
    }
    assert says(f"by {faster['resnet50']} on ResNet50 (the paper 1.85 and 3.30)")
    assert says(f"{faster['googlenet']} on GoogleNet (1.97 and 3.80)")


def test_energy_of_batches(cores: pandas.DataFrame):
    energy = cores["energy_mj"]
    ours = words([f"{energy[name, 4, 8]:.2f}" for name in ("resnet50", "googlenet")])
    assert says(f"6.24 on GoogleNet, ours {ours}")
    each = ", ".join(f"{energy['nasnet', 1, batch] / batch:.1f}" for batch in (1, 2, 8))
    assert says(f"NASNet {each} mJ for 1, 2, 8 on one core")
    each = ", ".join(f"{energy['randwire_a', 1, batch] / batch:.2f}" for batch in (1, 2, 8))
    assert says(f"weights once: {each} mJ per sample at 1, 2, 8")


def test_differences_of_more_than_ten_percent(cores: pandas.DataFrame):
    energy, latency = (cores[f"{each}_difference"] for each in ("energy_mj", "latency_ms"))
    batches = energy.loc[["resnet50"]].xs(8, level="batch")
    assert says(f"**ResNet50, energy at batch 8 ({_span(batches)}).**")
    batches = energy.loc[["randwire_a"]].drop(1, level="batch")
    assert says(f"**RandWire-A, energy of batches ({_span(batches, down=True)}).**")
    assert says(f"**NASNet ({_span(energy.loc[['nasnet']], down=True)}).**")
    two = [f"{100 * energy[name, 2, 1]:.0f}" for name in ("googlenet", "randwire_a")]
    assert says(f"energy of two cores ({words(two)} % at batch 1).**")
    one = latency.loc[["randwire_a", "nasnet"]].xs(1, level="cores")
    for name, text in (("randwire_a", "RandWire-A"), ("nasnet", "NASNet")):
        assert says(f"{text} ({_span(one.loc[[name]], down=True)})")


def _span(values: pandas.Series[float], *, down: bool = False) -> str:
    """Return "+12 to +34 %", from the one nearer to the paper's, or one number where both are."""
    ends = sorted((100 * values.dropna()).agg(["min", "max"]), reverse=down)
    return f"{' to '.join(dict.fromkeys(f'{end:+.0f}' for end in ends))} %"


def test_schemes_of_cores():
    table = reference("core_schemes")
    checks = words([f"{table['equal'].sum():,} numbers are equal", f"{table['within'].sum()} within"])
    assert table["verified"].all()
    assert says(f"{checks.replace(' and', ',')}, {table['different'].sum()} different")
    assert says(f"in {table['channels'].sum()} of {table['subgraphs'].sum()} subgraphs")
    assert says(f"weights in every core in {table['held'].sum()}")
    assert says(f"weights that rotate in {table['rotated'].sum()}") and not table["alone"].any()


def test_kept_tensors_lower_the_cost():
    chosen = reference("kept_tensors").query("memory != 'given'")
    cost = chosen.pivot_table(index="network", columns="keep", values="cost")
    lower = (100 * (1 - cost["auto"] / cost["none"])).sort_values()
    assert (lower.index[0], lower.index[-1]) == ("vgg16", "transformer")
    assert says(f"falls by {lower.iloc[0]:.1f} % (VGG16) to {lower.iloc[-1]:.1f} % (Transformer)")
