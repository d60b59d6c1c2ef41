"""The names of the kinds of plans that an answer is the least among."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.bounds.kinds import CONNECTED, kinds_not_tried, kinds_of_plans
from cocco.mapping.mapper import MAPPERS
from simulator import Accelerator, KiB, Machine
from simulator.model.nests.recognize import KINDS

TINY = workloads.load("gpt2", layers=1, length=16)


def test_kinds_follow_the_machine():
    assert set(KINDS) <= {*kinds_of_plans(Machine(), "none")}
    assert kinds_of_plans(Machine(), "auto")[-2:] == ("kept tensors", CONNECTED["all"])
    assert kinds_of_plans(Machine(connected="paper"), "none")[-1] == CONNECTED["paper"]
    assert "groups of channels apart" not in kinds_of_plans(Machine(groups_apart=False), "none")
    assert kinds_not_tried(Machine(cores=2, plans="paper")) == kinds_not_tried(Machine()) == ""
    assert kinds_not_tried(Machine(mapper=MAPPERS["tiled"])).endswith("'enumerate'")
    for kind in (*KINDS, "groups of channels apart"):
        assert kind in kinds_not_tried(Machine(cores=2)) and kind not in kinds_of_plans(Machine(cores=2), "auto")


def test_nothing_is_kept_with_the_plans_of_the_paper():
    """Without a word on it; to ask for it is an error. Groups apart may be added."""
    chip = Accelerator(shared_buffer=64 * KiB, plans="paper")
    found = cocco.partition(TINY, chip, metric="ema", samples=50)
    assert (found.keep, found.space) == ("none", kinds_of_plans(chip, "none"))
    with pytest.raises(ValueError, match="keep must be 'none' with plans 'paper'"):
        cocco.partition(TINY, chip, keep="auto", samples=50)
    with pytest.raises(ValueError, match="keep must be 'none' with plans 'paper'"):
        cocco.pareto(TINY, plans="paper", keep="auto", samples=50)
    assert kinds_of_plans(Machine(plans="paper", groups_apart=True), "none")[2:] == (
        "groups of channels apart", "connected by edges",
    )  # fmt: skip


def test_the_plans_of_the_paper_cost_no_less():
    """They are some of all: attention of 16 tokens in 8 KB takes fewer bytes in blocks, and kept."""
    costs = [
        cocco.partition(TINY, Accelerator(shared_buffer=8 * KiB, plans=plans), metric="ema", keep="none", samples=50)
        for plans in ("all", "paper")
    ]
    assert [each.status for each in costs] == ["optimal", "optimal"] and costs[0].cost <= costs[1].cost
