"""The command line that the scripts share: the estimate, the files, one line for what is malformed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from experiments.common import command
from tests.helpers import sweep_script
from tests.helpers.command_line import ROOT, in_this_process

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def run(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tests" / "helpers" / "sweep_script.py"), *map(str, words)]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)


def test_script_writes_its_table_its_picture_and_where_they_come_from(tmp_path: Path):
    finished = run(tmp_path, "--seed", 10, "--points", 3)
    assert finished.returncode == 0, finished.stderr
    names = [f"results/squares/squares{suffix}" for suffix in (".csv", ".json", ".png", ".svg")]
    assert finished.stdout.splitlines() == names
    assert finished.stderr == "squares: about 4 min on 1 worker; with --quick 1 s on 1 worker\n"
    with open(tmp_path / names[0], newline="") as file:
        assert [row["square"] for row in csv.DictReader(file)] == ["100", "121", "144"]
    about = json.loads((tmp_path / names[1]).read_text())
    assert about["command"] == "python -m experiments.squares --seed 10 --points 3"
    assert (about["seed"], about["settings"]["points"], about["rows"]) == (10, 3, 3)
    assert {"python", "numpy", "deap", "cocco", "pandas", "code"} <= about["versions"].keys()
    assert (tmp_path / names[2]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--workers", 0), "--workers"),
        (("--seed", "x"), "--seed"),
        (("-o", ""), "the directory is empty"),
        (("--fast",), "--fast"),
        (("-o", "taken"), "taken: cannot be used"),
        (("--dask", "nowhere"), "dask"),
    ],
)
def test_malformed_command_line_is_one_line_and_exit_2(tmp_path: Path, words: tuple[object, ...], said: str):
    (tmp_path / "taken").write_text("")
    finished = in_this_process(partial(command.main, sweep_script.EXPERIMENT), *words, folder=tmp_path)
    assert (finished.returncode, finished.stdout) == (2, "")
    last = finished.stderr.splitlines()[-1]
    assert last.startswith("squares: error: ") and said in last
    assert len(finished.stderr.splitlines()) <= 2 and "Traceback" not in finished.stderr


def test_full_disk_leaves_the_files_of_the_run_before_together(tmp_path: Path, monkeypatch, capsys):
    """The picture of the second run finds no room: its table is not there either, and nothing half."""
    words = ["-o", str(tmp_path / "squares"), "--points", "2"]
    assert command.main(sweep_script.EXPERIMENT, words) == 0

    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (tmp_path / "squares").iterdir() if path.is_file()}

    before = files()
    capsys.readouterr()

    def full(folder: Path, name: str, figure: object) -> None:
        (folder / f".{name}.png.half.tmp").write_text("half of")
        raise OSError(28, "No space left on device", str(folder / f"{name}.png"))

    monkeypatch.setattr(command, "save_picture", full)
    assert command.main(sweep_script.EXPERIMENT, [*words, "--seed", "7"]) == 2
    said = capsys.readouterr().err.splitlines()[1:]
    assert said == [f"squares: error: [Errno 28] No space left on device: '{tmp_path / 'squares'}'"]
    assert files() == before
    assert sorted(path.name for path in (tmp_path / "squares").iterdir()) == sorted([*before, "points"])
