"""Pictures of plans and fronts: what is drawn is the data, units on the axes, differences that grey keeps."""

from __future__ import annotations

import itertools

import matplotlib.colors
import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PatchCollection

import cocco
import workloads
from cocco.allocation.address_map import address_map
from cocco.output import pictures
from cocco.output.layout import LANE_GAP, LAYER_GAP, layout
from cocco.output.pictures.allocation import map_figure
from cocco.output.pictures.network import PALETTE
from cocco.output.pictures.style import FILLS, MANY_BARS
from simulator import Accelerator, KiB, MiB, Partition, evaluate
from simulator.model.cost import EnergyBreakdown
from simulator.views.occupancy import Occupancy, occupancies

VGG = workloads.load("vgg16")
CHIP = Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)
POINTS = pandas.DataFrame({"capacity": [4096, 1024, 3072, 2048], "energy": [1e9, 9e9, 3.5e9, 3e9]})


def luma(colour: str) -> float:
    """Return the lightness of a colour as grey (ITU-R BT.601)."""
    return float(np.dot(matplotlib.colors.to_rgb(colour), [0.299, 0.587, 0.114]))


def heights(axes) -> list[list[float]]:
    """Return the heights of the bars, part by part."""
    return [[float(bar.get_height()) for bar in part] for part in axes.containers]


def test_front_is_a_staircase_under_all_points():
    """(3072, 3.5) is beaten by (2048, 3): 3 of 4 points; KB and mJ; the star where it belongs."""
    axes = pictures.front_figure({"run": POINTS}, best=(2048, 3e9)).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("capacity of one core (KB)", "energy (mJ)")
    dominated, stairs, front, star = axes.get_lines()
    assert list(zip(*dominated.get_data())) == [(3.0, 3.5)]
    assert list(zip(*front.get_data())) == [(1.0, 9.0), (2.0, 3.0), (4.0, 1.0)]
    assert stairs.get_drawstyle() == "steps-post"
    assert np.asarray(stairs.get_xdata())[[0, -1]].tolist() == [1.0, axes.get_xlim()[1]]
    assert list(zip(*star.get_data())) == [(2.0, 3.0)]
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels == ["run: 3 of 4 points on the front", "recommended: 2 KB, 3 mJ"]
    assert luma(dominated.get_color()) > 0.6 > luma(front.get_color())


def test_fronts_of_several_runs_differ_in_marker_and_line():
    runs = {f"run {i}": POINTS * (1 + i / 10) for i in range(5)}
    lines = pictures.front_figure(runs).axes[0].get_lines()
    assert len({line.get_marker() for line in lines[2::3]}) == 5
    assert len({(line.get_linestyle(), luma(line.get_color()) > 0.3) for line in lines[1::3]}) == 5


def test_front_of_nothing_is_refused_and_of_one_point_drawn():
    with pytest.raises(ValueError, match="needs a run, and a point in each"):
        pictures.front_figure({"run": POINTS[:0]})
    axes = pictures.front_figure({"run": POINTS.assign(ema=2.0**20)[:1]}, y="ema").axes[0]
    assert axes.get_ylabel() == "off-chip traffic (MB)"


def test_occupancy_of_separate_buffers_stands_below_their_capacities():
    evaluation = evaluate(VGG, Partition.layerwise(VGG), CHIP)
    above, below = pictures.occupancy_figure(occupancies(VGG, evaluation), CHIP, "vgg16").axes
    assert (above.get_ylabel(), below.get_ylabel()) == (
        "global buffer of one core (KB)",
        "weight buffer of one core (KB)",
    )
    main, side = heights(above)
    assert [a + b for a, b in zip(main, side)] == [cost.activation_bytes / 1024 for cost in evaluation.subgraphs]
    assert heights(below) == [[cost.weight_bytes / 1024 for cost in evaluation.subgraphs]]
    for axes, capacity in ((above, 1024), (below, 1152)):
        assert axes.get_lines()[0].get_ydata() == [capacity, capacity]
        assert axes.get_ylim()[1] > capacity
    assert below.get_xlabel() == "subgraph, in the order they run"


def test_occupancy_of_a_shared_buffer_is_one_stack():
    """2 KB of weights, 3 of MAIN, 1 of SIDE: MAIN starts at 2, SIDE at 5."""
    (axes,) = pictures.occupancy_figure([Occupancy(2048, 3072, 1024)], Accelerator(shared_buffer=8192)).axes
    assert [(bars[0].get_y(), bars[0].get_height()) for bars in axes.containers] == [(0, 2), (2, 3), (5, 1)]
    assert len({bars[0].get_hatch() for bars in axes.containers}) == 3


def test_many_bars_have_no_edges_and_whole_numbers_below():
    evaluation = evaluate(VGG, Partition.layerwise(VGG), CHIP)
    one = pictures.subgraph_energy_figure(evaluation).axes[0]
    assert len(one.containers[0]) == 21 < MANY_BARS and one.containers[1][0].get_hatch()
    bars = {str(i): cost.energy_breakdown for i, cost in enumerate(evaluation.subgraphs * 4)}
    many = pictures.energy_figure(bars).axes[0]
    assert many.containers[1][0].get_hatch() == "" and many.containers[0][0].get_linewidth() == 0
    assert all(float(tick).is_integer() for tick in many.get_xticks())


def test_energy_bars_sum_to_the_energy():
    evaluation = evaluate(VGG, Partition.layerwise(VGG), CHIP)
    axes = pictures.subgraph_energy_figure(evaluation).axes[0]
    assert axes.get_ylabel() == "energy (mJ)"
    assert sum(map(sum, heights(axes))) == pytest.approx(evaluation.energy_pj * 1e-9)
    dram = axes.figure.legends[0].get_texts()[0].get_text()
    assert dram == f"DRAM {evaluation.energy_breakdown.dram / evaluation.energy_pj:.1%}"


