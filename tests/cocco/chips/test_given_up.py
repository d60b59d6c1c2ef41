"""Machines whose exact searches give up: a few are answered by a search, the others stay open, with a bound."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.chips import search
from cocco.chips.classes import Classes, Solved
from simulator import KiB, Machine, Technology
from simulator.chip.logic import NVDLA


@pytest.mark.parametrize("near", [1.0, 0.0])
def test_near_the_bound_few_are_searched_and_the_others_stay_open(monkeypatch: pytest.MonkeyPatch, near: float):
    """VGG16 in three memories on two machines, none of which any search solves: each has its bound, none is dropped."""

    def given_up(classes: Classes, machine: Machine, sizes: tuple[int, ...]) -> Solved:
        classes.solved[machine, sizes] = Solved(classes.floor(machine, sizes).value, None, True)
        return classes.solved[machine, sizes]

    monkeypatch.setattr(Classes, "solve", given_up)
    monkeypatch.setattr(search, "SEARCHED", 1)
    monkeypatch.setattr(search, "NEAR", near)
    found = cocco.explore_chips(
        workloads.load("vgg16"), {"dram": ["lpddr5", "hbm2e"]}, machine=Machine(technology=Technology(logic=NVDLA)),
        space=cocco.SharedBuffer(384 * KiB, 512 * KiB, 64 * KiB), minimized="latency", limits={"area": 6.0},
        samples=200,
    )  # fmt: skip
    verdicts = {"best": 1} | ({"open": 1} if near else {"proved": 1})
    assert (found.status, found.verdicts) == ("feasible" if near else "optimal", verdicts)
    assert found.lower_bound <= found.cost and (found.gap > 0.01) == bool(near)
