"""Numbers in sentences of docs/experiments.md and other pages are those of experiments/reference, as tables are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas
import pytest

from experiments.common.drawing import TITLES
from experiments.page_tables.tables import reference
from experiments.paper.related import allocation_time, mapping_quality

DOCS = Path(__file__).parents[2] / "docs"
FOUR = ("resnet50", "googlenet", "randwire_a", "nasnet")


def says(text: str, page: str = "experiments.md") -> bool:
    """Tell whether the page has these words, wherever its lines end."""
    return " ".join(text.split()) in " ".join((DOCS / page).read_text(encoding="utf-8").split())


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
    """One rise in the table."""
    sizes = cores["shared_kb"].unstack("cores")
    rises = [(*row, few, many) for few, many in ((1, 2), (2, 4)) for row in sizes[sizes[few] < sizes[many]].index]
    assert rises == [("resnet50", 8, 1, 2)]
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
    least, most = (f"{lower.iloc[at]:.1f} % ({TITLES[str(lower.index[at])]})" for at in (0, -1))
    assert says(f"falls by {least} to {most}")


def ends(name: str) -> pandas.DataFrame:
    """Return the median of what each method found itself with all its samples, percent above the best known."""
    table = reference(name).query("samples == 50000")
    return 100 * table.groupby(["network", "method"])["over_best"].median().unstack()


def test_what_holds_of_the_papers_claim():
    """Ours against the others; then the paper's algorithm against annealing, on narrow and on wide networks."""
    tables = {"separate": ends("convergence_separate"), "shared": ends("convergence")}
    pairs: dict[tuple[str, str], str] = {}
    for kind, over in tables.items():
        assert (over["Cocco"] <= over.min(axis=1)).all()
        wide = over.drop(index=["resnet50", "googlenet"])
        assert (wide["Cocco (paper)"] < wide[["RS+GA", "GS+GA"]].min(axis=1)).all()
        assert (wide["Cocco (paper)"] > wide["SA"] + 0.5).all()
        for name in over.index:
            pairs[kind, str(name)] = f"{over.loc[name, 'Cocco (paper)']:.2f} % against {over.loc[name, 'SA']:.2f}"
        large = words([f"{over.loc[name, 'Cocco (paper, 500)']:.2f}" for name in FOUR if name in over.index])
        assert says(f"{large} % with {'separate buffers' if kind == 'separate' else 'a shared one'}")
    assert len(pairs) == 7 and says("lowest or equal by its median in all seven columns")
    assert says(f"separate buffers it is level on ResNet50, {pairs['separate', 'resnet50']}")
    assert says(f"ahead on GoogleNet, {pairs['separate', 'googlenet']}")
    assert says(f"and behind on RandWire-A, {pairs['separate', 'randwire_a']}.")
    assert says(f"level on ResNet50, {pairs['shared', 'resnet50']}, and GoogleNet, {pairs['shared', 'googlenet']}")
    assert says(f"behind on RandWire-A, {pairs['shared', 'randwire_a']}, and NASNet, {pairs['shared', 'nasnet']}")
    level = [("separate", "resnet50"), ("shared", "resnet50"), ("shared", "googlenet")]
    assert (
        max(abs(tables[kind].loc[name, "Cocco (paper)"] - tables[kind].loc[name, "SA"]) for kind, name in level) < 0.03
    )


def test_ours_in_the_places_of_the_papers_headline():
    table = by(reference("coexploration_separate"), "network", "method")["cost"]
    pairs = (("resnet50", "SA"), ("randwire_a", "Buf(L)"))
    lower = [f"{100 * (1 - table[name, 'Cocco'] / table[name, other]):.2f}" for name, other in pairs]
    assert says(f"In the same places, ResNet50 against SA and RandWire against Buf(L), ours is {words(lower)} % lower")


