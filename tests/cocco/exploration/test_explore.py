"""partition() and explore(): results that the simulator confirms, and bad input at the door."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import cocco
from cocco.bounds.floors import least
from cocco.problem.space import Range, SeparateBuffers
from cocco.search.pricing import genomes as pricing
from simulator import Accelerator, Partition, evaluate
from tests.helpers.search_graphs import SPACE, chain, dag, diamond

MACHINE = Accelerator(shared_buffer=4096)
SETTINGS = cocco.Settings(population=20, elite=4)
TWO = [chain(6), dag([[], [0], [0], [1, 2]], "other", kernel=3)]


def explore(networks=TWO, **question):
    return cocco.explore(networks, **{"space": SPACE, "samples": 120, "settings": SETTINGS} | question)


def test_partition_answers_formula_1():
    asked = {"method": "ga", "metric": "energy", "samples": 150, "seed": 3, "settings": SETTINGS}
    result = cocco.partition(chain(6), MACHINE, **asked, keep="none")
    assert result.cost == evaluate(chain(6), result.plan, MACHINE).energy_pj == result.evaluation.energy_pj
    assert (result.method, result.metric, result.seed) == ("ga", "energy", 3) and 100 < result.samples <= 150
    assert (result.status, result.alpha) == ("feasible", None) and result.engine in ("fast", "reference")
    assert result.accelerator == MACHINE
    assert result.gap == pytest.approx(1 - result.lower_bound / result.cost)
    assert result.points["sample"].iloc[-1] == result.samples


def test_a_cost_that_meets_the_bound_is_proved_optimal():
    """All in one subgraph: weights, input and output cross once, which is the bound."""
    result = cocco.partition(chain(3), Accelerator(shared_buffer=65536), samples=50)
    assert (result.status, result.gap, result.cost) == ("optimal", 0.0, result.lower_bound)


def test_explore_answers_formula_2():
    result = explore(chain(6), alpha=0.01, metric="latency-sum")
    assert result.accelerator.shared_buffer in SPACE.candidates
    assert result.cost == result.accelerator.shared_buffer + 0.01 * result.evaluation.latency_cycles
    assert result.alpha == 0.01


def test_explore_several_networks_on_one_memory():
    result = explore(weights=[3, 0.5], alpha=0.01)
    assert [plan.network_name for plan in result.plans] == ["chain", "other"]
    chained, other = result.evaluations
    assert chained.accelerator == other.accelerator == result.accelerator
    value = 0.0 + 3 * chained.energy_pj + 0.5 * other.energy_pj
    assert result.cost == result.accelerator.shared_buffer + 0.01 * value
    with pytest.raises(ValueError, match="a result of 2 networks has no single plan; use plans"):
        result.plan  # noqa: B018
    with pytest.raises(ValueError, match="no single evaluation; use evaluations"):
        result.evaluation  # noqa: B018


@pytest.mark.parametrize("space", [SPACE, SeparateBuffers(Range(500, 4500, 500), Range(300, 3000, 300))], ids=str)
def test_every_kind_of_memory(space):
    """The winner is priced again inside, so ending at all is the test."""
    result = explore(space=space, cores=2, batch=3, max_regions=5, tile_rule="paper")
    assert all(evaluation.fits and evaluation.tile_rule == "paper" for evaluation in result.evaluations)
    assert result.lower_bound <= result.cost


def test_the_default_memory_is_the_papers_shared_buffer():
    result = cocco.explore(chain(2), samples=3)  # which goes on below it, since this network is small
    searched = result.searched
    assert isinstance(searched, cocco.SharedBuffer) and set(cocco.SharedBuffer().candidates) < set(searched.candidates)
    assert result.accelerator.shared_buffer in searched.candidates


def test_the_same_question_has_the_same_bytes():
    first, second = explore(seed=7), explore(seed=7)
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
    assert first.points.equals(second.points) and first.history.equals(second.history)


def test_never_worse_than_the_initial_partition():
    whole = Partition.from_ids(chain(30), [range(10), range(10, 20), range(20, 30)], "ema")
    machine = Accelerator(shared_buffer=16384)
    assert evaluate(chain(30), whole, machine).fits
    for initial in (whole, [whole], [[whole]]):
        result = cocco.partition(chain(30), machine, metric="ema", samples=2, initial=initial)
        assert result.cost <= evaluate(chain(30), whole, machine).ema_bytes


def test_initial_partitions_of_several_networks():
    plans = tuple(Partition.layerwise(network) for network in TWO)
    alone = cocco.Settings(seeds=False)  # else greedy and dp are asked, too
    assert explore(initial=[plans], samples=1, method="ga", keep="none", settings=alone).plans == plans


def test_population_replaces_that_of_the_settings():
    settings = cocco.Settings(elite=2, seeds=False, polish=0)
    asked = {"method": "ga", "samples": 30, "population": 7, "settings": settings}
    result = cocco.partition(chain(4), MACHINE, **asked, keep="none")
    assert list(result.points.groupby("generation").size()) == [7, 5, 5, 5, 5, 3]


def test_ctrl_c_raises_with_the_best_so_far():
    def stop(done, total, best):
        raise KeyboardInterrupt

    with pytest.raises(cocco.Interrupted) as stopped:
        explore(progress=stop, keep="none")
    result = stopped.value.result
    assert result.status == "stopped" and 20 <= result.samples < 120
    assert isinstance(stopped.value, KeyboardInterrupt) and "status='stopped'" in str(stopped.value)


def test_ctrl_c_after_a_proof_with_kept_tensors_leaves_the_proven_answer():
    """Progress is told after the proof."""

    def stop(done, total, best):
        raise KeyboardInterrupt

    with pytest.raises(cocco.Interrupted) as stopped:
        explore(progress=stop)
    found, result = explore(), stopped.value.result
    assert (result.status, result.cost, result.plans) == ("optimal", found.cost, found.plans)


def test_ctrl_c_while_addresses_are_found_keeps_the_result_without_them(monkeypatch):
    def stop(*_, **__):
        raise cocco.Interrupted("of an allocation")

    found = explore(samples=100)
    monkeypatch.setattr("cocco.exploration.placing.addresses.with_addresses", stop)
    with pytest.raises(cocco.Interrupted) as stopped:
        explore(samples=100, check_addresses=True)
    assert stopped.value.result.plans == found.plans and stopped.value.result.status == "stopped"


def test_ctrl_c_in_a_comparison_keeps_the_networks_that_were_compared(monkeypatch):
    calls = []

    def second(*arguments, **question):
        calls.append(1)
        if len(calls) == 2:
            raise cocco.Interrupted("of one network alone")
        return cocco.explore(*arguments, **question)

    found = cocco.explore(TWO, space=SPACE, samples=100)
    monkeypatch.setattr("cocco.exploration.compromise.explore", second)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.compromise(found, TWO, space=SPACE, samples=100)
    assert [each.network for each in stopped.value.result] == [TWO[0].name]


@pytest.mark.parametrize(("share", "status"), [(1.0, "optimal"), (1 - 1e-12, "feasible"), (0.995, "feasible")])
def test_only_a_bound_that_is_met_proves_an_answer(monkeypatch, share, status):
    chip = Accelerator(shared_buffer=2000)
    cost = cocco.partition(diamond(), chip, method="greedy", keep="none").cost
    monkeypatch.setattr(least, "lower_bound", lambda problem: share * cost)
    assert cocco.partition(diamond(), chip, method="greedy", keep="none").status == status


def test_a_price_that_the_simulator_denies_is_an_error(monkeypatch):
    price = pricing.Pricer.evaluate

    def cheaper(self, genome, stream):
        sample = price(self, genome, stream)
        return sample._replace(cost=sample.cost - 1)

    monkeypatch.setattr(pricing.Pricer, "evaluate", cheaper)
    with pytest.raises(RuntimeError, match=r"priced its winner at \d+.*, the simulator at \d+"):
        cocco.partition(chain(3), MACHINE, method="ga", samples=5, engine="reference")


def test_json_of_one_network():
    content = cocco.partition(diamond(), MACHINE, samples=10).to_json()
    assert {"network", "accelerator", "tile_rule", "totals", "subgraphs"} <= content.keys()
    assert {"method", "metric", "seed", "samples", "status", "lower_bound", "gap", "partition"} <= content.keys()
    assert sorted(sum(content["partition"], [])) == ["n0", "n1", "n2", "n3"]
    assert "alpha" not in content
    content = explore(diamond()).to_json()
    assert content["alpha"] == 0.002
    assert content["shared_buffer_bytes"] == content["accelerator"]["shared_buffer"]
    separate = SeparateBuffers(Range(500, 4500, 500), Range(300, 3000, 300))
    assert {"global_buffer_bytes", "weight_buffer_bytes"} <= explore(diamond(), space=separate).to_json().keys()


def test_json_of_several_networks():
    content = explore(weights=[1.0, 2.0]).to_json()
    assert [each["network"] for each in content["networks"]] == ["chain", "other"]
    assert [each["weight"] for each in content["networks"]] == [1.0, 2.0]
    assert {"cost", "alpha", "status", "shared_buffer_bytes"} <= content.keys()
    json.dumps(content, allow_nan=False)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"method": "magic"}, "method must be one of auto, ga, paper, exact, sa, random, grid, got 'magic'"),
        ({"metric": "speed"}, "metric must be one of ema, energy, latency-sum, got 'speed'"),
        ({"samples": 0}, "samples must be an integer from 1 to 100000000, got 0"),
        ({"samples": 10**12}, "samples must be an integer from 1 to 100000000, got 1000000000000"),
        ({"samples": 10.5}, "samples .* got 10.5"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"alpha": float("nan")}, "alpha must be a finite number of at least 0, got nan"),
        ({"weights": [1.0, 0.0]}, "weights must be finite numbers above 0, got 0.0"),
        ({"networks": []}, "networks is empty"),
        ({"networks": [chain(2), chain(3)]}, "network 'chain' is given twice"),
        ({"settings": {"population": 5}}, "settings must be a cocco.Settings"),
        ({"batch": 0}, "batch must be an integer from 1"),
        ({"initial": [Partition.layerwise(chain(6))]}, "one partition for each of the 2 networks, got 1"),
        ({"initial": [()] * 21}, r"initial must have at most 20 partitions \(the first generation\), got 21"),
    ],
    ids=str,
)
def test_bad_input_is_one_line(question, message):
    with pytest.raises(ValueError, match=message) as error:
        explore(**question)
    assert "\n" not in str(error.value)


def test_importing_cocco_is_light():
    code = "import sys, cocco; print([name for name in ('deap', 'pandas', 'matplotlib') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
