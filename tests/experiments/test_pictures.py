"""The pictures of the experiments, drawn from their reference tables."""

from __future__ import annotations

import importlib

import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from experiments import renew
from experiments.common.drawing import log_labels
from experiments.page_tables import tables

NAMES = sorted({words[0] for words in renew.scripts().values()})  #: of scripts


def picture(name: str) -> Figure:
    figure: Figure = importlib.import_module(f"experiments.{name}").EXPERIMENT.picture(tables.reference(name))
    return figure


def has_bars_on_a_log_axis(axes: Axes) -> bool:
    """Say so of bars along an axis that is not linear, where they have no foot and their lengths mean nothing."""
    bars = [each for each in axes.containers if isinstance(each, BarContainer)]
    scales = {axes.get_yscale() if each.orientation == "vertical" else axes.get_xscale() for each in bars}
    return bool(scales - {"linear"})


@pytest.mark.parametrize("name", NAMES)
def test_pictures_have_units_and_no_bars_on_log_axes(name: str):
    panels = [each for each in picture(name).axes if each.has_data()]
    assert panels and not any(map(has_bars_on_a_log_axis, panels))
    assert any(each.get_ylabel() for each in panels) or name in ("sensitivity_memory", "network_traffic")  # names
    assert any(each.get_xlabel() for each in panels) or panels[0].get_xticklabels()[0].get_text()


def test_bars_on_a_log_axis_are_seen():
    axes = Figure().add_subplot()
    axes.bar([0, 1], [1, 2])
    assert not has_bars_on_a_log_axis(axes)
    axes.set_yscale("symlog")
    assert has_bars_on_a_log_axis(axes)


@pytest.mark.parametrize(("ends", "ticks"), [((1, 1000), [1, 2, 5, 10, 20, 50]), ((0.9, 3), [1, 1.5, 2, 2.5, 3])])
def test_log_axes_are_labelled_in_plain_numbers(ends: tuple[float, float], ticks: list[float]):
    """Over a decade and more at 1, 2, 5; below evenly. A power of ten alone would leave the second without a number."""
    axes = Figure().add_subplot(yscale="log", ylim=ends)
    log_labels(axes.yaxis)
    shown = {label.get_text() for label in axes.get_yticklabels()}
    assert {f"{tick:g}" for tick in ticks} <= shown
