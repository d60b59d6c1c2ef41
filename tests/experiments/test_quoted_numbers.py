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


@pytest.mark.parametrize("name", FOUR)
def test_memory_grows_and_energy_falls_with_alpha(name: str):
    rows = by(reference("alpha_sweep"), "network", "alpha").loc[name]
    assert rows["shared_kb"].is_monotonic_increasing and rows["energy_pj"].is_monotonic_decreasing


def test_hypervolume_of_googlenet():
    rows = reference("pareto").query("network == 'googlenet' and cores == 1")["hypervolume"]
    assert rows.nunique() == 1 and says(f"GoogleNet's on one core, {rows.iloc[0]:.4f}")


@pytest.fixture(scope="module")
def cores() -> pandas.DataFrame:
    return by(reference("cores_batch"), "network", "cores", "batch")


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


def test_sizes_of_a_core_rise_only_where_the_page_says_so(cores: pandas.DataFrame):
    """Four rises in the table, in this order: cores within a batch within a network."""
    sizes = cores["shared_kb"].unstack("cores")
    rises = [(*row, few, many) for few, many in ((1, 2), (2, 4)) for row in sizes[sizes[few] < sizes[many]].index]
    assert sorted(rises) == [
        ("googlenet", 8, 2, 4), ("nasnet", 1, 2, 4), ("randwire_a", 8, 1, 2), ("resnet50", 8, 1, 2),
    ]  # fmt: skip
    for name, batch, text in (("nasnet", 1, "KB on two cores to {} on four"), ("googlenet", 8, "to {}")):
        assert says(f"{sizes.loc[name, batch][2]:.0f} " + text.format(f"{sizes.loc[name, batch][4]:.0f}"))
    assert says(f"{sizes.loc['randwire_a', 8][1]:.0f} on one core to {sizes.loc['randwire_a', 8][2]:.0f} on two")
    assert says(f"{sizes.loc['resnet50', 8][1]:.0f} on one core to {sizes.loc['resnet50', 8][2]:.0f} on two")


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
    assert (lower.index[0], lower.index[-1]) == ("vgg16", "resnet152")
    assert says(f"falls by {lower.iloc[0]:.1f} % (VGG16) to {lower.iloc[-1]:.1f} % (ResNet152)")


def test_what_holds_of_the_papers_claim():
    """Ours against the others, and the paper's algorithm against annealing, before and after the final search."""
    chosen = {kind: by(reference(f"coexploration_{kind}"), "network", "method") for kind in ("separate", "shared")}
    others = ["RS+GA", "GS+GA", "SA", "Cocco (plain)"]
    least, ahead, behind = [], [], []
    for kind, table in chosen.items():
        for name in FOUR:
            found = table.loc[name, "found_cost"]
            assert found["Cocco"] <= found[others].min()
            share = 100 * (found["Cocco (plain)"] / found["SA"] - 1)
            (ahead if share < 0 else behind).append((kind, name, f"{abs(share):.2f}", f"{abs(share):.1f}"))
            cost = table.loc[name, "cost"]
            if cost["Cocco"] > cost[others].min():
                least.append(
                    (kind, name, cost[others].idxmin(), f"{100 * (cost['Cocco'] / cost[others].min() - 1):.1f}")
                )
    assert says("lowest or equal before the final search in all eight columns")
    assert least == [("separate", "randwire_a", "Cocco (plain)", "0.1")]
    assert says("after it the plain algorithm's memory on RandWire-A with separate buffers is 0.1 % ahead of ours")
    rows = reference("coexploration_shared").query("method in @others or method == 'Cocco'").groupby("network")["cost"]
    assert says(f"all of this is within {100 * (rows.max() / rows.min() - 1).max():.1f} % with a shared buffer")
    separate = sorted(float(each[3]) for each in ahead if each[0] == "separate")
    shared = [each[2] for each in ahead if each[0] == "shared"]
    assert (len(separate), len(shared)) == (3, 2)
    assert says(f"by {words(shared)} % on ResNet50 and GoogleNet with a shared buffer, which is nothing")
    assert says(f"by {separate[0]} to {separate[-1]} % on the three with separate ones")
    assert [each[:2] for each in behind] == [("separate", "nasnet"), ("shared", "randwire_a"), ("shared", "nasnet")]
    assert says(f"{behind[0][3]} and {behind[2][3]} % on NASNet, {behind[1][3]} % on RandWire-A with a shared buffer")


