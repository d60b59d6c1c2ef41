"""--effort: one word for samples and the counted budgets of proofs, in all commands alike."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

import cocco
import workloads
from cocco.cli.options import parser
from cocco.cli.options.effort import expected_seconds
from cocco.effort.levels import LEVELS
from cocco.exploration import methods
from tests.helpers.command_line import answer, assert_malformed
from tests.helpers.command_line import cocco as run
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain
from tests.helpers.tiny_network import write_tiny

SPACE = cocco.SharedBuffer(1024, 4096, 512)


def test_normal_is_the_default_to_the_byte(tmp_path: Path):
    write_tiny(tmp_path / "tiny.json")
    words = ("explore", "tiny.json", "--range", "64KB:128KB:32KB", "--json")
    plain, normal = run(*words, folder=tmp_path), run(*words, "--effort", "normal", folder=tmp_path)
    assert plain.stdout == normal.stdout and plain.stderr.count("\n") == normal.stderr.count("\n") == 1
    assert "about" not in plain.stderr


def test_the_word_says_its_seconds(tmp_path: Path):
    write_tiny(tmp_path / "tiny.json")
    told = run("partition", "tiny.json", "--effort", "quick", "--json", folder=tmp_path)
    assert answer(told) and told.stderr.startswith("cocco: quick effort, 10,000 samples: about 3 s of one core")


@pytest.mark.parametrize("command", ["partition", "explore", "pareto"])
def test_samples_are_those_of_the_word_unless_said(command):
    for name, level in LEVELS.items():
        assert parser.parse([command, "vgg16", "--effort", name]).samples == level.samples
        assert parser.parse([command, "vgg16", "--effort", name, "--samples", "7"]).samples == 7
    assert parser.parse([command, "vgg16"]).samples == 50_000


@pytest.mark.parametrize(
    "words", [["schedule", "vgg16", "--scratchpad", "half"], ["map", "vgg16"], ["allocate", "a.csv", "--capacity", "9"]]
)
def test_every_command_with_a_budget_has_it(words):
    assert parser.parse([*words, "--effort", "thorough"]).effort == "thorough"
    assert_malformed(run(*words, "--effort", "huge"), ["--effort", "huge", "quick", "thorough"])


def test_budgets_of_proofs_grow_with_the_word(monkeypatch):
    asked = []

    def prove(problem, best, engine, per_memory, in_total):
        asked.append((per_memory, in_total))
        return methods.Proof(best, 0.0, False, 0)

    monkeypatch.setattr(methods, "prove", prove)
    for word in LEVELS:
        cocco.explore(chain(4), space=SPACE, keep="none", effort=word, samples=60)
    steps, total = methods.PLAIN_AGAIN * methods.PLAIN_STEPS, 4 * methods.PLAIN_PER_LAYER  # of four layers
    assert asked == [(steps // 8, total // 8), (steps, total), (8 * steps, 8 * total)]


def test_a_word_in_place_of_an_effort():
    assert cocco.Effort.of("normal") == cocco.Effort()
    with pytest.raises(ValueError, match="effort must be one of quick, normal, thorough, got 'huge'"):
        cocco.explore(chain(4), space=SPACE, effort="huge")


@pytest.mark.parametrize(("word", "samples"), first_of([("quick", 10_000), ("normal", 50_000)], 1))
def test_a_word_takes_as_many_samples_as_it_says(word, samples):
    assert cocco.Effort.of(word).samples == samples
    asked: tuple[dict[str, Any], ...] = ({"effort": word}, {"samples": samples})
    first, second = (cocco.explore(chain(4), space=SPACE, method="ga", **each).samples for each in asked)
    assert first == second


def test_seconds_grow_with_work():
    """Within a quarter of the seconds that were measured (cocco/cli/options/effort.py)."""
    for name, seconds in (("googlenet", (15.5, 54.5)), ("randwire_a", (45.2, 105.3)), ("nasnet", (114.5, 294.1))):
        network = workloads.load(name)
        for (word, level), measured in zip(LEVELS.items(), seconds):
            said = expected_seconds(Namespace(effort=word, samples=level.samples), [network])
            assert 0.75 * measured < said < 1.25 * measured, (name, word)
    nasnet = expected_seconds(Namespace(effort="normal", samples=10_000), [network])
    assert expected_seconds(Namespace(effort="thorough", samples=10_000), [workloads.load("nasnet")]) > 4 * nasnet / 2
