"""What is said of the sizes around a recommendation, by hand: one buffer, two, open ones, another metric."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.exploration.answers.ranges import Candidate, Ranges, Terms
from cocco.output.folders.read.parts import ranges_of
from cocco.output.folders.read.reading import Reader
from cocco.output.text.searches.ranges import decides, ends, ranges_text, within_sentence
from simulator import KiB
from workloads.errors import FileFormatError


def sized(kb: int, bound: float, cost: float | None = None, terms: Terms | None = None) -> Candidate:
    return Candidate((("shared_buffer_bytes", kb * KiB),), bound, kb / 1024, 0.0, cost, cost, terms)


LOW = sized(64, 100.5, 100.5, Terms(4e9, 1e9, 0.0, 1e9))
BEST = sized(128, 100.0, 100.0, Terms(3e9, 2e9, 0.0, 1e9))
HIGH = sized(192, 102.0, 102.0, Terms(2.5e9, 2e9, 1e9, 1e9))
FOUND = Ranges(100.0, (LOW, BEST, HIGH, sized(256, 110.0, 111.0)))


def test_sizes_of_one_buffer():
    assert within_sentence(FOUND) == (
        "Sizes that cost at most 1 % more: 64 KB to 128 KB; at most 3 % more: 64 KB to 192 KB. "
        "All others cost more, proved."
    )


def test_open_sizes_are_said_to_be_open():
    found = replace(FOUND, candidates=(sized(32, 99.0), *FOUND.candidates))
    said = within_sentence(found)
    assert "none is ruled out: 32 KB." in said and "The other 1 cost more than 3 % more, proved." in said


def test_two_buffers_are_counted():
    pairs = tuple(
        Candidate((("global_buffer_bytes", first * KiB), ("weight_buffer_bytes", 64 * KiB)), 100.0, 1.0, 0.0, 100.0)
        for first in (64, 128)
    )
    said = within_sentence(Ranges(100.0, pairs, 7))
    assert "2 of 9 pairs, a global buffer of 64 KB to 128 KB with a weight buffer of 64 KB" in said


def test_what_decides_is_the_difference_from_end_to_end():
    """128 KB more at 1000 pJ each are 0.131 mJ; DRAM 1.5 less, leakage 1 more, SRAM 1 more."""
    assert ends(FOUND) == [LOW, BEST, HIGH]
    assert [(name, round(change / 1e9, 3)) for name, change in decides(FOUND, 1000.0)] == [
        ("dram", -1.5), ("sram", 1.0), ("leakage", 1.0), ("buffer", 0.131), ("compute", 0.0),
    ]  # fmt: skip


@pytest.mark.parametrize("metric", ["energy", "ema"])
def test_an_answer_says_all_of_it(metric):
    space = cocco.SharedBuffer(512 * KiB, 1280 * KiB, 256 * KiB)
    alpha = 0.002 if metric == "energy" else 0.05
    result = cocco.explore(workloads.load("vgg16"), space=space, samples=300, metric=metric, alpha=alpha, cores=2)
    said = ranges_text(result)
    assert said.startswith("Sizes that cost at most 1 % more: ") and "+0.00 %" in said
    assert ("those of the buffers of all 2 cores; the cost counts the bytes of one" in said) == (metric == "energy")


def test_a_result_reads_back_what_it_says(tmp_path):
    content = {"ranges": FOUND.to_json()}
    assert ranges_of(Reader(tmp_path, content)) == FOUND
    assert ranges_of(Reader(tmp_path, {})) is None


@pytest.mark.parametrize(
    "edit",
    [
        lambda ranges: ranges.pop("cost"),
        lambda ranges: ranges["margins"].pop(),
        lambda ranges: ranges["sizes"].clear(),
        lambda ranges: ranges["sizes"][0].pop("shared_buffer_bytes"),
        lambda ranges: ranges["sizes"][0].update(weight_buffer_bytes=8),
        lambda ranges: ranges["sizes"][0].update(bound="low"),
        lambda ranges: ranges["sizes"][0].pop("sram_pj"),
        lambda ranges: ranges["margins"][1].pop("open"),
    ],
)
def test_a_result_that_was_changed_is_refused_in_one_line(tmp_path, edit):
    content = {"ranges": FOUND.to_json()}
    edit(content["ranges"])
    with pytest.raises(FileFormatError) as refusal:
        ranges_of(Reader(tmp_path, content))
    assert "\n" not in str(refusal.value)
