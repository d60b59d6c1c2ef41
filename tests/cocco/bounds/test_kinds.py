"""The names of the kinds of plans that an answer is the least among."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.bounds.kinds import NESTS, kinds_not_tried, kinds_of_plans
from simulator import Accelerator, KiB, Machine
from simulator.model.nests.recognize import KINDS

TINY = workloads.load("gpt2", layers=1, length=16)


def test_every_kind_of_nest_has_a_name():
    assert [NESTS[kind.__name__] for kind in KINDS] == list(kinds_of_plans(Machine(), "none")[2:-1])


def test_kinds_follow_the_machine():
    assert kinds_of_plans(Machine(), "auto")[-2] == "kept tensors"
    assert "groups of channels apart" in kinds_of_plans(Machine(groups_apart=True), "none")
    assert "attention in blocks" in kinds_of_plans(Machine(), "none")
    assert "attention in blocks" in kinds_not_tried(Machine(cores=2))
    assert not {*kinds_not_tried(Machine(cores=2))} & {*kinds_of_plans(Machine(cores=2), "auto")}
    assert kinds_not_tried(Machine(cores=2, plans="paper")) == kinds_not_tried(Machine()) == ()


def test_nothing_is_kept_with_the_plans_of_the_paper():
    """Without a word on it; to ask for it is an error, as for groups apart."""
    chip = Accelerator(shared_buffer=64 * KiB, plans="paper")
    found = cocco.partition(TINY, chip, metric="ema", samples=50)
    assert (found.keep, found.space) == ("none", kinds_of_plans(chip, "none"))
    with pytest.raises(ValueError, match="keep must be 'none' with plans 'paper'"):
        cocco.partition(TINY, chip, keep="auto", samples=50)
    with pytest.raises(ValueError, match="keep must be 'none' with plans 'paper'"):
        cocco.pareto(TINY, plans="paper", keep="auto", samples=50)
    with pytest.raises(ValueError, match="groups_apart must be False with plans 'paper'"):
        Accelerator(shared_buffer=KiB, plans="paper", groups_apart=True)


def test_the_plans_of_the_paper_cost_no_less():
    """They are some of all: attention of 16 tokens in 8 KB takes fewer bytes in blocks, and kept."""
    costs = [
        cocco.partition(TINY, Accelerator(shared_buffer=8 * KiB, plans=plans), metric="ema", keep="none", samples=50)
        for plans in ("all", "paper")
    ]
    assert [each.status for each in costs] == ["optimal", "optimal"] and costs[0].cost <= costs[1].cost
