"""Alpha in other words: by hand, there and back, and refusals of one line."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.problem.exchange import alpha_of, cheapest, exchange_of, exchanged
from cocco.problem.problem import over_space
from simulator import Accelerator, KiB, MiB
from tests.helpers.table_chip import table_machine

NETWORK = workloads.load("vgg16")
SPACE = cocco.SharedBuffer(512 * KiB, 1024 * KiB, 256 * KiB)


def problem(**more):
    return over_space(NETWORK, SPACE, **{"metric": "energy"} | more)


@pytest.mark.parametrize(
    ("text", "metric", "alpha"),
    [
        ("500pJ/B", "energy", 0.002),
        ("500 pJ/B", "energy", 0.002),
        ("0.512uJ/KB", "energy", 0.002),
        ("1.2e9 pJ/mm2", "energy", MiB / 1.44e9),  # 1.2 mm2 for a MiB
        ("1.2mJ/mm2", "energy", MiB / 1.44e9),
        ("2B/B", "ema", 0.5),
        ("4cycles/B", "latency-sum", 0.25),
        ("4ns/B", "latency-sum", 0.25),
    ],
)
def test_words_by_hand(text: str, metric: str, alpha: float):
    assert alpha_of(text, problem(metric=metric)) == pytest.approx(alpha, rel=1e-12)


def test_a_mm2_is_one_of_all_cores():
    """Two cores: a byte of one is a byte of each, so a mm2 holds half as many."""
    one, two = (alpha_of("2mJ/mm2", problem(cores=cores)) for cores in (1, 2))
    assert one == pytest.approx(2 * two)


def test_where_the_bytes_of_all_cores_count_a_mm2_holds_as_many_as_with_one():
    one, two = (alpha_of("2mJ/mm2", problem(cores=cores, count="all")) for cores in (1, 2))
    assert one == pytest.approx(two)


@pytest.mark.parametrize("more", [{}, {"cores": 2}, table_machine(), {"metric": "ema"}, {"metric": "latency-sum"}])
def test_words_say_the_same_number_back(more):
    asked = problem(**more)
    unit = {"energy": "pJ", "ema": "B", "latency-sum": "cycles"}[asked.objective.metric]
    found = exchange_of(exchanged(asked, f"3e6{unit}/mm2"))
    assert found is not None and found.per_mm2 == pytest.approx(3e6)
    found = exchange_of(exchanged(asked, f"700{unit}/B"))
    assert found is not None and found.per_byte == pytest.approx(700) and "a byte of buffer is worth 700 " in str(found)


def test_no_alpha_is_worth_everything():
    found = exchange_of(problem(alpha=0.0))
    assert found is not None and found.to_json() == {"per_byte": None, "per_mm2": None, "unit": "pJ"}
    assert "more than any energy" in str(found)


@pytest.mark.parametrize(
    "text", ["", "500", "500pJ", "pJ/B", "500pJ/GB", "500MB/B", "-1pJ/B", "0pJ/B", "1e99pJ/B", "nanpJ/B", "5pJ/B/B", 7]
)
def test_other_words_are_refused_in_one_line(text):
    with pytest.raises(ValueError, match="exchange must be") as refusal:
        alpha_of(text, problem())
    assert "\n" not in str(refusal.value)


def test_alpha_and_exchange_are_not_both_given():
    with pytest.raises(ValueError, match="give one of them"):
        cocco.explore(NETWORK, space=SPACE, alpha=0.1, exchange="500pJ/B", samples=100)


def test_explore_takes_either():
    found, same = (cocco.explore(NETWORK, space=SPACE, samples=200, **each) for each in ({}, {"exchange": "500pJ/B"}))
    assert found.to_json() == same.to_json() and found.to_json()["exchange"]["per_byte"] == 500.0


def test_the_cheapest_point_of_a_front_by_hand():
    """1 KB and 100 pJ, 3 KB and 10 pJ: from 90 pJ for 2 KB on the small one is cheaper."""
    machines = [Accelerator(shared_buffer=size * KiB) for size in (1, 3)]
    for text, expected in (("44pJ/KB", 1), ("46pJ/KB", 0), ("1pJ/mm2", 1), ("1mJ/mm2", 0)):
        assert cheapest(text, ("capacity", "energy"), [(1024, 100.0), (3072, 10.0)], machines) == expected
    with pytest.raises(ValueError, match="among the objectives, got capacity, area"):
        cheapest("1pJ/B", ("capacity", "area"), [(1, 1)], machines[:1])
    with pytest.raises(ValueError, match="number of B, KB, MB for one"):
        cheapest("1pJ/B", ("capacity", "ema"), [(1, 1)], machines[:1])


def test_a_front_says_which_point_is_the_cheapest():
    front = cocco.pareto(NETWORK, space=SPACE, samples=200)
    small, large = front.cheapest("1mJ/B"), front.cheapest("0.001pJ/B")
    assert small is front.found[0] and large is front.found[-1]
    assert front.to_json("1mJ/B")["cheapest"] == 0 and "cheapest" not in front.to_json()
