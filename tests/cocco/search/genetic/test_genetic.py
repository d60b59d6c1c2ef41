"""The loop: exact budgets, elitism, determinism, restarts, Ctrl-C, and the optimum where it can be enumerated."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocco.effort.settings import Settings
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.space import Range, SeparateBuffers
from cocco.search.genetic.genetic import genetic
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.partition.partition import Partition
from tests.helpers.every_plan import optimum
from tests.helpers.search_graphs import chain, dag, diamond, fixed, networks, spaced

SMALL = Settings(population=20, elite=4)
WIDE = dag([[], [0], [0], [1, 2], [0, 3], [3], [4, 5], [6], [6, 1], [7, 8]], "wide", kernel=3)


@settings(max_examples=12, derandomize=True)
@given(networks(6), st.sampled_from([700, 1500, 4000]), st.sampled_from(["ema", "energy", "latency-sum"]))
def test_finds_the_optimum_of_all_partitions(network, size, metric):
    problem = on_hardware(network, Accelerator(shared_buffer=size), metric=metric)
    assert genetic(problem, 400, 0, SMALL).best.cost == optimum(problem, ())


@settings(max_examples=3, derandomize=True)
@given(networks(5))
def test_finds_the_optimum_of_all_partitions_and_memories(network):
    problem = over_space(network, SeparateBuffers(Range(500, 2500, 500), Range(100, 2100, 400)), alpha=0.001)
    best = min(optimum(problem, (a, w)) for a in range(5) for w in range(6))
    assert genetic(problem, 1500, 0, SMALL).best.cost == best


@pytest.mark.parametrize("samples", [1, 2, 19, 20, 21, 36, 37, 100])
def test_prices_exactly_as_many_samples_as_asked(samples):
    trace = genetic(spaced(WIDE), samples, 0, SMALL)
    assert trace.samples == samples
    assert list(trace.seen().points["sample"]) == list(range(1, samples + 1))
    assert trace.seen().history["samples"].iloc[-1] == samples


def test_the_same_seed_gives_the_same_bytes():
    """Another seed gives other points; memos of one entry give the same."""

    def run(seed, **change):
        return genetic(spaced(WIDE), 300, seed, Settings(population=20, elite=4, **change))

    traces = [run(3), run(3), run(3, model_memo=1, price_memo=1)]
    for trace in traces[1:]:
        assert trace.best == traces[0].best
        assert trace.seen().points.equals(traces[0].seen().points)
        assert trace.seen().history.equals(traces[0].seen().history)
    assert not run(4).seen().points.equals(traces[0].seen().points)


def test_the_best_never_gets_lost():
    """Without restarts and islands the cheapest of each generation, its elite included, is never dearer than before."""
    history = genetic(spaced(WIDE), 600, 0, Settings(population=20, elite=1, patience=0, islands=1)).seen().history
    assert history["min_cost"].is_monotonic_decreasing
    assert (history["min_cost"] == history["best_cost"]).all()


def test_the_best_so_far_falls_with_the_samples():
    trace = genetic(spaced(WIDE), 600, 0, SMALL)
    points = trace.seen().points
    assert points["best_cost"].is_monotonic_decreasing
    assert points["best_cost"].iloc[-1] == trace.best.cost == points["cost"].min()
    ends = trace.seen().history.set_index("samples")["best_cost"]
    assert (points.set_index("sample")["best_cost"].loc[ends.index] == ends).all()


def test_a_stale_population_starts_anew():
    """A chain of 2 is solved at once; with patience 3 full generations of 20 fresh genomes follow."""
    points = genetic(fixed(chain(2)), 400, 0, Settings(population=20, elite=4, patience=3)).seen().points
    sizes = points.groupby("generation").size()
    assert (sizes.iloc[[0, 4, 8]] == 20).all()
    assert (sizes.iloc[[1, 2, 3, 5, 6, 7]] == 16).all()


def test_points_hold_the_memory_of_each_sample():
    separate = over_space(chain(3), SeparateBuffers(Range(500, 2500, 500), Range(100, 2100, 400)))
    points = genetic(separate, 50, 0, SMALL).seen().points
    names = [
        "sample", "generation", "global_buffer_bytes", "weight_buffer_bytes", "subgraphs", "value", "cost", "best_cost"
    ]  # fmt: skip
    assert list(points.columns) == names
    assert set(points["weight_buffer_bytes"]) <= set(range(100, 2101, 400))
    buffers = points["global_buffer_bytes"] + points["weight_buffer_bytes"]
    assert (points["cost"] == buffers + 0.002 * points["value"]).all()
    assert set(genetic(fixed(chain(3), 5000), 10, 0, SMALL).seen().points["shared_buffer_bytes"]) == {5000}


def test_initial_partitions_come_first():
    """The whole chain as one subgraph is the first sample; half of the rest of the population descends from it."""
    problem = fixed(chain(8))
    trace = genetic(problem, 20, 0, SMALL, founders=[[[0] * 8]])
    whole = evaluate(chain(8), Partition.from_ids(chain(8), [range(8)]), problem.accelerator)
    assert trace.seen().points["cost"].iloc[0] == whole.ema_bytes
    assert trace.best.cost <= whole.ema_bytes


class Interrupt:
    """Progress that presses Ctrl-C once so many samples are done."""

    def __init__(self, after):
        self.after = after

    def __call__(self, done, total, best):
        if done >= self.after:
            raise KeyboardInterrupt


def test_ctrl_c_keeps_the_best_so_far():
    whole, cut = genetic(spaced(WIDE), 200, 0, SMALL), genetic(spaced(WIDE), 200, 0, SMALL, progress=Interrupt(36))
    assert cut.is_stopped and not whole.is_stopped
    assert cut.samples == 36
    assert cut.seen().points.equals(whole.seen().points[:36])


@pytest.mark.parametrize("samples", [0, 1, 25])
def test_ctrl_c_inside_a_generation(monkeypatch, samples):
    """What was priced before counts; before the first sample one is priced all the same."""
    from cocco.search.pricing.genomes import Pricer

    price, calls = Pricer.evaluate, []

    def evaluate_or_stop(self, genome, stream):
        calls.append(genome)
        if len(calls) == samples + 1:
            raise KeyboardInterrupt
        return price(self, genome, stream)

    monkeypatch.setattr(Pricer, "evaluate", evaluate_or_stop)
    trace = genetic(spaced(WIDE), 200, 0, SMALL)
    assert trace.is_stopped
    assert trace.samples == max(1, samples) == len(trace.seen().points)


def test_progress_is_told_after_each_generation():
    told = []
    genetic(spaced(diamond()), 60, 0, SMALL, progress=lambda *numbers: told.append(numbers))
    assert [(done, total) for done, total, _ in told] == [(20, 60), (36, 60), (52, 60), (60, 60)]


def test_a_population_of_the_paper_is_replaced_as_a_whole():
    """Cocco, Sec. 4.4.5: winners form the new generation, so the cheapest of one may be lost, and children repeat."""
    history = genetic(spaced(chain(20)), 400, 0, Settings.paper(20)).seen().history
    assert list(history["samples"]) == list(range(20, 401, 20))
    assert not history["min_cost"].is_monotonic_decreasing and history["best_cost"].is_monotonic_decreasing
    assert history["distinct"].min() < 20
