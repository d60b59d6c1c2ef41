"""Rows of the reference tables that answer one question say one thing: the least that is known, or why not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import cocco
import workloads
from experiments import cross_check, least_known
from experiments.cross_check import AUTO, METHODS, NONE, PAPER, Row
from simulator import Accelerator, KiB, evaluate

COST = Row("alpha_sweep", "a", 1, 1, NONE, (256 * KiB,), "cost", 2.0, energy_pj=10.0)


def test_no_row_is_beaten_by_another():
    assert not cross_check.beaten(), cross_check.shown()


def test_tables_that_show_what_a_method_finds_are_there():
    assert {*METHODS} <= {row.table for row in cross_check.all_rows()}
    assert len({row.table for row in cross_check.all_rows()} - {*METHODS}) == 5


def test_a_plan_serves_questions_that_allow_it():
    """Nothing kept serves kept, not the other way; a smaller memory moves as much; only the paper's memories."""
    assert COST.serves(COST) and COST.value == 256 * KiB + 20
    assert COST.serves(COST._replace(plans=AUTO)) and not COST.serves(COST._replace(plans=PAPER))
    for name, value in {"network": "b", "cores": 2, "batch": 2, "buffers": (1, 2)}.items():
        assert not COST.serves(COST._replace(**{name: value}))
    assert not COST._replace(buffers=(4096 * KiB,)).serves(COST)
    least = COST._replace(goal="ema_bytes", buffers=(300 * KiB,))
    assert COST.serves(least) and not least.serves(COST._replace(goal="ema_bytes"))
    assert not COST.serves(least._replace(goal="energy_pj"))


def test_a_row_is_beaten_by_one_of_another_table(monkeypatch: pytest.MonkeyPatch):
    """By hand: 2 * 10 and 256 KB against 2 * 8 and the same; the better one is not, nor one of a method."""
    better = COST._replace(table="pareto", energy_pj=8.0)
    monkeypatch.setattr(cross_check, "all_rows", lambda: iter([COST, better, COST._replace(table="pareto")]))
    assert [(each.row, each.by) for each in cross_check.beaten()] == [(COST, better)]


def test_a_row_is_made_anew_from_the_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A row that says too much takes the plan of the bank; what is not its answer stays to the byte."""
    network, chip = workloads.load("vgg16"), Accelerator(shared_buffer=960 * KiB, plans="paper")
    best = cocco.partition(network, chip, keep="none", bank=cocco.Bank(tmp_path / "plans"))
    heads = "network,alpha,shared_kb,energy_pj,energy_share,cost,samples,seed,status,gap"
    rows = ["vgg16,0.001,128,4e10,1.0,4.1e7,5,0,feasible,0.5", "vgg16,0.002,64,8e10,2.0,1.6e8,5,0,feasible,0.9"]
    (tmp_path / "alpha_sweep.csv").write_text("\n".join([heads, *rows, ""]))
    monkeypatch.setattr(least_known, "FOLDER", tmp_path)
    monkeypatch.setattr(least_known, "PLANS", tmp_path / "plans")
    monkeypatch.setattr(least_known, "beaten", list)
    asked = Row("alpha_sweep", "vgg16", 1, 1, PAPER, (64 * KiB,), "cost", 0.002, energy_pj=8e10, place=1, bound=1.6e7)
    others = [asked._replace(table="pareto"), asked._replace(bound=asked.value)]
    monkeypatch.setattr(least_known, "all_rows", lambda: iter([asked, *others]))
    (line,) = least_known.lower(samples=300)
    assert "160,065,536 -> " in line
    first, second = csv.DictReader((tmp_path / "alpha_sweep.csv").open())
    assert ",".join(first.values()) == rows[0]
    cost = float(second["cost"])
    assert cost <= 960 * KiB + 0.002 * evaluate(network, best.plan, chip).energy_pj
    assert float(second["energy_share"]) == float(second["energy_pj"]) / 4e10
    assert cost == int(second["shared_kb"]) * KiB + 0.002 * float(second["energy_pj"])
    assert float(second["gap"]) <= 1 - 1.6e7 / cost and second["samples"] == "5"
