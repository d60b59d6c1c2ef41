"""Long lists: the compiled search looks buffers up in blocks of time, and a greedy rule is made for them."""

import random
from importlib import import_module

import pytest

import cocco
from cocco.allocation.exact.complete import run_once
from cocco.allocation.heuristics.greedy import greedy
from cocco.allocation.heuristics.least import height_of
from cocco.allocation.problem import has_kernel, make_problem
from simulator.allocation.buffers import Buffer
from tests.helpers.parts import first_of

entry_point = import_module("cocco.allocation.allocate")


def many(seed, count=220, with_all=True):
    """Return buffers in several blocks of 64: short and long lives, some with gaps, alignments and fixed offsets."""
    rng = random.Random(seed)
    found = []
    for i in range(count):
        lower = rng.randrange(count)
        life = rng.randint(30, 90) if i % 9 == 0 else rng.randint(1, 6)
        gaps = ((lower + 10, lower + 20),) if with_all and life >= 30 and i % 2 else ()
        alignment = 4 if with_all and i % 7 == 0 else 1
        found.append(Buffer(str(i), lower, lower + life, rng.randint(1, 30), alignment, gaps=gaps))
    if with_all:
        found.append(Buffer("fixed", count // 2, count // 2 + 5, 8, 4, offset=8))
    return found


@pytest.mark.skipif(not has_kernel(), reason="needs the compiled search")
@pytest.mark.parametrize("seed", first_of([5, *range(5)], 2))
@pytest.mark.parametrize("rank", ["TWA", "TAW", "WAT"])
def test_both_engines_open_the_same_nodes_across_blocks(seed, rank):
    problem = make_problem(many(seed, with_all=seed % 2 == 1))
    for percent in (100, 104, 125):
        capacity = problem.bound * percent // 100
        runs = [run_once(problem, capacity, rank, 700, engine) for engine in ("fast", "reference")]
        (ended, fast), (other, slow) = runs
        assert (ended, fast.nodes, list(fast.address)) == (other, slow.nodes, list(slow.address))


def test_long_lives_are_placed_first_and_short_ones_fill_the_gaps():
    """The lives 0-40 and 30-80 lie on each other; the short ones go on the first and, where it has ended, under it."""
    lives = [(0, 40, 4), (30, 80, 4)] + [(k, k + 1, 2 + (k == 3)) for k in range(0, 24)]
    problem = make_problem([Buffer(str(i), *life) for i, life in enumerate(lives)] + [Buffer("x", 70, 71, 4)])
    address = greedy(problem, "long first", "bf").tolist()
    assert address[:2] == [0, 4]
    assert set(address[2:26]) == {4}
    assert address[26] == 0
    assert height_of(problem, greedy(problem, "long first", "bf")) == 8 == problem.bound


def test_a_long_list_is_minimized_by_the_portfolio_alone(monkeypatch):
    buffers = many(2, with_all=False)
    monkeypatch.setattr(entry_point, "MOST_MINIMIZED", 100)
    found = cocco.allocate(buffers, 10**6, minimize=True)
    assert found.nodes == 0 and found.solved_by.startswith("greedy")
    best = cocco.allocate(buffers, 10**6, method="greedy", minimize=True)
    assert found.height_bytes == best.height_bytes


@pytest.mark.slow
def test_random_lives_of_60000_buffers_stay_within_three_thousandths_of_the_bound():
    from benchmarks.allocation_lists import random_lives

    problem = make_problem(random_lives(60_000))
    assert height_of(problem, greedy(problem, "long first", "bf")) <= 1.003 * problem.bound