def test_energy_of_named_designs_shows_the_names_and_leaves_out_what_is_nothing():
    axes = pictures.energy_figure({"small": EnergyBreakdown(3e9, 1e9, 0, 1e9, 0)}, axis="design").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["small"]
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels == ["DRAM 60.0%", "global buffer 20.0%", "computing 20.0%"]


def test_fills_get_lighter_part_by_part():
    steps = np.diff([luma(fill.colour) for fill in FILLS])
    assert (steps > 0.1).all()
    assert len({fill.hatch for fill in FILLS}) == len(FILLS)


@pytest.mark.parametrize("name", ["vgg16", "googlenet", "nasnet"])
def test_network_shows_every_layer_once_with_its_subgraph(name: str):
    """Pairs of layers that follow each other, where that is a partition; thick lines join what is in one subgraph."""
    network = workloads.load(name)
    plan = Partition.layerwise(network) if name == "nasnet" else Partition.from_ids(network, pairs(network))
    (axes,) = pictures.network_figure(network, plan).axes
    numbers = [text.get_text().split()[0] for text in axes.texts]
    owner = {v: str(i) for i, group in enumerate(plan.subgraphs) for v in group}
    assert numbers == [owner[v] for v in range(len(network.layers))]
    boxes = next(each for each in axes.collections if isinstance(each, PatchCollection))
    white = [matplotlib.colors.to_hex(colour) == "#ffffff" for colour in boxes.get_facecolor()]
    assert white == [len(plan.subgraphs[int(number)]) == 1 for number in numbers]
    thin, thick = (each for each in axes.collections if isinstance(each, LineCollection))
    assert bool(thick.get_segments()) == (name != "nasnet")
    assert thin.get_segments() and thick.get_linewidth()[0] > 2 * thin.get_linewidth()[0]


def pairs(network) -> list[list[int]]:
    """Return single layers, but one pair: the first two layers of which one reads only the other."""
    for v, inputs in enumerate(network.producers):
        if len(inputs) == 1 and inputs[0] < len(network.layers):
            return [[inputs[0], v], *([u] for u in range(len(network.layers)) if u not in (inputs[0], v))]
    raise AssertionError


def test_subgraphs_that_touch_have_different_colours():
    groups = [[v, v + 1] for v in range(0, 20, 2)] + [[20]]
    (axes,) = pictures.network_figure(VGG, Partition.from_ids(VGG, groups)).axes
    boxes = next(each for each in axes.collections if isinstance(each, PatchCollection))
    colours = [matplotlib.colors.to_hex(colour) for colour in boxes.get_facecolor()]
    assert all(colours[v] == colours[v + 1] != colours[v + 2] for v in range(0, 18, 2))


def test_colours_of_subgraphs_that_follow_each_other_differ_in_grey():
    for first, second in itertools.pairwise(PALETTE):
        assert abs(luma(first) - luma(second)) > 0.04


@st.composite
def producer_lists(draw) -> list[list[int]]:
    count = draw(st.integers(1, 25))
    return [draw(st.lists(st.integers(0, v - 1), max_size=3, unique=True)) if v else [] for v in range(count)]


@given(producer_lists())
def test_layout_keeps_its_promises(producers: list[list[int]]):
    """Every line goes down one level, every tensor reaches its readers, and nothing overlaps."""
    drawn = layout(producers)
    assert all(drawn.level[end] == drawn.level[start] + 1 for start, end in drawn.lines)
    arrived = {(drawn.owner[start], end) for start, end in drawn.lines if end < len(producers)}
    assert arrived == {(u, v) for v, inputs in enumerate(producers) for u in inputs}
    for level in set(drawn.level):
        row = sorted(
            (drawn.x[node], node >= len(producers)) for node in range(len(drawn.level)) if drawn.level[node] == level
        )
        for (left, is_lane), (right, too) in itertools.pairwise(row):
            least = ((LANE_GAP if is_lane else LAYER_GAP) + (LANE_GAP if too else LAYER_GAP)) / 2
            assert right - left >= least - 1e-9


def test_layout_of_a_chain_is_straight_and_of_a_diamond_symmetric():
    assert len(set(layout([[], [0], [1], [2]]).x)) == 1
    drawn = layout([[], [0], [0], [1, 2]])
    assert drawn.level == [0, 1, 1, 2]
    assert drawn.x[0] == pytest.approx((drawn.x[1] + drawn.x[2]) / 2, abs=0.05)


def test_a_kept_tensor_is_one_long_bar_in_the_map_of_a_memory():
    network, chip = workloads.load("resnet50"), Accelerator(shared_buffer=896 * KiB)
    plan = cocco.partition(network, chip, metric="ema", samples=300, keep="auto").plan
    found = address_map(network, plan, chip)
    (memory,) = found.memories
    axes = map_figure(network.name, memory).axes[0]
    bars = {each.get_label(): each.get_paths() for each in axes.collections}
    assert set(bars) == {"main", "side", "weights", "kept"} and len(bars["kept"]) == len(plan.keep)
    for kept, bar in zip(plan.keep, sorted(bars["kept"], key=lambda each: each.vertices[:, 0].min()), strict=True):
        assert bar.vertices[:, 0].min() == kept.from_step
    ends = sorted(int(each.vertices[:, 0].max()) for each in bars["kept"])
    assert ends == sorted(each.until_step + 1 for each in plan.keep)
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xlim()) == ("subgraph", "address (KB)", (0, len(plan)))
    assert "s2b1_add" in {text.get_text() for text in axes.texts}
