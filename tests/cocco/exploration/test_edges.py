"""No edge unnoticed: the default range goes on where the answer lies at its end; of a given one the answer says so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import cocco
from cocco.exploration.memories.edges import edges, extended, met_by
from cocco.problem.buildable import within_tables
from cocco.problem.problem import over_space
from cocco.problem.space import Range, extending, round_sizes
from simulator import KiB, Sram, SramRow, SramTable, Technology
from tests.helpers.search_graphs import chain
from workloads import Builder, Network

pytestmark = pytest.mark.usefixtures("undrawn")

QUICK = {"samples": 200, "effort": "quick", "ranges": False}


@pytest.fixture(scope="module")
def small() -> Network:
    """Return the network of docs/adding.md: 40 KB of weights, maps of 64 KB."""
    b = Builder("tiny")
    image = b.input("image", 32, 32, 3)
    stem = b.conv("stem", image, 64, kernel=3, padding=1)
    body = b.conv("body", stem, 64, kernel=3, padding=1)
    b.fc("classes", b.global_avgpool("pool", b.add("sum", [stem, body])), 10)
    return b.build()


def test_round_sizes_have_four_binary_digits():
    assert [*round_sizes(15, 34)] == [15, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    assert [*round_sizes(8, 8)] == [8] and not [*round_sizes(33, 35)]


def test_a_range_has_sizes_beyond_its_ends():
    asked = Range(1024, 2048, 512, least=900, most=2100)
    assert asked.candidates == (900, 960, 1024, 1536, 2048, 2100)
    for least, most in ((1024, None), (None, 2048)):
        with pytest.raises(ValueError, match="least and most must lie beyond low and high"):
            Range(1024, 2048, 512, least=least, most=most)


def test_the_default_range_goes_on_to_the_optimum_of_all_sizes(small):
    """48 KB cost 32 % less than the 128 KB that the default begins with; brute force over every size agrees."""
    found = cocco.explore(small, **QUICK)
    whole = cocco.explore(small, space=cocco.SharedBuffer(2 * KiB, 512 * KiB, 2 * KiB), **QUICK)
    assert found.status == whole.status == "optimal"
    assert found.accelerator == whole.accelerator and found.cost == whole.cost
    assert found.accelerator.shared_buffer == 48 * KiB and not found.edges
    assert found.to_json()["searched"] == {
        "shared_buffer": {"low": 131072, "high": 3145728, "step": 65536, "least": 32768, "extends": True}
    }


def test_a_given_range_stays_and_its_answer_says_what_to_ask(small):
    found = cocco.explore(small, space=cocco.SharedBuffer(), **QUICK)
    assert found.accelerator.shared_buffer == 128 * KiB
    (edge,) = found.edges
    assert (edge.buffer, edge.end, edge.size_bytes, edge.ask) == ("shared_buffer", "low", 131072, "32KB:128KB:4KB")
    low, high, step = (int(each.removesuffix("KB")) * KiB for each in edge.ask.split(":"))
    further = cocco.explore(small, space=cocco.SharedBuffer(low, high, step), **QUICK)
    assert further.cost < found.cost and not further.edges
    assert json.loads(json.dumps(found.to_json()))["edges"] == [edge._asdict()]


def test_two_buffers_each_go_on(small):
    space = extending(
        cocco.SeparateBuffers(Range(128 * KiB, 256 * KiB, 64 * KiB), Range(36 * KiB, 144 * KiB, 36 * KiB))
    )
    found = cocco.explore(small, space=space, **QUICK)
    assert found.status == "optimal" and not found.edges
    assert found.accelerator.global_buffer < 128 * KiB
    assert found.searched.global_buffer.least is not None


def test_where_nothing_else_counts_the_range_ends_at_the_least_memory_that_runs(small):
    found = cocco.explore(small, alpha=0, **QUICK)
    assert (found.status, found.accelerator.shared_buffer, found.edges) == ("optimal", 704, ())
    assert cocco.explore(small, space=cocco.SharedBuffer(640, 640, 1), alpha=0, **QUICK).status == "infeasible"


def test_the_range_goes_up_to_what_holds_everything(small):
    """All weights and tensors once are 328,144 bytes, the next round size is 352 KB; from there on nothing is saved."""
    space = extending(cocco.SharedBuffer(8 * KiB, 16 * KiB, 4 * KiB))
    found = cocco.explore(small, space=space, alpha=1e6, metric="ema", **QUICK)
    assert found.status == "optimal" and found.accelerator.shared_buffer > 16 * KiB
    assert found.evaluation.ema_bytes == small.weight_bytes + 32 * 32 * 3 + 10
    assert found.searched.most <= 352 * KiB and not found.edges


def test_a_size_within_one_percent_at_an_end_counts_as_the_answer():
    """Where one byte is worth nothing to speak of, all sizes that hold the chain cost the same."""
    network = chain(4)
    problem = over_space(network, cocco.SharedBuffer(4096, 16384, 4096), alpha=1e6, metric="ema")
    found = cocco.explore(network, space=problem.space, alpha=1e6, metric="ema", samples=200)
    met, most = met_by(problem, found)
    assert (0,) in met and (3,) in met and most == found.cost * 1.01
    assert {each.end for each in edges(problem, met, most)} <= {"low", "high"}


def test_nothing_beyond_is_no_edge(small):
    """Sizes that no layer runs in, and sizes whose bound is above the answer, are not worth a word."""
    problem = over_space(small, cocco.SharedBuffer(704, 2816, 704), alpha=1e-9)
    assert edges(problem, [(0,)]) == ()
    bounds = over_space(small, cocco.SharedBuffer(64 * KiB, 128 * KiB, 64 * KiB), alpha=1e-9)
    assert edges(bounds, [(1,)], most=70.0 * KiB) == () and extended(bounds, [(1,)]) is None


def test_a_range_of_one_size_was_asked(small):
    assert cocco.explore(small, space=cocco.SharedBuffer(128 * KiB, 128 * KiB, 1), **QUICK).edges == ()


def table(*sizes: int, **how: object) -> Technology:
    rows = tuple(SramRow(size, 1.0 + i / 10, 1.0 + i / 10, 0.0, size / 2**20) for i, size in enumerate(sizes))
    sram = Sram(SramTable("mine", rows), **how)
    return Technology(activation_sram=sram, weight_sram=sram)


def test_a_table_that_does_not_reach_as_far_is_the_range(small):
    """A table of 16 KB to 1 MB: its sizes are asked, none beyond; a given range is not changed."""
    mine = table(16 * KiB, 1024 * KiB)
    sizes = over_space(small, technology=mine).buffers["shared_buffer"]
    assert (sizes[0], sizes[-1], len(sizes)) == (16 * KiB, 1024 * KiB, 49)
    found = cocco.explore(small, technology=mine, **QUICK)
    assert (found.status, found.accelerator.shared_buffer) == ("optimal", 48 * KiB)
    rows = table(20_000, 100_000, 200_000, sizes="rows")
    assert over_space(small, technology=rows).buffers["shared_buffer"] == (20_000, 100_000, 200_000)
    with pytest.raises(ValueError, match="mine"):
        over_space(small, cocco.SharedBuffer(), technology=mine)
    wide = table(16 * KiB, 4096 * KiB)
    assert within_tables(extending(cocco.SharedBuffer()), wide) == extending(cocco.SharedBuffer())


def test_limits_go_on_as_well(small):
    """Under a limit that every size keeps, the least capacity is the least memory that runs."""
    found = cocco.minimize(small, "capacity", {"ema": 1e12}, samples=100, effort="quick")
    assert found.status == "optimal" and found.value == 704 and not found.edges
    given = cocco.minimize(small, "capacity", {"ema": 1e12}, space=cocco.SharedBuffer(), samples=100, effort="quick")
    assert given.value == 131072 and [each.ask for each in given.edges] == ["32KB:128KB:4KB"]
    below = cocco.minimize(small, "energy", {"capacity": 100 * KiB}, samples=100, effort="quick")
    assert below.best is not None and below.best.accelerator.shared_buffer <= 100 * KiB


def test_a_front_says_that_it_goes_on(small):
    front = cocco.pareto(small, samples=100, effort="quick")
    assert [(each.end, each.ask) for each in front.edges if each.end == "low"] == [("low", "32KB:128KB:4KB")]
    assert front.to_json()["searched"]["shared_buffer"]["low"] == 131072


def test_ctrl_c_beyond_the_default_leaves_the_better_answer(monkeypatch, small):
    from cocco.exploration import explore as module

    answered, calls = module.answered, []

    def second_stops(question, *rest):
        calls.append(question)
        if len(calls) == 2:
            result, _ = answered(question, *rest)
            raise cocco.Interrupted(replace(result, cost=2 * result.cost, status="stopped"))
        return answered(question, *rest)

    monkeypatch.setattr(module, "answered", second_stops)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.explore(small, **QUICK)
    assert (stopped.value.result.status, stopped.value.result.accelerator.shared_buffer) == ("stopped", 131072)
