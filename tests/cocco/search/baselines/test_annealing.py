"""Simulated annealing: exact samples, one current genome, cooling, and a user who stops it."""

from __future__ import annotations

import pytest

import cocco.search.baselines.annealing as annealing_module
import workloads
from cocco.candidates.stream import Stream
from cocco.effort.settings import Settings
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.space import SeparateBuffers
from cocco.search.baselines.annealing import Cooling, _accepts, annealing
from cocco.search.genetic.operators.repair import repair
from cocco.search.kernel.choice import has_kernel
from cocco.search.pricing.genomes import Pricer
from simulator import Accelerator
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain, diamond, fixed, spaced


def test_exactly_the_samples_are_priced_in_rows_of_a_hundred():
    trace = annealing(fixed(chain(6)), 250, 1, Settings())
    assert trace.samples == 250
    assert list(trace.seen().history["samples"]) == [100, 200, 250]
    assert len(trace.seen().points) == 250
    assert not trace.is_stopped


@pytest.mark.parametrize("problem", [fixed(diamond(), 2048), spaced(chain(5, "a"), diamond("b"))])
def test_the_same_seed_gives_the_same_search(problem):
    """On given hardware and where the memory is chosen; the best is a valid partition at its price."""
    first, second = (annealing(problem, 150, 7, Settings()) for _ in range(2))
    assert first.seen().points.equals(second.seen().points)
    best = first.best
    assert repair(problem, best.genome.labels) == best.genome.labels
    assert Pricer(problem).evaluate(best.genome, Stream(0, 0, 0)) == best


def test_the_memory_is_chosen_too():
    trace = annealing(spaced(chain(4)), 200, 0, Settings())
    assert trace.seen().points["shared_buffer_bytes"].nunique() > 1


def test_a_small_network_is_solved():
    """Six layers in ample memory: one subgraph."""
    assert annealing(fixed(chain(6)), 300, 0, Settings()).best.genome.labels == [0] * 6


def test_it_starts_from_the_best_of_the_given_partitions():
    """Both are priced; the cold search then keeps what is no worse."""
    problem = fixed(chain(4))
    trace = annealing(problem, 2, 0, Settings(), [[0, 1, 2, 3], [0, 0, 0, 0]])
    costs = list(trace.seen().points["cost"])
    assert trace.best.genome.labels == [0, 0, 0, 0]
    assert costs[1] < costs[0]


def test_temperature_falls_in_equal_ratios():
    """From 1 to 1/16: a half of the way is 1/4."""
    cooling = Cooling(1.0, 1 / 16)
    assert cooling.over(range(3), 2) == [1.0, 0.25, 1 / 16]


@pytest.mark.parametrize(("first", "last"), [(0.1, 0.2), (0.1, 0.0), (float("inf"), 1.0), (float("nan"), 0.1)])
def test_cooling_must_cool(first, last):
    with pytest.raises(ValueError, match="0 < last <= first"):
        Cooling(first, last)


def test_worse_steps_are_taken_as_the_temperature_says():
    """exp(-1) = 0.37 of the steps that cost one temperature more; none at zero; all that are no worse."""
    stream = Stream(0, 0, 0)
    assert 330 < sum(_accepts(2.0, 2.0, stream) for _ in range(1000)) < 410
    assert not any(_accepts(1.0, 0.0, stream) for _ in range(10))
    assert all(_accepts(0.0, 0.0, stream) for _ in range(10))
    assert not any(_accepts(1e9, 1.0, stream) for _ in range(10))


@pytest.mark.parametrize("allowed", [0, 30, 130])
def test_a_user_who_stops_keeps_the_best(allowed, monkeypatch):
    """Interrupted at the first, 31st or 131st sample; the answer is priced in any case."""
    evaluate, calls = Pricer.evaluate, []

    def stopping(self, genome, stream):
        calls.append(1)
        if len(calls) == allowed + 1:
            raise KeyboardInterrupt
        return evaluate(self, genome, stream)

    monkeypatch.setattr(Pricer, "evaluate", stopping)
    trace = annealing(fixed(chain(5)), 1000, 0, Settings())
    assert trace.is_stopped
    assert trace.samples == max(allowed, 1)
    assert trace.best.cost > 0


def assert_engines_agree(problem, samples, seed, initial=()):
    slow, fast = (annealing(problem, samples, seed, Settings(), initial, engine=name) for name in ("reference", "fast"))
    assert (slow.engine, fast.engine) == ("reference", "fast")
    assert slow.best == fast.best
    assert slow.seen().points.equals(fast.seen().points) and slow.seen().history.equals(fast.seen().history)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seed", first_of(range(30), 1))
def test_engines_anneal_alike(seed):
    """Beyond one block; on given hardware, where one memory or two are chosen; from nothing, from founders."""
    assert_engines_agree(fixed(diamond(), 2048), 230, seed)
    assert_engines_agree(spaced(chain(5, "a"), diamond("b")), 230, seed, [[0] * 5 + [5] * 4, list(range(9))])
    two = over_space(workloads.load("googlenet"), SeparateBuffers(), alpha=0.002)
    assert_engines_agree(two, 130, seed)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize(("shared", "metric"), [(192, "energy"), (512, "ema"), (1024, "latency-sum")])
@pytest.mark.parametrize("keep", ["none", "auto"])
def test_engines_anneal_alike_where_a_step_is_priced_by_what_it_changes(shared, metric, keep):
    """Where merged layers seldom fit, and are cut, and where they do; cycles, and subgraphs that fall apart."""
    chip = Accelerator(shared_buffer=shared * 2**10)
    assert_engines_agree(on_hardware(workloads.load("googlenet"), chip, metric=metric, keep=keep), 230, shared)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
def test_engines_anneal_alike_from_more_founders_than_a_block_has():
    initial = [[0, 1, 2, 3], [0, 0, 2, 2], [0, 0, 0, 3]] * 50
    assert_engines_agree(spaced(chain(4)), 270, 2, initial)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
def test_what_outgrows_64_bits_is_annealed_by_the_readable_engine(monkeypatch):
    """The compiled block raises; the search then is that of Python, from the same place."""
    problem, calls = fixed(chain(5)), []

    def outgrown(self, *_):
        calls.append(1)
        raise OverflowError

    slow = annealing(problem, 150, 1, Settings())
    monkeypatch.setattr(annealing_module, "Compiled", lambda *_: type("Twin", (), {"anneal": outgrown})())
    assert annealing(problem, 150, 1, Settings(), engine="fast").seen().points.equals(slow.seen().points)
    assert len(calls) == 2
