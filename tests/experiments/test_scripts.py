"""All scripts: --list names each, and each is called by its own name, whichever folder holds it."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import experiments
from experiments import __main__ as every
from experiments.beyond import pareto
from experiments.sweep.points import key_of, name_of
from tests.helpers.command_line import ROOT
from tests.helpers.tiny_network import write_tiny

SCRIPTS = {
    path.stem: ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "experiments").rglob("*.py"))
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8") and path.stem != "__main__"
}  #: its own name: its full one


def run(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_list_has_every_script_with_its_question_and_what_it_takes(capsys: pytest.CaptureFixture[str]):
    assert every.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.removeprefix(" *").split()[0] for line in lines if line.startswith((" * ", "   "))]
    assert len(SCRIPTS) > 25 and sorted(listed) == sorted(SCRIPTS)
    assert [line.split()[1] for line in lines if line.startswith(" * ")] == [*every.SCRIPTS]
    (line,) = (line for line in lines if " allocation_time " in line)
    assert re.fullmatch(r"   allocation_time +4 s +7 min  How long .* \(TelaMalloc, Figures 12, 13\)", line)
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert [head.split()[0] for head in heads[2:]] == ["The", "Figures", "Our", "The"]


def test_a_list_computes_nothing_and_writes_nothing(tmp_path: Path):
    finished = run("-m", "experiments", "--list", "--quick", folder=tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "") and not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "full"), SCRIPTS.items())
def test_a_script_is_one_module_by_its_own_name_and_by_its_full_one(name: str, full: str):
    assert importlib.import_module(f"experiments.{name}") is importlib.import_module(full)
    assert getattr(experiments, name).__name__ == full


@pytest.mark.parametrize("first", ["experiments.pareto", "experiments.beyond.pareto"])
def test_whichever_name_comes_first_there_is_one_module(first: str):
    code = (
        f"import importlib; importlib.import_module({first!r})\n"
        "import experiments.pareto, experiments.beyond.pareto\n"
        "from experiments import pareto\n"
        "from experiments.pareto import front\n"
        "assert experiments.pareto is experiments.beyond.pareto is pareto and pareto.front is front\n"
        "assert importlib.reload(pareto).front is not front\n"
    )
    finished = run("-c", code)
    assert finished.returncode == 0, finished.stderr


def test_a_function_pickled_under_either_name_is_the_same():
    assert b"experiments.beyond.pareto" in pickle.dumps(pareto.front)
    assert pickle.loads(b"cexperiments.pareto\nfront\n.") is pickle.loads(pickle.dumps(pareto.front)) is pareto.front


def test_a_run_by_its_own_name_goes_on_by_its_full_one(tmp_path: Path):
    """What the processes of `python -m experiments.pareto` stored is found again by `run()`, under its full name."""
    network = write_tiny(tmp_path / "tiny.json")
    words = ["--networks", network, "--samples", "100", "--cores", "1", "2", "-o", "out"]
    first = run("-m", "experiments.pareto", *words, "--workers", "2", folder=tmp_path)
    assert first.returncode == 0, first.stderr
    points = sorted((tmp_path / "out" / "points").iterdir())
    stamps = [path.stat().st_mtime_ns for path in points]
    assert len(points) == 2
    for path in points:
        found = json.loads(path.read_text())
        assert found["run"] == name_of(pareto.front) == "experiments.beyond.pareto.front"
        assert path.stem == key_of(found["run"], found["point"])
    table = pareto.run(tmp_path / "out", networks=[network], samples=100, cores=[1, 2])
    assert sorted((tmp_path / "out" / "points").iterdir()) == points
    assert [path.stat().st_mtime_ns for path in points] == stamps
    assert (tmp_path / "out" / "pareto.csv").read_text() == table.to_csv(index=False, lineterminator="\n")


@pytest.mark.parametrize("name", ["paretto", "pareto.front", "common.pareto"])
def test_a_name_that_is_no_script_is_not_found(name: str):
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'experiments.{name}'"):
        importlib.import_module(f"experiments.{name}")
    finished = run("-m", f"experiments.{name}")
    assert finished.returncode == 1 and "Traceback" not in finished.stderr
