"""cocco pareto, cocco explore with limits and --compare: JSON, files, exit codes, malformed input."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from cocco.cli import main
from tests.helpers.command_line import answer, assert_malformed, cocco, write_json

pytestmark = pytest.mark.usefixtures("undrawn")

PARETO = ("pareto", "vgg16", "--samples", "300", "--range", "256KB:2048KB:256KB")
FILES = {"result.json", "pareto.csv", "samples.csv", "pareto.png", "pareto.svg", "partitions"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_pareto_writes_a_front_whose_partitions_evaluate_to_what_it_says(tmp_path: Path):
    content = answer(cocco(*PARETO, "-o", "found", "--json", folder=tmp_path))
    assert {path.name for path in (tmp_path / "found").iterdir()} == FILES
    front = rows(tmp_path / "found" / "pareto.csv")
    assert len(front) == len(content["front"]) > 3
    about = json.loads((tmp_path / "found" / "result.json").read_text())
    assert about["result"] == content and about["settings"]["objectives"] == ["capacity", "energy"]
    assert len(rows(tmp_path / "found" / "samples.csv")) <= 300
    for row, point in list(zip(front, content["front"]))[::4]:
        buffer = ("--shared-buffer", row["shared_buffer_bytes"])
        again = answer(
            cocco("evaluate", "vgg16", "--partition", f"found/{row['partition']}", *buffer, "--json", folder=tmp_path)
        )
        assert again["totals"]["energy_pj"] == point["energy_pj"] == float(row["energy_pj"])
        assert point["capacity_bytes"] == int(row["capacity_bytes"]) == int(row["shared_buffer_bytes"])


@pytest.mark.usefixtures("with_pictures")
def test_the_same_front_has_the_same_bytes_and_leaves_no_partition_of_a_longer_one(tmp_path: Path):
    stale = tmp_path / "a" / "partitions" / "99.json"
    stale.parent.mkdir(parents=True)
    write_json(stale, {})
    outputs = [cocco(*PARETO, "--json", "-o", tmp_path / name).stdout for name in ("a", "b")]
    assert outputs[0] == outputs[1] and not stale.exists()
    for name in ("pareto.csv", "samples.csv", "pareto.png", "pareto.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.slow
def test_pareto_of_two_networks_says_its_front_in_a_table():
    finished = cocco("pareto", "vgg16", "googlenet", "--samples", 200, "--objectives", "area,latency", "--separate")
    assert finished.returncode == 0, finished.stderr
    assert "none better in all of them" in finished.stdout and "latency-sum (million" in finished.stdout
    assert "200 samples in" in finished.stderr


def test_the_least_capacity_under_a_latency(tmp_path: Path):
    arguments = ("explore", "vgg16", "--range", "256KB:1MB:64KB", "--samples", 400, "--minimize", "capacity")
    content = answer(cocco(*arguments, "--limit", "latency-sum=24000000", "-o", tmp_path / "out", "--json"))
    assert content["latency_cycles"] == content["totals"]["latency_cycles"] <= 24e6
    assert content["capacity_bytes"] == content["shared_buffer_bytes"] == content["lower_bound"]
    assert (content["status"], content["limits"]) == ("optimal", {"latency_cycles": 24e6})
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert os.listdir(tmp_path / "out" / "partitions") == ["1.json"]


def test_the_least_capacity_under_a_latency_that_is_executed(tmp_path: Path):
    arguments = ("explore", "vgg16", "--range", "512KB:1MB:512KB", "--samples", 40, "--minimize", "capacity")
    content = answer(cocco(*arguments, "--limit", "latency=24ms", "-o", tmp_path / "out", "--json"))
    assert content["latency_executed_cycles"] == content["totals"]["latency_executed_cycles"] <= 24e6
    assert content["limits"] == {"latency_executed_cycles": 24e6}
    assert content["lower_bound"] <= content["capacity_bytes"] == content["shared_buffer_bytes"]
    again = answer(cocco("evaluate", tmp_path / "out", "--json"))
    assert again["totals"] == content["totals"]


def test_units_of_limits_are_understood():
    common = (
        "explore",
        "vgg16",
        "--range",
        "512KB:1MB:256KB",
        "--samples",
        60,
        "--minimize",
        "ema",
        "--json",
        "--limit",
    )
    limits = answer(cocco(*common, "energy=30mJ", "--limit", "capacity=1MB", "--limit", "area=1.5mm2"))["limits"]
    assert limits == {"energy_pj": 30e9, "capacity_bytes": 2**20, "area_mm2": 1.5}


def test_limits_that_nothing_keeps_are_an_answer_with_the_nearest():
    arguments = ("explore", "vgg16", "--range", "1MB:2MB:512KB", "--samples", 100, "--minimize", "energy")
    arguments += ("--limit", "latency-sum=1000")
    content = answer(cocco(*arguments, "--json"), 1)
    assert content["status"] == "infeasible" and content["nearest"]["latency_cycles"] > 1000
    finished = cocco(*arguments)
    assert finished.returncode == 1
    assert "No memory keeps latency-sum at most 1 us, proved" in finished.stdout


@pytest.mark.slow
def test_compare_says_what_each_network_pays_and_changes_no_other_key():
    arguments = ("explore", "vgg16", "googlenet", "--samples", 60, "--method", "ga", "--json")
    plain, compared = answer(cocco(*arguments)), answer(cocco(*arguments, "--compare"))
    paid = compared.pop("compromise")
    assert compared == plain
    assert [each["network"] for each in paid] == ["vgg16", "googlenet"]
    for each in paid:
        assert each["paid"] == each["common"]["cost"] - each["alone"]["cost"] >= 0
    assert "What each pays" in cocco(*arguments[:-1], "--compare").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pareto",), ["NETWORK"]),
        ((*PARETO, "--objectives", "capacity"), ["objectives", "two or more", "capacity"]),
        ((*PARETO, "--objectives", ""), ["objectives", "two or more"]),
        ((*PARETO, "--objectives", "energy,energy"), ["objectives", "'energy' twice"]),
        ((*PARETO, "--objectives", "energy,speed"), ["objectives", "'speed'", "latency-sum"]),
        ((*PARETO, "--objectives", "area,capacity"), ["objectives", "partition decides", "area, capacity"]),
        ((*PARETO, "--objectives", "ema,energy", "--method", "exact"), ["exact", "capacity or area", "ema, energy"]),
        ((*PARETO, "--method", "ga"), ["--method", "'ga'", "nsga2"]),
        ((*PARETO, "--weights", "0"), ["weights", "above 0"]),
        ((*PARETO, "-o", ""), ["-o", "empty"]),
        ((*PARETO, "-o", "/proc/none"), ["/proc/none", "cannot be written"]),
        (("explore", "vgg16", "--minimize", "energy"), ["--minimize", "--limit"]),
        (("explore", "vgg16", "--limit", "capacity=1MB"), ["--limit", "--minimize"]),
        (("explore", "vgg16", "--minimize", "speed", "--limit", "capacity=1MB"), ["minimize", "'speed'"]),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "speed=3"), ["limits", "'speed'"]),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "capacity"), ["--limit", "WHAT=MOST", "'capacity'"]),
        (
            ("explore", "vgg16", "--minimize", "ema", "--limit", "capacity=1.5"),
            ["whole number of bytes", "1.5"],
        ),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "capacity=-1MB"), ["--limit", "-1MB"]),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "latency=-5"), ["latency", "above 0", "-5"]),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "latency=nan"), ["--limit", "nan"]),
        (("explore", "vgg16", "--minimize", "ema", "--limit", "energy=3kWh"), ["energy", "mJ", "3kWh"]),
        (
            ("explore", "vgg16", "--minimize", "ema", "--limit", "latency=5", "--limit", "latency=6"),
            ["--limit latency", "twice"],
        ),
        (
            ("explore", "vgg16", "--minimize", "ema", "--limit", "latency=5", "--alpha", "1"),
            ["--alpha", "--minimize"],
        ),
        (("explore", "vgg16", "--compare"), ["--compare", "two networks"]),
    ],
)
def test_malformed_command_lines(arguments, words, capsys):
    """In this process: each of a process of its own would take a second."""
    code = main(list(arguments))
    assert_malformed(subprocess.CompletedProcess(arguments, code, *capsys.readouterr()), words)


def test_a_malformed_command_line_in_a_process_of_its_own():
    assert_malformed(cocco(*PARETO, "--objectives", "energy,energy"), ["objectives", "'energy' twice"])


def test_exchange_says_alpha_in_other_words_and_names_a_point_of_a_front():
    space = ("--range", "512KB:1024KB:256KB", "--samples", "200", "--json")
    plain, said = (answer(cocco("explore", "vgg16", *space, *more)) for more in ((), ("--exchange", "500pJ/B")))
    assert plain == said and said["alpha"] == 0.002 and said["exchange"]["per_byte"] == 500.0
    assert said["ranges"]["sizes"][0]["shared_buffer_bytes"] == 2**19
    front = answer(cocco("pareto", "vgg16", *space, "--exchange", "1mJ/B"))
    assert front["cheapest"] == 0 and front["exchange"] == "1mJ/B"
    text = cocco("pareto", "vgg16", *space[:-1], "--exchange", "1mJ/B").stdout
    assert "Where buffer is worth 1mJ/B, the cheapest of them is a shared buffer of 512 KB" in text


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("explore", "vgg16", "--exchange", "500"), "exchange must be a number of pJ, nJ, uJ, mJ, J for one of B"),
        (("explore", "vgg16", "--exchange", "5pJ/B", "--alpha", "0.1"), "not allowed with"),
        (("explore", "vgg16", "--exchange", "5pJ/B", "--minimize", "energy", "--limit", "area=1mm2"), "take the place"),
        (("pareto", "vgg16", "--exchange", "5pJ/B", "--objectives", "capacity,ema"), "exchange must be a number of B"),
    ],
)
def test_exchange_that_means_nothing_is_refused(words: tuple[str, ...], rule: str):
    assert_malformed(cocco(*words), [rule])
