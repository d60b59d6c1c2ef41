"""Comparisons: the same figures as evaluate, and differences that are as small as can be and add up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
from cocco.output.text.plans.comparison import brought_text
from simulator import Accelerator, Partition, evaluate
from simulator.partition.partition import connected_parts
from tests.helpers.search_graphs import chain, networks

CHIP = Accelerator(shared_buffer=2**16)


def test_two_plans_of_a_chain_by_hand():
    """n0 n1 | n2 n3 and n0 n1 | n2 | n3: they differ in n2, n3 only, by the map of n2 that goes out and in."""
    network = chain(4)
    plans = {
        "pairs": Partition.from_groups(network, [["n0", "n1"], ["n2", "n3"]]),
        "one pair": Partition.from_groups(network, [["n0", "n1"]]),
    }
    found = cocco.compare(network, plans, CHIP)
    assert [each.name for each in found.partitions] == ["pairs", "one pair"]
    (difference,) = found.differences
    assert difference.layers == ("n2", "n3")
    pair, alone = difference.sides
    assert pair.subgraphs == (("n2", "n3"),) and alone.subgraphs == (("n2",), ("n3",))
    assert pair.ema_bytes == 2 * 576 + 2 * 512 and alone.ema_bytes == pair.ema_bytes + 2 * 512


def test_what_each_change_brought_adds_up_to_what_all_did():
    """n2 is written and read no more; n0 and n1 stay, but hand n1 on in the memory: 2 x 512 bytes less, twice."""
    network = chain(4)
    start = Partition.from_groups(network, [["n0", "n1"]])
    better = Partition.from_groups(network, [["n0", "n1"], ["n2", "n3"]], keep=["n1"])
    head, _, *rows = brought_text(cocco.compare(network, {"mine": start, "found": better}, CHIP)).splitlines()
    assert head.split()[:4] == ["what", "became", "of", "mine"]
    assert [" ".join(row.split()[:-2]) for row in rows] == [
        "n2 .. n3 (2) 2 -> 1 -1.5 KB",
        "the others, by what is kept on chip -0.50 KB",
        "in all 3 -> 2 -2.0 KB",
    ]


def test_groups_that_overlap_are_one_difference():
    network = chain(5)
    first = Partition.from_groups(network, [["n0", "n1"], ["n2", "n3"]])
    second = Partition.from_groups(network, [["n1", "n2"]])
    (difference,) = cocco.compare(network, {"a": first, "b": second}, CHIP).differences
    assert difference.layers == ("n0", "n1", "n2", "n3")
    assert cocco.compare(network, {"a": first, "b": first}, CHIP).differences == ()


def test_a_partition_that_cannot_run_is_an_answer():
    network = chain(4)
    plans = {"all": Partition.from_groups(network, [["n0..n3"]]), "none": Partition.layerwise(network)}
    found = cocco.compare(network, plans, Accelerator(shared_buffer=1024))
    all_, none = found.partitions
    assert not all_.evaluation.fits and all_.held_bytes is None and none.evaluation.fits
    assert evaluate(network, plans["all"], Accelerator(shared_buffer=all_.least.shared_buffer)).fits
    assert found.differences[0].sides[0].ema_bytes is None
    assert found.to_json()["partitions"][0]["totals"] is None


def test_nothing_to_compare_is_an_error():
    with pytest.raises(ValueError, match="at least one partition"):
        cocco.compare(chain(2), {}, CHIP)


@settings(deadline=None, max_examples=60)
@given(networks(most=9), st.data())
def test_differences_are_disjoint_and_explain_the_whole_difference(network, data):
    count = len(network.layers)

    def plan() -> Partition:
        ends = sorted(data.draw(st.sets(st.integers(1, count))) - {count})
        pieces = [range(a, b) for a, b in zip([0, *ends], [*ends, count])]
        return Partition.from_ids(network, [part for piece in pieces for part in connected_parts(network, piece)])

    plans = {name: plan() for name in ("a", "b")}
    found = cocco.compare(network, plans, CHIP)
    named = [layer for each in found.differences for layer in each.layers]
    assert len(named) == len(set(named))
    same = [set(plans["a"].names), set(plans["b"].names)]
    assert {layer for group in same[0] ^ same[1] for layer in group} == set(named)
    totals = [evaluate(network, each, CHIP).ema_bytes for each in plans.values()]
    inside = [sum(each.sides[i].ema_bytes for each in found.differences) for i in range(2)]
    assert totals[0] - totals[1] == inside[0] - inside[1]
