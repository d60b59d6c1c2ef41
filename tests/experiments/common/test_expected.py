"""What an estimate grows with: networks by their layers, samples in part, cores, and what repeats a search."""

from __future__ import annotations

import re

import pytest

from experiments.beyond import kept_tensors
from experiments.common import command, expected
from experiments.common.searches import FOUR
from experiments.paper import alpha_sweep

FULL = {"networks": FOUR, "samples": 50_000, "alphas": (0.001, 0.002)}


def test_a_search_takes_longer_than_its_samples_alone():
    """A twenty-fifth of the samples takes far more than a twenty-fifth: bounds and attempts at proofs stay."""
    few = expected.share(FULL, {"samples": 2_000})
    assert 0.25 < few < 0.9 and expected.share(FULL, {"samples": 500_000}) > 3
    assert expected.share(FULL, {"samples": 2_000}, keeps=True) > few


def test_large_networks_count_for_more_than_small_ones():
    parts = [expected.share(FULL, {"networks": [name]}) for name in FOUR]
    assert sum(parts) == pytest.approx(1.0)
    assert parts[FOUR.index("nasnet")] > 4 * parts[FOUR.index("googlenet")]


@pytest.mark.parametrize(
    ("chosen", "times"),
    [
        ({"alphas": [0.001]}, 0.5),
        ({"batch": [1, 8]}, 2.0),
        ({"cores": [1, 4]}, 1 + expected.SEVERAL),
        ({"cores": [2, 4, 8]}, 3 * expected.SEVERAL),
        ({"buffers": ["shared"], "seeds": 3}, 3.0),
        ({}, 1.0),
    ],
)
def test_what_repeats_a_search_multiplies(chosen: dict[str, object], times: float):
    assert expected.share(FULL, chosen) == pytest.approx(times)


def test_an_aimed_run_says_that_its_seconds_were_not_measured():
    """Two alphas and two numbers of cores of two networks take 59 s; 2 s were said, by the samples alone."""
    aimed = {"networks": ["vgg16", "googlenet"], "alphas": [0.001, 0.01], "samples": 2_000, "cores": [1, 4]}
    given = {"quick": False, "workers": 1, "dask": None}
    said = command.estimate(command.seconds_of(alpha_sweep.EXPERIMENT, given | aimed), given | aimed)
    assert "less where proofs end early" in said
    (seconds,) = re.findall(r"about (\d+) s", said)
    assert 59 / 3 <= int(seconds) <= 59 * 3
    own = command.estimate(command.seconds_of(kept_tensors.EXPERIMENT, given), given)
    assert own == "about 8 min on 1 worker; with --quick 6 s on 1 worker"
