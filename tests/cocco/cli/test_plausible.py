"""Hardware that nobody builds is noted, one line each, and priced; DRAM may be given for all cores."""

from __future__ import annotations

import json

import pytest

from cocco.cli.options.plausible import implausible
from simulator import Technology, load_accelerator
from tests.helpers.command_line import assert_malformed, cocco
from tests.helpers.parts import first_of


def file_of(tmp_path, text):
    path = tmp_path / "chip.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("technology", "words"),
    [
        ("clock_ghz: 800", "clock_ghz 800 is not from 0.01 to 10 GHz"),
        ("dram_pj_per_byte: 1.0e-11", "dram_pj_per_byte 1e-11 is not from 1 to 1000 pJ per byte"),
        ("pe_rows: 1000, pe_columns: 1000", "1,000,000 PEs in a core are more than 65,536"),
        ("dram_gb_per_s: 0.001", "dram_gb_per_s 0.001 is less than a byte per cycle and core"),
        ("pe_outputs: 32, pe_light_channels: 4", "pe_light_channels 4 keeps 4 of 32 output channels of a PE busy"),
        ("pe_outputs: 32", "pe_light_channels is not said: 16, half of pe_outputs 32"),
    ],
)
def test_implausible_hardware_is_noted_and_priced(tmp_path, technology, words):
    path = file_of(tmp_path, f"shared_buffer: 1MB\ntechnology: {{{technology}}}\n")
    finished = cocco("evaluate", "vgg16", "layerwise", "--hardware", path, "--json")
    assert finished.returncode == 0 and json.loads(finished.stdout)
    assert [line for line in finished.stderr.splitlines() if "cocco: note: " in line and words in line]
    assert "Traceback" not in finished.stderr


def test_the_hardware_of_the_paper_is_plausible(tmp_path):
    assert [*implausible(Technology())] == []
    path = file_of(tmp_path, "shared_buffer: 1MB\ntechnology: {pe_outputs: 32, pe_light_channels: 16, pe_inputs: 32}\n")
    assert "note" not in cocco("evaluate", "vgg16", "layerwise", "--hardware", path).stderr


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("technology: {dram_gb_per_s: 64}", 64),
        ("cores: 2\ntechnology: {dram_gb_per_s: 64}", 32),
        ("cores: 2\ntechnology: {dram_gb_per_s: 64, clock_ghz: 0.5}", 64),
        ("cores: 4\ntechnology: {dram_gb_per_s: 64, dram_bytes_per_cycle: 16}", 16),
        ("dram: lpddr5\ntechnology: {dram_gb_per_s: 25.6}", 25),
    ],
)
def test_dram_of_all_cores_is_divided_by_cores_and_clock(tmp_path, text, rate):
    path = file_of(tmp_path, f"shared_buffer: 1MB\n{text}\n")
    assert load_accelerator(path).technology.dram_bytes_per_cycle == rate


def test_cores_of_the_command_line_share_the_same_dram(tmp_path):
    path = file_of(tmp_path, "shared_buffer: 1MB\ntechnology: {dram_gb_per_s: 64}\n")
    assert load_accelerator(path, cores=4).technology.dram_bytes_per_cycle == 16
    found = json.loads(cocco("evaluate", "vgg16", "layerwise", "--hardware", path, "--cores", 4, "--json").stdout)
    assert found["accelerator"]["technology"]["dram_bytes_per_cycle"] == 16
    axis = cocco("explore", "vgg16", "--hardware", path, "--cores", "1,2", "--samples", 10)
    assert_malformed(axis, ["dram_gb_per_s", "dram_bytes_per_cycle"])


@pytest.mark.parametrize(
    ("technology", "words"),
    [
        ("dram_gb_per_s: 64, dram_bytes_per_cycle: 16", ("dram_gb_per_s is 64", "64 bytes per cycle", "is 16")),
        ("dram_gb_per_s: 0", ("dram_gb_per_s must be a number above 0", "0")),
        ("dram_gb_per_s: fast", ("dram_gb_per_s must be a number above 0", "fast")),
    ],
)
def test_dram_that_is_said_twice_must_agree(tmp_path, technology, words):
    path = file_of(tmp_path, f"shared_buffer: 1MB\ntechnology: {{{technology}}}\n")
    assert_malformed(cocco("evaluate", "vgg16", "layerwise", "--hardware", path), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--exchange", "500pJ/KB"), "1,024 times less than in the paper: buffer costs next to nothing"),
        (("--alpha", "0"), "the least memory that runs is the answer, whatever it takes there"),
        (("--exchange", "500nJ/B"), "1,000 times more than in the paper: off-chip traffic costs next to nothing"),
    ],
)
@pytest.mark.parametrize("name", first_of(["vgg16", "resnet50"], 1))
def test_an_exchange_far_from_the_paper_says_what_a_byte_is_worth(name, options, words):
    space = ("--range", "512KB:768KB:256KB", "--samples", "20", "--effort", "quick")
    assert words in " ".join(cocco("explore", name, *space, *options).stdout.split())
    assert "than in the paper" not in cocco("explore", name, *space).stdout
