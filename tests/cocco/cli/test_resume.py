"""A search that was killed anywhere goes on to the same bytes; a changed question is refused in one line."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from cocco.cli import main
from cocco.effort.work_units import Steps, once, precompute, taken_by
from cocco.exploration import answer as kept
from cocco.output.folders.written import resume, run
from cocco.output.folders.written.resume import RunStore
from cocco.problem.problem import on_hardware
from cocco.search.genetic import engine
from simulator import Accelerator, Partition
from tests.helpers.command_line import COMMAND, ENVIRONMENT, assert_malformed, cocco, cocco_process
from tests.helpers.search_graphs import chain

pytestmark = pytest.mark.usefixtures("undrawn")

ASKED = ("explore", "vgg16", "--shared", "--range", "512KB:1024KB:256KB", "--metric", "ema", "--alpha", "0.05")
KINDS = {
    "none": (*ASKED, "--samples", "2000", "--keep", "none"),
    "auto": (*ASKED, "--samples", "1200"),
    "cores": (*ASKED, "--samples", "400", "--cores", "1", "2", "--keep", "none"),
    "limits": (*ASKED[:5], "--samples", "400", "--minimize", "capacity", "--limit", "ema=145000000"),
    "front": ("pareto", *ASKED[1:5], "--samples", "3000", "--keep", "none"),
    "kept front": ("pareto", *ASKED[1:5], "--samples", "1200"),
}


class Killed(BaseException):
    """As SIGKILL: nothing catches it."""


@pytest.fixture
def eager(monkeypatch):
    """Write the state after every generation, and let no proof over all layers finish."""
    monkeypatch.setattr(resume, "STATE_SECONDS", 0.0)
    monkeypatch.setattr(resume, "STATE_SHARE", 0)
    monkeypatch.setattr(engine, "CALL", 1)
    monkeypatch.setattr(kept, "KEPT_STEPS", 64)
    monkeypatch.setattr(run, "PICTURES", ())


def answer_of(folder: Path) -> dict[str, Any]:
    """Return every file of a run but what is of the clock and of the command line."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".png", ".svg"):
            text = path.read_text()
            found[path.relative_to(folder).as_posix()] = _timeless(text) if path.name == "result.json" else text
    return found


def steps_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / ".resume").iterdir()}


