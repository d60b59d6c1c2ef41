"""The simulator judges every winner: whoever found it, a price that it does not confirm is an error."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cocco
from cocco.candidates.judge import judged
from cocco.exploration.memories.proof import prove
from cocco.exploration.placing import addresses
from cocco.problem.engines import ENGINES
from cocco.problem.problem import on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, evaluate
from tests.helpers.search_graphs import SPACE, chain, dag, diamond, fixed

DENIED = r"priced its winner at \d[^,]*(, [\d.]+)*, the simulator at \d.* \((ema|energy)\); please report"


@pytest.fixture
def lying_simulator(monkeypatch):
    """A simulator that finds one byte more crossing to DRAM, and one pJ more spent, than there is."""

    def dearer(*question):
        found = evaluate(*question)
        return replace(found, ema_bytes=found.ema_bytes + 1, energy_pj=found.energy_pj + 1)

    monkeypatch.setattr("cocco.problem.problem.evaluate", dearer)


@pytest.mark.usefixtures("lying_simulator")
@pytest.mark.parametrize("method", ["ga", "greedy", "dp", "idp", "sa"])
def test_a_winner_of_partition_that_the_simulator_denies_is_an_error(method):
    with pytest.raises(RuntimeError, match=DENIED):
        cocco.partition(chain(3), Accelerator(shared_buffer=2000), method=method, samples=20)


@pytest.mark.usefixtures("lying_simulator")
def test_a_winner_of_explore_that_the_simulator_denies_is_an_error():
    with pytest.raises(RuntimeError, match=DENIED):
        cocco.explore(chain(3), space=SPACE, method="ga", samples=20)


@pytest.mark.usefixtures("lying_simulator")
@pytest.mark.parametrize("method", ["nsga2", "exact"])
def test_a_point_of_a_front_that_the_simulator_denies_is_an_error(method):
    with pytest.raises(RuntimeError, match=DENIED):
        cocco.pareto(chain(3), space=SPACE, method=method, samples=50)


@pytest.mark.usefixtures("lying_simulator")
@pytest.mark.parametrize("engine", ENGINES if has_kernel() else ["reference"])
def test_an_optimum_that_the_simulator_denies_is_an_error(engine):
    """Enumeration adds up floats, so it may differ by rounding: a byte is far more."""
    with pytest.raises(RuntimeError, match=DENIED):
        prove(fixed(chain(3)), None, engine, 10**6, 10**6)


def test_a_split_for_addresses_that_the_simulator_denies_is_an_error(monkeypatch):
    """The check of addresses says once that the only subgraph has none, so that it is cut."""
    network, chip = diamond(), Accelerator(shared_buffer=65536)
    found = cocco.partition(network, chip, method="exact", metric="ema")
    assert len(found.plan) == 1
    problem = on_hardware(network, chip, metric="ema")
    monkeypatch.setattr(addresses, "_failing", lambda _, i, plan, chip: [0] if len(plan) == 1 else [])
    split = addresses.with_addresses(problem, found)
    assert split.splits == 1 and split.cost == evaluate(network, split.plan, chip).ema_bytes > found.cost
    price = addresses.Pricer.evaluate
    monkeypatch.setattr(addresses.Pricer, "evaluate", lambda *question: price(*question)._replace(cost=1.0))
    with pytest.raises(RuntimeError, match=DENIED):
        addresses.with_addresses(problem, found)


def test_what_does_not_fit_is_never_a_winner():
    """A finite claim against an infinite price, whatever the rounding."""
    problem = on_hardware(dag([[], [0]], kernel=3), Accelerator(global_buffer=65536, weight_buffer=100))
    with pytest.raises(RuntimeError, match="the simulator at inf"):
        judged(problem, [0, 0], (), [1e300], rounding=0.5)
