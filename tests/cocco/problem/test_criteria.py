"""The table of criteria: each has what every user of it reads, and numbers come back from the unit for people."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import fields

import pytest

from cocco.cli.options.values import Clocked, limit
from cocco.problem.criteria import CRITERIA, MEMORY, METRICS
from simulator import Evaluation
from simulator.model import cost


def test_a_metric_is_a_field_of_evaluation_and_a_formula_of_the_simulator():
    names = {field.name for field in fields(Evaluation)} | set(vars(Evaluation))
    assert {CRITERIA[name].column for name in METRICS} <= names
    assert set(METRICS) == set(cost.METRICS) and not set(METRICS) & set(MEMORY)


def test_columns_tell_criteria_apart_and_end_in_their_unit():
    columns = [each.column for each in CRITERIA.values()]
    assert len(set(columns)) == len(columns)
    for each in CRITERIA.values():
        assert each.column.endswith(each.unit.lower().replace(" ", "_"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("energy=4.5mJ", ("energy", 4.5e9)),
        ("energy=4.5 pJ", ("energy", 4.5)),
        ("energy=7uJ", ("energy", 7e6)),
        ("energy=7\u00b5J", ("energy", 7e6)),
        ("energy=2J", ("energy", 2e12)),
        ("latency=2000000", ("latency", 2e6)),
        ("latency=7cycles", ("latency", 7.0)),
        ("area=1.2mm2", ("area", 1.2)),
        ("bandwidth=8", ("bandwidth", 8.0)),
        ("capacity=1MB", ("capacity", 2.0**20)),
        ("leakage=50mW", ("leakage", 50.0)),
    ],
)
def test_a_limit_may_be_given_in_the_units_of_its_criterion(text: str, expected: tuple[str, float]):
    assert limit(text) == expected


@pytest.mark.parametrize(
    ("text", "known"),
    [("energy=1kJ", "pJ, nJ, uJ, mJ, J"), ("latency=1J", "cycles, s, ms, us, ns, fps"), ("bandwidth=1GB", "GB/s")],
)
def test_another_unit_is_refused_with_those_that_are_known(text: str, known: str):
    with pytest.raises(ArgumentTypeError, match=f"known units are {known};"):
        limit(text)


def test_the_unit_for_people_is_the_unit_of_the_model_scaled():
    """1 mJ is 10^9 pJ, 1 KB is 1024 bytes."""
    assert CRITERIA["energy"].units["mJ"] == 1e9 and CRITERIA["energy"].units["uJ"] == 1e6
    assert CRITERIA["capacity"].units["KB"] == 1024


def test_times_and_rates_become_cycles_and_bytes_of_the_clock():
    """4 ms at 0.5 GHz are 2 million cycles; 8 GB/s are 16 bytes in each of them."""
    (_, time), (_, rate) = limit("latency=4ms"), limit("bandwidth=8GB/s")
    assert (time.at(0.5), rate.at(0.5)) == (2e6, 16.0)
    assert limit("latency=250us")[1].at(0.5) == 125_000.0  # type: ignore[attr-defined]
    assert isinstance(time, Clocked) and not isinstance(limit("latency=4000000")[1], Clocked)


@pytest.mark.parametrize(("batch", "clock", "cycles"), [(1, 1.0, 4e7), (8, 1.0, 3.2e8), (8, 0.5, 1.6e8)])
def test_frames_a_second_are_samples_of_a_batch(batch: int, clock: float, cycles: float):
    """25 samples a second are 40 ms for each, and eight times as long for a batch of eight."""
    _, rate = limit("latency=25fps")
    assert isinstance(rate, Clocked) and rate.at(clock, batch) == cycles
