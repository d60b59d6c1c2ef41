"""The compiled search with kept tensors finds the plans of the readable one, at the same costs, in as many steps."""

from __future__ import annotations

import gc
import math
import signal
from dataclasses import replace

import pytest

import workloads
from cocco.bounds.cheapest import cheapest_plans
from cocco.problem.objective import Objective
from cocco.problem.problem import Problem, on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator
from simulator.model.priced import price_partition
from simulator.model.pricing import Price
from tests.helpers.many_alike import many
from tests.helpers.parts import each_seed, few_seeds, first_of
from tests.helpers.random_problems import random_net, random_problem, random_twin
from tests.helpers.random_tables import with_tables
from tests.helpers.search_graphs import chain, diamond

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


@few_seeds(36, 500)
def test_engines_agree_on_random_problems(seeds):
    """Up to 6 layers: cost, plan, states, steps, and why there is none; with little and with ample budgets."""
    spans = plans = 0
    for seed in seeds:
        problem = random_problem(seed, 6)
        budget = (500, 3_000) if seed % 5 == 0 else (100_000, 2_000_000)
        may_keep = seed % 7 > 0
        readable = cheapest_plans(problem, *budget, may_keep, "reference")
        assert cheapest_plans(problem, *budget, may_keep, "fast") == readable, seed
        plans += readable.is_proven
        spans += len(readable.plans[0].spans)
    assert plans > 0.6 * len(seeds) and spans > len(seeds) // 4  # most are solved, and many keep something


@each_seed(20, 40)
def test_engines_agree_where_nothing_is_kept(seed):
    """On machines of every kind: the same subgraphs, states, steps and cost; the same end where the steps run out."""
    like = random_twin(4 * seed + seed % 2)
    problem = Problem((random_net(seed),), like.accelerator, {}, Objective(like.objective.metric, None, (1.0,)))
    for steps in (10_000_000, 200 + 20 * seed):
        readable = cheapest_plans(problem, 2_000, steps, may_keep=False, engine="reference")
        assert cheapest_plans(problem, 2_000, steps, may_keep=False, engine="fast") == readable


@few_seeds(18, 300)
def test_engines_agree_with_tables(seeds):
    """The energy of buffers by random tables: cost, plan, states and steps."""
    plans = 0
    for seed in seeds:
        problem = with_tables(random_problem(seed, 6), seed)
        if seed % 3:
            problem = replace(problem, objective=replace(problem.objective, metric="energy"))
        readable = cheapest_plans(problem, 100_000, 2_000_000, engine="reference")
        assert cheapest_plans(problem, 100_000, 2_000_000, engine="fast") == readable, seed
        plans += readable.is_proven
    assert plans > len(seeds) // 2


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 150), marks=pytest.mark.slow)])
def test_engines_cut_off_alike(seeds):
    """At the optimum nothing is below, just above it the optimum is found; of two networks, too."""
    cuts = 0
    for seed in seeds:
        problem = random_problem(seed, 6)
        best = cheapest_plans(problem).cost
        if best < math.inf:
            for below in (0.9 * best, best, 1.01 * best):
                found = cheapest_plans(problem, below=below, engine="fast")
                assert found == cheapest_plans(problem, below=below, engine="reference"), seed
                assert found.cost == (best if below > best else math.inf)
                assert found.plans[-1].status == ("optimal" if below > best else "none_below")
                cuts += below <= best
    assert cuts > len(seeds)
    problem = on_hardware([chain(6, "a"), diamond("b")], Accelerator(shared_buffer=2048), metric="energy")
    best = cheapest_plans(problem).cost
    assert cheapest_plans(problem, below=best).plans[-1].status == "none_below"
    assert cheapest_plans(problem, below=best * (1 + 1e-6)).cost == best


@pytest.mark.parametrize("name", ["nasnet", "forty_inputs"])
def test_ctrl_c_ends_a_search(name):
    """Neither would end: NASNet has steps for hours, and forty inputs that differ, all kept, leave 2 ** 40 choices of
    what is dropped to one step.
    """
    network, size = many(40, shapes=40), 80_000
    if name == "nasnet":
        network, size = workloads.load("nasnet"), 512 * 1024
    machine = Accelerator(shared_buffer=size, max_regions=None, connected="paper")
    problem = on_hardware(network, machine, metric="ema")

    def stop(*_):
        raise KeyboardInterrupt

    cheapest_plans(problem, max_steps=1)  # what is built once
    before = signal.signal(signal.SIGVTALRM, stop)
    gc.disable()  # hypothesis listens to collections, and what is raised in a listener is lost
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)  # of CPU time
    try:
        with pytest.raises(KeyboardInterrupt) as stopped:
            cheapest_plans(problem, max_steps=10**8)
        assert any("KeptSearch" in each.name for each in stopped.traceback)  # not before it, nor at its end
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        gc.enable()
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("budget", [(3, 10_000), (1_000, 100)])
def test_engines_give_up_for_the_same_reason(budget):
    problem = on_hardware([chain(6, "a"), diamond("b")], Accelerator(shared_buffer=2048))
    found = cheapest_plans(problem, *budget, engine="fast")
    assert found == cheapest_plans(problem, *budget, engine="reference")
    assert not found.is_proven and f"{min(budget)} st" in found.plans[-1].reason


@pytest.mark.parametrize("metric", ["ema", "energy", "latency-sum"])
def test_engines_agree_on_a_network(metric):
    machine = Accelerator(global_buffer=2**20, weight_buffer=1152 * 1024)
    problem = on_hardware(workloads.load("vgg16"), machine, metric=metric)
    assert cheapest_plans(problem, engine="fast") == cheapest_plans(problem, engine="reference")


@pytest.mark.parametrize(
    ("name", "size", "ema_bytes"),
    [("resnet50", 896, 25_855_144), ("resnet50", 1152, 25_654_440), ("googlenet", 512, 7_141_800)],
)
def test_networks_are_proven(name, size, ema_bytes):
    """Regression values of the model as it is; the last two are weights, inputs and outputs once: the floor."""
    found = cheapest_plans(on_hardware(workloads.load(name), Accelerator(shared_buffer=size * 1024), metric="ema"))
    assert found.is_proven and found.cost == ema_bytes


@pytest.mark.parametrize("sizes", first_of([[256, 512, 1024, 1152], range(256, 1153, 128)], 1))
def test_more_memory_never_moves_more_off_chip(sizes):
    """ResNet50 from 256 KB to 1.125 MB; nothing kept is never less; the way of `evaluate` prices the plans alike."""
    network, last = workloads.load("resnet50"), math.inf
    for size in sizes:
        problem = on_hardware(network, Accelerator(shared_buffer=size * 1024), metric="ema")
        found = cheapest_plans(problem)
        assert found.partitions is not None and found.cost <= last
        assert found.cost <= cheapest_plans(problem, may_keep=False).cost
        priced = price_partition(network, found.partitions[0], problem.accelerator)
        assert sum(price.ema_bytes for price in priced.prices if isinstance(price, Price)) == found.cost
        assert priced.fits
        last = found.cost
    assert last == 25_654_440
