"""What a running search says, and Ctrl-C while it says it: real processes, real signals."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cocco.cli.running import progress
from cocco.cli.running.progress import Lines
from cocco.effort.stages import Stage
from tests.helpers.command_line import COMMAND, ENVIRONMENT, cocco
from tests.helpers.tiny_network import write_tiny

SMALL = ("tiny.json", "--shared", "--range", "64KB:128KB:32KB", "--samples", "60", "--json")
MANY = "100000000"


def pressed(arguments: list[str], stage: str, seconds: float = 0.0) -> tuple[int, str, str]:
    """Start a search, press Ctrl-C so long after it says this stage, return (exit code, stdout, stderr)."""
    with subprocess.Popen(
        [*COMMAND, *arguments, "--progress", "--json"], env=ENVIRONMENT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(f"cocco: {stage}"):
                break
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    return process.returncode, out, "".join(said) + err


def check(finished: tuple[int, str, str]) -> None:
    code, out, err = finished
    assert code == 130 and "Traceback" not in err, err
    content = json.loads(out)
    assert content["status"] in ("stopped", "feasible", "optimal") and content["lower_bound"] > 0
    assert 0 <= content["gap"] < 1 and content["partition"]


def test_ctrl_c_in_the_first_founder_leaves_what_it_built():
    check(pressed(["explore", "resnet152", "--keep", "none", "--samples", MANY], "founders"))


def test_ctrl_c_in_a_proof_leaves_the_best_so_far():
    check(pressed(["explore", "googlenet"], "proof"))


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("arguments", "stage"),
    [
        (["explore", "randwire_b", "--keep", "none", "--samples", "20000"], "founders"),
        (["explore", "googlenet", "--samples", MANY, "--keep", "none"], "search"),
        (["explore", "googlenet", "--keep", "none", "--method", "ga", "--samples", "200000"], "polish"),
        (["explore", "googlenet", "--keep", "none", "--method", "ga", "--samples", "200000"], "annealing"),
        (["explore", "googlenet", "--keep", "none", "--samples", "2000"], "proof"),
        (["explore", "nasnet", "--samples", "600"], "kept tensors"),
        (["explore", "nasnet", "--samples", "600"], "proof"),
        (["partition", "randwire_a", "--method", "dp", "--keep", "none", "--engine", "reference"], "start"),
        (["explore", "resnet50"], "other sizes"),
        (["explore", "randwire_a", "--method", "exact"], "proof"),
        (["partition", "randwire_a", "--samples", "5000"], "founders"),
    ],
)
def test_ctrl_c_at_several_moments(arguments, stage, seconds):
    check(pressed(arguments, stage, seconds))


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_ctrl_c_while_addresses_are_sought(seconds: float):
    """Which takes less than a second."""
    check(pressed(["explore", "googlenet", "--check-addresses"], "addresses", seconds))


def test_lines_only_where_they_are_asked_for(tmp_path: Path):
    """Standard output is the same; the last line, with its seconds, is always there."""
    write_tiny(tmp_path / "tiny.json")
    silent, told = (cocco("explore", *SMALL, *more, folder=tmp_path) for more in ((), ("--progress",)))
    assert silent.stdout == told.stdout and silent.stderr.count("\n") == 1
    lines = told.stderr.splitlines()
    assert len(lines) > 2 and all(line.startswith("cocco: ") for line in lines)
    assert any(line.startswith("cocco: proof") for line in lines)


def test_no_command_is_silent_for_long(monkeypatch, capsys):
    """Not requested, a line comes only where the last one is old: of the command, and of what it counts."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.05)
    with progress.alive("cocco", "map", False):
        time.sleep(0.3)
    assert not capsys.readouterr().err  # no terminal
    with progress.alive("cocco", "map", True):
        time.sleep(0.3)
        with progress.watched(7, "subgraphs") as counted:
            assert counted is not None
            counted(3, 7)
            time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3 and lines[0].startswith("cocco: map, ") and lines[-1].startswith("cocco: subgraphs 3 of 7, ")
    with progress.watched(7, "subgraphs") as counted:
        assert counted is None  # of a library nothing is said that nobody requested


def test_no_stage_is_silent():
    """A stage that does not get on says so again after a while, by its clock; one that runs does not say too much."""
    stream = io.StringIO()
    lines = Lines(100, "best {:.6g}", stream)
    lines.told(Stage("proof", 3, 46, "memories", 200.0, 150.0))
    assert stream.getvalue() == "cocco: proof 3 of 46 memories, best 200, gap 25.0 %, 0 s\n"
    for _ in range(10):
        lines.beat()
    assert stream.getvalue().count("\n") == 1
    lines.last -= 2
    lines.beat()
    lines.samples(10, 100, 190.0)
    assert stream.getvalue().splitlines()[1:] == [
        "cocco: proof 3 of 46 memories, best 200, gap 25.0 %, 0 s",
        "cocco: search 10 of 100 samples, best 190, gap 21.1 %, 0 s",
    ]


def test_the_best_of_a_part_is_no_number_of_points():
    """A front is searched in parts, each for the least of something: only its points are counted."""
    stream = io.StringIO()
    lines = Lines(100, "{} points on the front", stream)
    lines.told(Stage("least energy", best=518547.3125, bound=100.0, done=0, total=0))
    lines.samples(10, 100, 7)
    assert stream.getvalue().splitlines() == [
        "cocco: least energy, 0 s",
        "cocco: search 10 of 100 samples, 7 points on the front, 0 s",
    ]
