"""Pictures: units on the axes, the line of equal cost, the same bytes twice, readable without colour."""

from __future__ import annotations

import xml.etree.ElementTree
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.exploration.answers.result import Result
from cocco.output import pictures
from cocco.output.folders.written import run as run_folder
from cocco.output.pictures import search
from tests.helpers.parts import first_of


@pytest.fixture(scope="module")
def result() -> Result:
    """A short search of a shared buffer for vgg16, with nothing kept on chip: many samples, then a proof."""
    return cocco.explore(workloads.load("vgg16"), space=cocco.SharedBuffer(), alpha=0.002, samples=300, keep="none")


@pytest.fixture(scope="module")
def proof() -> Result:
    """The same with kept tensors: the sizes that were solved, and nothing else."""
    return cocco.explore(workloads.load("vgg16"), space=cocco.SharedBuffer(), alpha=0.002, samples=300)


def test_cost_falls_with_samples_in_steps(result: Result):
    axes = pictures.cost_figure(result).axes[0]
    assert axes.get_xlabel() == "samples"
    assert axes.get_ylabel() == "cost (million) = bytes + 0.002 x energy (pJ)"
    best = np.asarray(axes.get_lines()[0].get_ydata())
    assert len(best) == len(result.points) > 100 and (np.diff(best) <= 0).all()
    assert best[-1] * 1e6 == pytest.approx(result.points["cost"].min())
    assert axes.get_xlim() == (0, result.points["sample"].max())  # it ends where the samples do


def test_line_of_equal_cost_goes_through_the_best_sample(result: Result):
    """Its slope is -1 / alpha: 1 KB less is worth 1024 / 0.002 pJ = 0.000512 mJ more."""
    axes = pictures.plane_figure(result).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("capacity of one core (KB)", "energy (mJ)")
    _, line, star = axes.get_lines()
    assert star.get_label() == "proved optimum" and result.status == "optimal"
    (x0, x1), (y0, y1) = (np.asarray(data, dtype=float) for data in line.get_data())
    assert (y1 - y0) / (x1 - x0) == pytest.approx(-0.000512)
    x, y = (float(np.asarray(data)[0]) for data in star.get_data())
    assert y == pytest.approx(y0 - 0.000512 * (x - x0))
    assert x * 1024 == result.accelerator.buffer_bytes


def test_panels_of_a_larger_picture_are_drawn_with_their_legends(result: Result):
    figure = Figure()
    panels = list(figure.subplots(1, 3))
    for each, draw in zip(panels, (pictures.cost_figure, pictures.plane_figure)):
        assert draw(result, axes=each) is figure
    assert pictures.front_figure({"run": pictures.plane(result)}, axes=panels[2]) is figure
    assert all(each.get_legend() and each.get_xlabel() for each in panels) and not figure.legends


def test_a_proof_shows_every_size_that_it_solved(proof: Result):
    """A few points: none is cut off, no generation coloured, and nothing called a sample."""
    assert proof.status == "optimal" and 1 < len(proof.points) <= 47
    cost, plane = pictures.cost_figure(proof), pictures.plane_figure(proof)
    assert (len(cost.axes), len(plane.axes)) == (1, 1)
    for axes, values in ((cost.axes[0], proof.points["cost"] / 1e6), (plane.axes[0], proof.points["value"] * 1e-9)):
        low, high = axes.get_ylim()
        assert low < values.min() and values.max() < high
        assert axes.get_title() == f"vgg16: {len(proof.points)} sizes solved"
        assert not any("sample" in text.get_text() for text in axes.figure.legends[0].get_texts())
    assert "sample" not in cost.axes[0].get_xlabel()


def test_the_title_counts_the_samples_that_are_drawn(result: Result):
    title = pictures.plane_figure(result).axes[0].get_title()
    assert title == f"vgg16: {len(result.points)} samples, of which the worst 2% lie higher"


def test_no_sample_lies_below_the_line(result: Result):
    points = result.points
    assert (points["cost"] >= result.cost * (1 - 1e-12)).all()


def test_later_generations_are_darker_without_colour():
    """Luma (ITU-R BT.601) of the colours falls from the first generation to the last."""
    colours = matplotlib.colormaps[pictures.COLOURS](np.linspace(0, 1, pictures.GROUPS))
    luma = colours[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(luma) < 0).all()


def test_saved_pictures_are_whole_and_have_no_date(result: Result, tmp_path: Path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        run_folder.save(tmp_path / name, result, {})
    for picture in run_folder.PICTURES:
        png, svg = (tmp_path / "first" / f"{picture}{suffix}" for suffix in (".png", ".svg"))
        assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg")
        for path in (png, svg):
            assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("metric", "alpha", "label"),
    first_of([("ema", 0.0, "off-chip traffic (MB)"), ("latency-sum", 1.0, "latency sum (million cycles)")], 1),
)
def test_one_sample_and_other_metrics_can_be_drawn(metric: str, alpha: float, label: str, tmp_path: Path):
    single = cocco.explore(
        [workloads.load("vgg16"), workloads.load("gpt")],
        space=cocco.SeparateBuffers(), alpha=alpha, metric=metric, samples=1, keep="none", method="ga",
    )  # fmt: skip
    assert pictures.plane_figure(single).axes[0].get_ylabel() == label
    assert len(run_folder.save(tmp_path, single, {})) == 10


def test_of_many_points_those_that_others_cover_are_not_drawn(monkeypatch):
    """Three of five lie in one cell of the plane: the last of them is seen."""
    monkeypatch.setattr(search, "MANY", 4)
    x, y = np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.array([5.0, 5.0, 7.0, 9.0, 5.0])
    assert search._on_top(x, y).tolist() == [2, 3, 4]
    assert search._on_top(x[:4], y[:4]).tolist() == [0, 1, 2, 3]


def test_no_legend_lies_over_what_is_drawn(result: Result):
    """Below the axes, whatever is drawn where."""
    planes = {"a": pictures.plane(result)}
    for figure in (pictures.cost_figure(result), pictures.plane_figure(result), pictures.front_figure(planes)):
        figure.draw_without_rendering()
        (legend,) = figure.legends
        assert figure.axes[0].get_legend() is None
        assert legend.get_window_extent().y1 <= figure.axes[0].get_window_extent().y0