def test_ours_in_the_places_of_the_papers_headline():
    table = by(reference("coexploration_separate"), "network", "method")["cost"]
    pairs = (("resnet50", "SA"), ("randwire_a", "Buf(L)"))
    lower = [f"{100 * (1 - table[name, 'Cocco'] / table[name, other]):.2f}" for name, other in pairs]
    assert says(f"In the same places, ResNet50 against SA and RandWire against Buf(L), ours is {words(lower)} % lower")


def test_what_seeds_say_of_the_papers_claim():
    """Points of cost above the best known between the medians of the plain algorithm and of annealing."""
    table = reference("coexploration_separate_seeds")
    chosen = table[~table["method"].str.startswith("Buf")]
    best = chosen.groupby("network")["cost"].min()
    points = {}
    for column in ("found_cost", "cost"):
        medians = chosen.groupby(["network", "method"])[column].median().unstack()
        assert (medians.idxmin(axis=1) == "Cocco").all()
        points[column] = 100 * (medians["Cocco (plain)"] - medians["SA"]) / best
    assert says("Ours is lowest by its median on all four networks, before and after.")
    before, after = points["found_cost"], points["cost"]
    for text, names in (("on ResNet50 and GoogleNet", FOUR[:2]), ("on RandWire-A and NASNet", FOUR[2:])):
        first, last = (words([f"{abs(found[name]):.1f}" for name in names]) for found in (before, after))
        assert says(f"{text}, by {first} points before and {last} after")
    assert (before[[*FOUR[:2]]] < 0).all() and (before[[*FOUR[2:]]] > 0).all()


def test_what_seeds_say_of_a_shared_buffer():
    table = reference("coexploration_shared_seeds")
    chosen = table[~table["method"].str.startswith("Buf")]
    best = chosen.groupby("network")["cost"].min()
    before, after = (
        100 * (chosen.groupby(["network", "method"])[column].median().unstack().div(best, axis=0) - 1)
        for column in ("found_cost", "cost")
    )
    assert (before["Cocco"] <= before.min(axis=1)).all()
    points = [f"{before.loc[name, 'Cocco (plain)'] - before.loc[name, 'SA']:.1f}" for name in FOUR[1:]]
    assert says(f"on the three that are not trivial, by {words(points)} points")
    assert says(f"After it all is within {after.max(axis=None):.1f} % but single runs")
    ahead = after.loc["randwire_a", "Cocco"] - after.loc["randwire_a", "SA"]
    assert says(f"on RandWire-A annealing's median is {ahead:.2f} points below ours")
    assert after.drop("randwire_a").idxmin(axis=1).eq("Cocco").all()


def test_annealing_comes_last_in_figure_12():
    table = reference("convergence")
    over = 100 * table.groupby(["network", "method", "samples"])["over_best"].median()
    ends = [f"{over['randwire_a', method, 40_000]:.2f}" for method in ("SA", "Cocco")]
    assert says(f"ahead of ours on RandWire-A, {ends[0]} % against {ends[1]} %")
    ours = table.query("method == 'Cocco' and network != 'resnet50'").groupby("network")["samples_within"].median()
    assert ours.nunique() == 1 and says(f"are seen at {ours.iloc[0]:,.0f} samples")
    plain, ours = over["googlenet", "Cocco (plain)"], over["googlenet", "Cocco"]
    ahead = plain.index[plain < ours]
    assert says(f"From {ahead.min():,} to {ahead.max():,} samples the plain algorithm is ahead")
    last = over.xs(50_000, level="samples")
    assert (last.loc[["googlenet", "randwire_a"]].drop("Cocco", level="method") > 1).all()
