"""Answers show themselves in one line, in a few, and as tables."""

from __future__ import annotations

import pytest

import cocco
import workloads
from simulator import Accelerator, Partition
from tests.helpers.search_graphs import SPACE, chain, diamond

CHIP = Accelerator(shared_buffer=2000)
PLANS = {"one": Partition.layerwise(diamond()), "<two>": Partition.from_groups(diamond(), [["n0", "n1", "n2", "n3"]])}
ANSWERS = {
    "Result": lambda: cocco.partition(diamond(), CHIP, samples=20),
    "Front": lambda: cocco.pareto(diamond(), space=SPACE, samples=50),
    "FrontPoint": lambda: cocco.pareto(diamond(), space=SPACE, samples=50).found[0],
    "Limited": lambda: cocco.minimize(diamond(), "capacity", {"energy": 1.0}, space=SPACE, samples=50),
    "Comparison": lambda: cocco.compare(diamond(), PLANS, CHIP),
    "Compared": lambda: cocco.compare(diamond(), PLANS, CHIP).partitions[1],
    "Explanation": lambda: cocco.explain(diamond(), PLANS["one"], CHIP),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_shows_its_facts_in_one_line_in_several_and_in_a_notebook(kind):
    answer = ANSWERS[kind]()
    line, lines, html = repr(answer), answer.summary().splitlines(), answer._repr_html_()
    assert line.startswith(f"{kind}(") and "\n" not in line and len(line) < 300
    assert len(lines) == len(answer.facts()) and lines[0].startswith(next(iter(answer.facts())))
    assert all(f"<th>{name}</th>" in html for name in answer.facts()) and "<two>" not in html
    assert html.count("<table") == 1 + hasattr(answer, "to_frame")


def test_the_line_of_a_large_result_is_short():
    found = cocco.partition(workloads.load("nasnet"), Accelerator(shared_buffer=2**20), method="greedy", keep="none")
    assert len(repr(found)) < 250


def test_frames_have_a_row_per_subgraph_point_and_partition():
    found = cocco.explore([chain(3), diamond()], space=SPACE, samples=50, method="ga")
    frame = found.to_frame()
    assert len(frame) == sum(map(len, found.plans)) and [*frame.network.unique()] == ["chain", "diamond"]
    assert frame.ema_bytes.sum() == sum(each.ema_bytes for each in found.evaluations)
    front = cocco.pareto(diamond(), space=SPACE, samples=50)
    assert front.to_frame().equals(front.front)
    table = cocco.compare(diamond(), PLANS, CHIP).to_frame()
    assert table.name.tolist() == [*PLANS] and table.subgraphs.tolist() == [4, 1]
