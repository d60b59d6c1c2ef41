"""cocco partition --metric latency: the executed latency, its bound, the plan file; explore refuses it."""

from __future__ import annotations

import pytest

from tests.helpers.command_line import answer, assert_malformed, cocco

pytestmark = pytest.mark.usefixtures("undrawn")

CHIP = ("--shared-buffer", "1MB")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans") / "plan.json"
    asked = ("partition", "vgg16", *CHIP, "--metric", "latency", "--samples", "500", "-o", path)
    return path, answer(cocco(*asked, "--json")), cocco(*asked)


def test_the_answer_has_executed_latency_and_its_bound(saved):
    _, found, printed = saved
    assert found["cost"] == found["totals"]["latency_executed_cycles"] >= found["lower_bound"]
    assert (found["metric"], found["bounded_by"]) == ("latency", "weights behind conv5_2")
    assert f"  latency         {found['cost']:,.0f} cycles\n" in printed.stdout
    assert f"  lower bound     {found['lower_bound']:,.0f} (weights behind conv5_2); the gap is " in printed.stdout


def test_the_plan_file_has_the_same_latency_to_the_byte(saved):
    path, found, _ = saved
    again = answer(cocco("evaluate", "vgg16", "--partition", path, "--json"))
    assert again["totals"] == found["totals"]


def test_explore_names_the_metric_that_is_a_sum():
    assert_malformed(cocco("explore", "vgg16", "--metric", "latency"), ["--metric", "latency", "latency-sum"])


def test_other_methods_are_refused():
    found = cocco("partition", "vgg16", *CHIP, "--metric", "latency", "--method", "ga")
    assert_malformed(found, ["method", "auto", "latency", "ga"])


def test_a_slack_takes_the_least_energy_near_the_fastest(saved):
    _, found, _ = saved
    asked = ("partition", "vgg16", *CHIP, "--metric", "latency", "--samples", "500", "--slack", "50%", "--json")
    slower = answer(cocco(*asked))
    assert slower["cost"] <= 1.5 * found["cost"]
    assert slower["totals"]["energy_pj"] < found["totals"]["energy_pj"]
    second = slower["second"]
    assert (second["criterion"], second["slack"], second["least_cost"]) == ("energy_pj", 0.5, found["cost"])
    assert second["lower_bound"] <= slower["totals"]["energy_pj"] and second["gained"] > 0


def test_all_that_is_prefetched_has_a_place(saved):
    path, found, printed = saved
    assert found["places"]["missing_bytes"] == 0 < found["places"]["rooms"]
    said = f"Every byte that is prefetched has a place: {found['places']['rooms']:,} rooms of at most 64 KB."
    assert said in " ".join(printed.stdout.split())
    again = answer(cocco("evaluate", "vgg16", "--partition", path, "--addresses", "--verify", "--json"))
    assert again["places"] == found["places"] and again["verified"]
    assert again["checks"]["latency_executed_cycles"]["status"] == "equal"
