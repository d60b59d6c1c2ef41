"""What people read of a search: what was counted, and how its sizes compare."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cocco
from cocco.output.text.layout.numbers import counted_as
from cocco.output.text.searches.search import BY_BYTES, explore_text, partition_text, work_of
from simulator import Accelerator
from tests.helpers.search_graphs import SPACE, chain


@pytest.mark.parametrize(
    ("method", "generations", "expected"),
    [
        ("ga", 1, "samples"),
        ("exact", 1, "steps"),  # a proof
        ("exact", 20, "samples"),  # a search, and a proof that found better
    ],
)
def test_samples_are_called_what_they_are(method, generations, expected):
    assert counted_as(method, generations) == expected


def test_an_answer_says_what_it_counted():
    networks = [chain(4)]
    proven = cocco.explore(networks, space=SPACE, samples=60)
    assert (proven.status, work_of(proven)) == ("optimal", "steps")
    assert f"exact: {proven.samples:,} steps" in explore_text(proven, networks)
    searched = cocco.explore(networks, space=SPACE, samples=60, method="ga")
    assert work_of(searched) == "samples" and "60 samples, seed 0; " in explore_text(searched, networks)
    better = replace(searched, cost=searched.points["cost"].min() - 1)
    assert "; exact windows found better than its best" in explore_text(better, networks)
    assert "; the exact search found better" in explore_text(replace(better, method="exact"), networks)


def test_a_size_is_never_less_than_the_best_by_nothing():
    """The best plan was changed for its addresses and costs a millionth more: no "-0.00 %" in the table."""
    networks = [chain(4)]
    found = cocco.explore(networks, space=SPACE, samples=60)
    assert BY_BYTES not in explore_text(found, networks)
    text = explore_text(replace(found, cost=found.cost * (1 + 1e-6)), networks)
    assert "-0.00 %" not in text and text.count(BY_BYTES) == 2


def test_a_gap_says_how_much_is_proved_of_what_a_plan_can_influence():
    """Half way from weights, inputs and outputs once to the cost; with energy there is no such floor."""
    network = chain(4)
    found = cocco.partition(network, Accelerator(shared_buffer=1024), metric="ema", method="greedy", keep="none")
    once, cost = found.evaluation.compulsory_bytes, found.evaluation.ema_bytes
    assert once < cost
    halfway = replace(found, status="feasible", lower_bound=(once + cost) / 2, gap=0.25)
    expected = "; the gap is 25.00 %, of what moves beyond weights, inputs and outputs once 50.0 % is proved\n"
    assert expected in partition_text(halfway, [network])
    assert "the gap is 25.00 %\n" in partition_text(replace(halfway, metric="energy"), [network])
