"""Set partitions of subgraphs met: circles are found, choices are partitions that cost no more, budgets count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

import cocco
import workloads
from cocco.exploration.columns import put_together
from cocco.exploration.cycles import circle
from cocco.problem.settings import Settings
from cocco.search.baselines.exact import exact
from cocco.search.genetic.repair import repair
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.search_graphs import chain, dag, fixed, networks

pytest.importorskip("scipy.optimize")


def test_a_circle_is_found():
    """n0 -> n1 -> n2 -> n3: {n0, n2} and {n1, n3} wait for each other, {n0, n1} and {n2, n3} do not."""
    assert circle(fixed(chain(4)), [0, 1, 0, 1]) == {0, 1}
    assert circle(fixed(chain(4)), [0, 0, 2, 2]) == set()


def test_a_circle_beside_what_runs_is_that_circle():
    """n0 feeds both; {n1, n4} and {n2, n3} are a circle by n1 -> n2 and n3 -> n4, n5 behind it is not of it."""
    network = dag([[], [0], [1], [0], [3], [4]])
    assert circle(fixed(network), [0, 1, 2, 2, 1, 5]) == {1, 2}


@given(networks(most=8))
@settings(max_examples=30, deadline=None)
def test_choices_are_partitions_that_cost_no_less_than_the_optimum_and_no_more_than_before(network):
    problem = fixed(network, 2048)
    single = list(range(problem.size))
    found = put_together(problem, single, [], 200, SubgraphCosts(problem))
    costs = SubgraphCosts(problem)

    def cost(labels):
        groups = {label: tuple(v for v in range(problem.size) if labels[v] == label) for label in labels}
        return sum(costs.costs(group) for group in groups.values())

    assert repair(problem, found.labels) == found.labels
    least = exact(problem, SubgraphCosts(problem)).cost
    assert least <= cost(found.labels) <= cost(single)
    assert not found.is_stopped


def test_a_chain_is_put_together_from_single_layers():
    """Ample memory: from layers one by one, round after round, to the whole."""
    problem = fixed(chain(6))
    assert put_together(problem, list(range(6)), [], 100, SubgraphCosts(problem)).labels == [0] * 6


def test_samples_are_kept():
    """Half a sample more at most, of the subgraphs that repair leaves."""
    problem = fixed(workloads.load("googlenet"), 2**20)
    found = put_together(problem, list(range(problem.size)), [], 20, SubgraphCosts(problem))
    assert 0 < found.samples <= 21


def test_a_search_with_columns_takes_no_more_samples_and_says_the_same_twice():
    chip = Accelerator(global_buffer=2**20, weight_buffer=1152 * 2**10)
    chosen = replace(Settings(), columns=0.4, polish=0.1)
    runs = [
        cocco.partition(
            workloads.load("googlenet"), chip, method="ga", metric="ema", keep="none", samples=1500, settings=chosen
        )
        for _ in range(2)
    ]
    assert runs[0].samples <= 1500
    assert runs[0].points.equals(runs[1].points) and runs[0].plans == runs[1].plans


def test_a_user_who_stops_keeps_what_was_there(monkeypatch):
    problem = fixed(chain(6))
    costs, calls = SubgraphCosts(problem), []

    def stopping(group):
        calls.append(group)
        raise KeyboardInterrupt

    monkeypatch.setattr(costs, "costs", stopping)
    found = put_together(problem, [0, 0, 0, 3, 3, 3], [], 100, costs)
    assert found.is_stopped and found.labels == [0, 0, 0, 3, 3, 3]
