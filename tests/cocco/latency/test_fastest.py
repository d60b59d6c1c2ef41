"""The search for the fastest plan: never slower than its starts, the same for a seed, judged by the simulator."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.latency.places import placed_run
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.metrics import METRIC_NAMES
from simulator.model.priced import price_partition
from tests.helpers.every_kept_plan import all_orders, all_spans
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain, dag, diamond

SMALL = 2_000  #: samples
FEW = 100  #: samples of a network whose plans run for milliseconds
NETWORKS = (
    "vgg16", "resnet50", "googlenet", "densenet121", "resnext50",
    "l_raspp", "fcn", "s3d", "whisper_tiny", "encoder_stack",
)  # fmt: skip


def fastest(network, chip, **more):
    return cocco.partition(network, chip, metric="latency", **{"samples": SMALL} | more)


def executed(network, plan, chip):
    return evaluate(network, plan, chip).latency_executed_cycles


@pytest.fixture(scope="module")
def resnet50():
    network, chip = workloads.load("resnet50"), Accelerator(shared_buffer=1024 * KiB)
    return network, chip, fastest(network, chip, samples=FEW)


@pytest.mark.parametrize("metric", first_of(METRIC_NAMES, 2))
def test_it_is_faster_than_the_plan_of_every_metric(metric, resnet50):
    network, chip, found = resnet50
    other = cocco.partition(network, chip, metric=metric, samples=FEW)
    assert found.cost < other.evaluation.latency_executed_cycles


def test_it_says_what_is_executed_and_a_bound(resnet50):
    network, chip, found = resnet50
    assert found.cost == executed(network, found.plan, chip) == found.evaluation.latency_executed_cycles
    assert found.lower_bound <= found.cost
    assert (found.status, found.metric, found.bounded_by) == ("feasible", "latency", "weights behind s3b6_add")
    assert found.gap == (found.cost - found.lower_bound) / found.cost
    assert found.placed


def test_its_file_has_the_same_latency(resnet50, tmp_path):
    network, chip, found = resnet50
    found.plan.save(tmp_path / "plan.json", chip)
    assert executed(network, Partition.load(tmp_path / "plan.json", network), chip) == found.cost


def test_the_same_seed_gives_the_same_plan():
    network, chip = chain(4), Accelerator(shared_buffer=2048)
    first, again = (fastest(network, chip, seed=3) for _ in range(2))
    assert first.to_json() == again.to_json()


@pytest.mark.parametrize("network", [chain(3), diamond(), dag([[], [0], [0], [1, 2], [3]], kernel=3)])
@pytest.mark.parametrize("size", first_of([1536, 4096, 65536], 1))
def test_no_plan_of_a_small_network_is_much_faster(network, size):
    """Against all partitions, orders and kept intervals: they leave nothing free, so the search may even be faster."""
    chip = Accelerator(shared_buffer=size)
    plans = [
        Partition.from_ids(network, order, metric, spans)
        for order in all_orders(network)
        for spans in all_spans(network, order)
        for metric in ("energy",)
    ]
    least = min(executed(network, plan, chip) for plan in plans)
    found = fastest(network, chip)
    assert found.lower_bound <= min(least, found.cost)
    assert found.cost <= least


def test_keep_none_keeps_nothing():
    network, chip = chain(4), Accelerator(shared_buffer=4096)
    found = fastest(network, chip, keep="none")
    assert not found.plan.keep
    assert found.cost <= cocco.partition(network, chip, keep="none").evaluation.latency_executed_cycles


def test_a_given_plan_is_not_faster():
    network, chip = chain(4), Accelerator(shared_buffer=65536)
    given = Partition.layerwise(network)
    assert fastest(network, chip, initial=given, samples=10).cost <= executed(network, given, chip)


def test_what_does_not_run_has_no_latency():
    found = fastest(chain(2), Accelerator(shared_buffer=16))
    assert (found.status, found.metric, found.plans) == ("infeasible", "latency", ())


def test_other_methods_are_of_other_metrics():
    with pytest.raises(ValueError, match="^method must be 'auto' with metric 'latency', got 'ga'$"):
        fastest(chain(2), Accelerator(shared_buffer=4096), method="ga")


def test_ctrl_c_leaves_the_best_so_far(monkeypatch):
    from cocco.latency.search import Search

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "improve", stopped)
    network, chip = chain(4), Accelerator(shared_buffer=4096)
    with pytest.raises(cocco.Interrupted) as stop:
        fastest(network, chip)
    found = stop.value.result
    assert found.status in ("stopped", "optimal")
    assert found.cost <= cocco.partition(network, chip).evaluation.latency_executed_cycles


def test_several_cores_and_separate_buffers():
    network, chip = workloads.load("vgg16"), Accelerator(global_buffer=512 * KiB, weight_buffer=576 * KiB, cores=2)
    found = fastest(network, chip, samples=200, keep="none")
    assert found.lower_bound < found.cost == executed(network, found.plan, chip)


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [256, 512, 1024, 2048])
@pytest.mark.parametrize("name", NETWORKS)
def test_no_other_metric_runs_faster(name, kilobytes):
    network, chip = workloads.load(name), Accelerator(shared_buffer=kilobytes * KiB)
    found = fastest(network, chip)
    assert found.lower_bound <= found.cost == executed(network, found.plan, chip)
    for metric in METRIC_NAMES:
        other = cocco.partition(network, chip, metric=metric, samples=FEW).plan
        placed = placed_run(price_partition(network, other, chip))  # as the answer is: with addresses
        assert placed is None or found.cost <= executed(network, placed.run.priced.partition, chip)