def test_samples_of_figure_12():
    table, last = reference("convergence"), ends("convergence")
    assert table["seed"].nunique() == 10 and reference("convergence_separate")["seed"].nunique() == 9
    assert (last.drop(columns="Cocco").loc[["googlenet", "randwire_a", "nasnet"]] > 1).all(axis=None)
    ours = table.query("method == 'Cocco'").drop_duplicates(["network", "seed"])
    reached = ours.groupby("network")["samples_within"].median()
    assert (last["Cocco"] < 1).all()
    assert says(f"there after {reached['googlenet']:,.0f} and {reached['nasnet']:,.0f} samples")
    over = 100 * table.groupby(["network", "method", "samples"])["over_best"].median()
    paper, ours = over["googlenet", "Cocco (paper)"], over["googlenet", "Cocco"]
    ahead = paper.index[paper < ours]
    assert says(f"from {ahead.min():,} to {ahead.max():,} samples the paper's algorithm is ahead of it on GoogleNet")


def test_regret_where_the_technology_is_another():
    table = reference("sensitivity")
    most = table.groupby("constant")["regret_percent"].max()
    assert most.max() == most["DRAM"] and says(f"at most {most['DRAM']:.1f} % more than the best", "pareto.md")
    assert says(f"(at most {most['SRAM']:.1f} %)", "pareto.md")
    proved = table[(table["constant"] == "MAC") & (table["status"] == "optimal")]
    assert (proved["shared_buffer_bytes"] == proved["ours_bytes"]).all()


def test_mappings_of_layer_lists():
    table = reference("mapping_quality")
    again = (table["rounds"] > 1).sum()
    assert says(f"All {len(table)} are proved, {again} of them after the judge had rejected", "mapping.md")
    worst = table.loc[(table["cosa_cycles"] / table["bound_cycles"]).idxmax()]
    program, closed, climb = (worst[f"{way}_cycles"] / worst["bound_cycles"] for way in ("cosa", "closed", "climb"))
    times = f"{program:.1f} times the bound by the program, {closed:.1f} by the closed form and {climb:.1f} by climbing"
    assert says(f"`{worst['layer']}`, a window of 5 x 20 with dilation 8, takes {times}", "mapping.md")
    assert (table["polished_cycles"] <= table["cosa_cycles"]).all()


def test_regret_under_other_mappers():
    table = by(reference("mapper_effect"), "mapper", "metric", "network")
    assert says(f"costs at most {table['regret_percent'].max():.2f} % more", "mapping.md")
    compute = table["compute_cycles"].xs("energy", level="metric")
    falls = [
        100 * (1 - compute["cosa", name] / compute["enumerate", name]) for name in ("vgg16", "resnet50", "googlenet")
    ]
    assert says("fall by {:.1f} % (VGG16), {:.1f} % (ResNet50) and {:.1f} % (GoogleNet)".format(*falls), "mapping.md")
    energy = table["energy_pj"].xs("energy", level="metric")
    more = 100 * (energy["tiled"] / energy["enumerate"] - 1)
    assert says(f"reads add {more.min():.1f} % to {more.max():.1f} % energy", "mapping.md")


def test_times_of_exact_solvers():
    table = allocation_time.summary(reference("allocation_time"))
    table["spread"] = table["most"] / table["least"]
    whole, first = (by(table[table["part"].astype(str) == part], "method") for part in ("all", "80"))
    ours, ilp = whole.loc["auto"], whole.loc["HiGHS"]
    times = 1e3 * ours["least"].min(), 1e3 * ours["most"].max()
    assert says("decides all, in {:.0f} to {:.0f} ms".format(*times), "allocation.md")
    assert says(f"at least {mapping_quality.mean(list(ilp['over_ours'])):.0f} times as long", "allocation.md")
    worst = first.loc["HiGHS"].set_index("instance")["spread"]
    assert says(f"up to {worst.max():.0f} times as long in one order as in another ({worst.idxmax()}:", "allocation.md")
    spread = first.loc["auto"].set_index("instance")["spread"]
    assert says(f"The spread of `auto` is up to {spread.max():.1f} ({spread.idxmax()})", "allocation.md")