def _timeless(text: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(text)
    if "results" in content:
        return {name: each for name, each in content.items() if name not in ("command", "seconds")}
    return content | {"command": "", "seconds": 0}


@contextmanager
def killed_after(tells: float) -> Iterator[list[float]]:
    """Kill the search when it has told so many stages and generations; gives how many are left."""
    left = [tells]

    def told(*_: object, **__: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    with patch("cocco.cli.running.progress.StageView.told", told):
        with patch("cocco.cli.running.progress.StageView.samples", told):
            yield left


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind in ("cores", "limits", "kept front"))) for kind in KINDS],
)
def test_a_killed_search_goes_on_to_the_same_bytes(kind, eager, tmp_path: Path):
    """Killed at several places in turn, after a quarter, a third and a half of all that a search tells."""
    words = KINDS[kind]
    with killed_after(1e9) as left:
        whole = cocco(*words, "-o", "whole", "--json", "--progress", folder=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert not (tmp_path / "whole" / ".resume").exists()
    told = int(1e9 - left[0])
    assert told > 4
    for tells in (told // 4, told // 3, told // 2):
        with killed_after(tells), pytest.raises(Killed):
            main([*words, "-o", str(tmp_path / "run"), "--progress", *["--resume"] * (tells > told // 4)])
    assert (tmp_path / "run" / ".resume").exists()
    last = cocco(*words, "-o", "run", "--json", "--resume", folder=tmp_path)
    assert last.stdout == whole.stdout and last.returncode == 0
    assert answer_of(tmp_path / "run") == answer_of(tmp_path / "whole")
    assert not (tmp_path / "run" / ".resume").exists()


def test_what_was_done_is_not_done_again(eager, tmp_path: Path):
    """Killed after some twenty generations: these are not bred again."""
    words = [*KINDS["none"], "--samples", "4000", "-o", str(tmp_path / "run"), "--progress"]
    with killed_after(25), pytest.raises(Killed):
        main(words)
    generations = []
    with patch("cocco.search.genetic.engine.FastEngine.evolve", autospec=True) as bred:
        bred.side_effect = lambda _, seed, generation, *rest: generations.append(generation) or 1 / 0
        cocco(*words, "--resume")
    assert generations and generations[0] > 10


def test_fronts_are_not_bred_again(eager, tmp_path: Path):
    words = [*KINDS["front"], "-o", str(tmp_path / "run"), "--progress"]
    with killed_after(16), pytest.raises(Killed):
        main(words)
    generations = []
    with patch("cocco.search.genetic.engine.FastEngine.breed", autospec=True) as bred:
        bred.side_effect = lambda _, seed, generation, *rest: generations.append(generation) or 1 / 0
        cocco(*words, "--resume")
    assert generations and generations[0] > 5


def test_a_changed_question_is_refused(eager, tmp_path: Path):
    words = [*KINDS["none"], "-o", str(tmp_path / "run")]
    with killed_after(9), pytest.raises(Killed):
        main([*words, "--progress"])
    before = steps_in(tmp_path / "run")
    refused = cocco(*words[:-2], "-o", tmp_path / "run", "--resume", "--seed", 7)
    assert_malformed(refused, ["cannot be resumed", "seed 0, this one 7", "leave --resume out"])
    other = ["explore", "resnet50", *words[2:]]
    assert_malformed(cocco(*other, "--resume"), ["cannot be resumed", "networks"])
    assert steps_in(tmp_path / "run") == before
    assert cocco(*words, "--resume").returncode == 0


def test_other_code_is_refused(eager, tmp_path: Path, monkeypatch):
    words = [*KINDS["none"], "-o", str(tmp_path / "run")]
    with killed_after(9), pytest.raises(Killed):
        main([*words, "--progress"])
    monkeypatch.setattr(resume, "code_version", lambda: "0")
    assert_malformed(cocco(*words, "--resume"), ["cannot be resumed", "code", "leave --resume out"])


def test_without_a_folder_or_a_search_it_says_so(tmp_path: Path):
    assert_malformed(cocco(*KINDS["none"], "--resume"), ["--resume needs -o"])
    told = cocco(*KINDS["none"][:-4], "--keep", "none", "--samples", 100, "-o", tmp_path / "new", "--resume")
    assert told.returncode == 0 and "no search to resume" in told.stderr


def test_a_search_without_resume_starts_anew(eager, tmp_path: Path):
    words = [*KINDS["none"], "-o", str(tmp_path / "run")]
    with killed_after(9), pytest.raises(Killed):
        main([*words, "--progress"])
    marker = tmp_path / "run" / ".resume" / "mark"
    marker.write_text("")
    with killed_after(20), pytest.raises(Killed):
        main([*words, "--progress", "--seed", "3"])
    assert not marker.exists() and (tmp_path / "run" / ".resume").exists()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.0, 4.0, 9.0])
@pytest.mark.parametrize(
    "words",
    [
        ("explore", "googlenet", "--keep", "none", "--samples", "60000"),
        ("explore", "nasnet", "--samples", "600"),
        ("pareto", "googlenet", "--keep", "none", "--samples", "60000"),
    ],
)
def test_sigkill_of_a_process(words, seconds, tmp_path: Path):
    whole = cocco_process(*words, "-o", tmp_path / "whole", "--json")
    arguments = [*COMMAND, *words, "-o", str(tmp_path / "run"), "--json"]
    with subprocess.Popen(arguments, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    last = cocco_process(*words, "-o", tmp_path / "run", "--json", "--resume")
    assert last.stdout == whole.stdout
    assert answer_of(tmp_path / "run") == answer_of(tmp_path / "whole")


def test_a_half_written_line_is_no_step(tmp_path: Path):
    store = RunStore(tmp_path, {"seed": 1})
    store.keep("a", [1, 0.1])
    store.keep("b", float("inf"))
    path = tmp_path / ".resume" / "steps.jsonl"
    path.write_bytes(path.read_bytes()[:-4])
    again = RunStore(tmp_path, {"seed": 1})
    assert again.take_up() and again.find("a") == ([1, 0.1],) and again.find("b") is None
    again.keep("c", None)
    last = RunStore(tmp_path, {"seed": 1})
    assert last.take_up() and (last.find("a"), last.find("c")) == (([1, 0.1],), (None,))


def test_a_damaged_state_is_one_line(tmp_path: Path):
    store = RunStore(tmp_path, {})
    store.keep_state("a", {"x": 1}, {"y": np.arange(3)})
    plain, arrays = store.state("a") or ({}, {})
    assert plain == {"x": 1} and arrays["y"].tolist() == [0, 1, 2]
    (tmp_path / ".resume" / "a.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is damaged; remove"):
        store.state("a")


def test_a_full_disk_does_not_end_the_search(tmp_path: Path):
    store = RunStore(tmp_path / "missing", {})
    store.keep("a", 1)
    assert store.find("a") == (1,) and not store.is_due()


def plans_of(problem: Any, count: int) -> tuple[Partition, ...]:
    CALLS.append(count)
    return tuple(Partition.layerwise(network) for network in problem.networks) * count


CALLS: list[int] = []


def test_a_step_is_computed_once(tmp_path: Path):
    problem = on_hardware(chain(4), Accelerator(shared_buffer=4096))
    CALLS.clear()
    with taken_by(Steps(RunStore(tmp_path, {}))):
        first = once(plans_of, problem, 2)
    store = RunStore(tmp_path, {})
    assert store.take_up()
    with taken_by(Steps(store)):
        assert once(plans_of, problem, 2) == first
        once(plans_of, problem, 3)
    once(plans_of, problem, 2)
    assert CALLS == [2, 3, 2]


def test_steps_computed_beforehand_are_the_same_steps():
    problem = on_hardware(chain(4), Accelerator(shared_buffer=4096))
    CALLS.clear()

    def jobs(function: Any, asked: Any) -> list[Any]:
        CALLS.append(-len(asked))
        return [function(*each) for each in asked]

    with taken_by(Steps(None, jobs, 2)):
        precompute(plans_of, ((problem, count) for count in (1, 2, 3)))
        assert [len(once(plans_of, problem, count)) for count in (1, 2, 3)] == [1, 2, 3]
    assert CALLS == [-2, 1, 2, 3]
