"""Points of fronts and answers under limits have addresses for what they keep, or say that they have none."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.allocation.address_map import AddressMap, address_map
from cocco.exploration.placing import addresses as placed_points
from cocco.exploration.placing.addresses import best_placed, placed_front
from cocco.exploration.placing.repair import Repair, repaired_plans
from cocco.output.text.searches.front import front_text
from cocco.problem.plane import Plane
from cocco.problem.problem import on_hardware, over_space
from simulator import KiB
from simulator.accelerator import Accelerator
from simulator.partition.partition import Partition
from tests.helpers.search_graphs import chain
from tests.helpers.small_spaces import question_of, small_space

ASKED = {"space": cocco.SharedBuffer(224 * KiB, 256 * KiB, 32 * KiB), "samples": 60}


@pytest.fixture(scope="module")
def googlenet():
    """The front of GoogleNet in two memories; in the smaller one the regions do not fit as they are found."""
    network = workloads.load("googlenet")
    return network, cocco.pareto(network, objectives=("capacity", "ema"), **ASKED)


@pytest.mark.slow
def test_every_point_has_its_map(googlenet):
    network, front = googlenet
    assert len(front.found) == 2 and all(point.placed for point in front.found)
    for point in front.found:
        assert address_map(network, point.plans[0], point.accelerator).fits
    assert front.found[0].moved
    content = front.to_json()["front"][0]
    assert content["placed"] is True and content["moved"][0]["text"] in front_text(front)


@pytest.mark.slow
def test_the_smaller_memory_has_addresses_at_no_cost(googlenet):
    """By bytes 8,245,672 is the least; without nests, two subgraphs that run later give that plan its map."""
    small = googlenet[1].found[0]
    assert [each.what for each in small.moved] == ["replanned", "reordered", "reordered"]
    assert small.values == (224 * KiB, 8_245_672)


@pytest.mark.slow
def test_an_answer_under_a_limit_has_its_map(googlenet):
    network, front = googlenet
    found = cocco.minimize(network, "ema", {"capacity": 224 * KiB}, **ASKED)
    assert found.value == front.found[0].values[1]
    assert (found.status == "optimal") == (found.value == 8_245_672)  # the least by bytes
    assert found.best.placed
    assert address_map(network, found.best.plans[0], found.best.accelerator).fits
    assert found.to_json()["placed"] is True


def test_points_of_a_small_space_have_their_maps():
    """One of its memories has no addresses for its cheapest plan: that point is changed, and costs more."""
    problem = small_space(489)
    asked = question_of(problem)
    objectives = ("capacity", problem.objective.metric)
    front = cocco.pareto(**asked, objectives=objectives, samples=60)
    assert any(plan.keep for point in front.found for plan in point.plans)
    for point in front.found:
        assert point.placed or not any(plan.keep for plan in point.plans)
        for network, plan in zip(problem.networks, point.plans):
            found = address_map(network, plan, point.accelerator, problem.tile_rule)
            assert found is None or found.fits or not plan.keep


def test_a_point_that_costs_more_makes_way(monkeypatch):
    """Of three memories the middle one moves 35 bytes once it has addresses, more than the smallest: it goes."""
    network = workloads.load("vgg16")
    front = cocco.pareto(network, space=ASKED["space"], samples=20)
    plane = Plane(over_space(network, ASKED["space"], metric="ema", keep="auto"), ("capacity", "ema"))
    points = [
        replace(front.found[0], values=(size, ema), moved=None, placed=None)
        for size, ema in ((1.0, 30.0), (2.0, 20.0), (3.0, 10.0))
    ]

    def dearer(_, point):
        if point.placed is not None:
            return point
        return replace(point, values=(point.values[0], point.values[1] + 15 * (point.values[0] == 2)), placed=True)

    monkeypatch.setattr(placed_points, "placed_point", dearer)
    found, is_same = placed_front(plane, points)
    assert [point.values for point in found] == [(1.0, 30.0), (3.0, 10.0)] and not is_same
    none = replace(points[2], placed=False)
    assert best_placed(plane, [points[0], none], lambda values: values[1:]).values == (1.0, 30.0)
    assert best_placed(plane, [none], lambda values: values[1:]) is none


def test_plans_are_placed_only_if_each_of_them_is(monkeypatch):
    """One of two networks finds no addresses, whichever it is."""
    both = on_hardware([chain(2, "a"), chain(2, "b")], Accelerator(shared_buffer=65536))
    plans = both.partitions([[0], [1], [2], [3]])
    assert repaired_plans(both, both.accelerator, plans, needs_pairs=False) == (list(plans), (), True)
    for lost in plans:
        monkeypatch.setattr(Repair, "repaired", lambda self, plan, lost=lost: (plan, (), _map_of(self, plan, lost)))
        assert repaired_plans(both, both.accelerator, plans, needs_pairs=False) == (list(plans), (), False)


def test_plans_with_too_many_pairs_are_not_placed_where_pairs_are_asked_for(monkeypatch):
    """A subgraph of two layers takes more pairs than two; of one network, of the other one, or of none."""
    both = on_hardware([chain(2, "a"), chain(2, "b")], Accelerator(shared_buffer=65536))
    plans = both.partitions([[0, 1], [2, 3]])
    roomy = [address_map(*each, both.accelerator) for each in zip(both.networks, plans)]
    for crowded in (0, 1, None):
        maps = {each: replace(roomy[i], max_regions=2 if i == crowded else 64) for i, each in enumerate(plans)}
        assert [bool(each.crowded) for each in maps.values()] == [i == crowded for i in range(2)]
        monkeypatch.setattr(Repair, "repaired", lambda self, plan, maps=maps: (plan, (), maps[plan]))
        for needs_pairs in (False, True):
            placed = crowded is None or not needs_pairs
            assert repaired_plans(both, both.accelerator, plans, needs_pairs) == (list(plans), (), placed)


def _map_of(repair: Repair, plan: Partition, lost: Partition) -> AddressMap | None:
    return None if plan is lost else address_map(repair.network, plan, repair.accelerator)
