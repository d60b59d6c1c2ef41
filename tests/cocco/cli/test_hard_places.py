"""Where files are no files, disks are full, folders are shared and numbers have no end: one line, and nothing hangs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cocco.cli import main
from tests.helpers.command_line import COMMAND, ENVIRONMENT, assert_malformed, cocco
from tests.helpers.parts import first_of
from tests.helpers.tiny_network import write_tiny

pytestmark = pytest.mark.usefixtures("undrawn")

LARGE = 10**400
EVALUATE = ("evaluate", "vgg16", "--partition")


def run_inside(*words: object) -> int:
    """Return the exit code of a command line in this process."""
    return main([str(word) for word in words])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("network.json", ("show", "{}")),
        ("network.onnx", ("show", "{}")),
        ("plan.json", (*EVALUATE, "{}")),
        ("plan.yaml", (*EVALUATE, "{}")),
        ("chip.yaml", (*EVALUATE, "layerwise", "--hardware", "{}")),
        ("buffers.csv", ("allocate", "{}", "--capacity", "1KB")),
        ("layers.csv", ("map", "{}")),
        ("machine.yaml", ("map", "vgg16", "--arch", "{}")),
        ("order.json", ("schedule", "vgg16", "--scratchpad", "half", "--order", "{}")),
        ("schedule.json", ("schedule", "vgg16", "--scratchpad", "half", "--check", "{}")),
    ],
)
def test_a_pipe_in_place_of_a_file_is_one_line(tmp_path: Path, name: str, words: tuple[str, ...]):
    os.mkfifo(tmp_path / name)
    finished = cocco(*(word.format(tmp_path / name) for word in words))
    assert_malformed(finished, [name, "cannot be read: it is no regular file"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of explore and one of pareto."""
    folder = tmp_path_factory.mktemp("runs")
    network = write_tiny(folder / "tiny.json")
    words = ("--shared", "--range", "64KB:256KB:64KB", "--samples", 60, "-o")
    for command in ("explore", "pareto"):
        assert run_inside(command, network, *words, folder / command) == 0
    return {command: folder / command for command in ("explore", "pareto")}


@pytest.mark.parametrize("name", ["result.json", "samples.csv", "history.csv"])
def test_a_pipe_in_a_run_folder_is_one_line(runs: dict[str, Path], tmp_path: Path, name: str):
    for path in runs["explore"].iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    assert_malformed(cocco("report", tmp_path), [name, "cannot be read: it is no regular file"])


def numbers(content: Any, replace: Callable[[Any], None] | None = None) -> Iterator[Callable[[Any], None]]:
    """Yield for each number in a JSON object what puts another value in its place."""
    if isinstance(content, (dict, list)):
        for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):

            def put(new: Any, content: Any = content, key: Any = key) -> None:
                content[key] = new

            yield from numbers(value, put)
    elif replace is not None and isinstance(content, (int, float)) and not isinstance(content, bool):
        yield replace


@pytest.mark.parametrize("size", first_of([LARGE, 10**300, -LARGE], 1), ids=["400 digits", "300 digits", "minus"])
@pytest.mark.parametrize("command", ["explore", "pareto"])
def test_a_number_without_end_in_a_report_is_one_line_or_a_page(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, size: int
):
    """Each number of the search in turn; those of the subgraphs are alike, so the first two stand for them."""
    text = (runs[command] / "result.json").read_text()
    for path in runs[command].iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "result.json").unlink()

    def trimmed() -> Any:
        content = json.loads(text)
        found = content["result"]
        if "subgraphs" in found:
            found["subgraphs"], found["totals"]["subgraphs"] = found["subgraphs"][:2], len(found["subgraphs"][:2])
        return content

    for i in range(len(list(numbers(trimmed())))):
        content = trimmed()
        list(numbers(content))[i](size)
        (tmp_path / "result.json").write_text(json.dumps(content))
        code, (out, err) = run_inside("report", tmp_path), capsys.readouterr()
        assert code in (0, 2) and (size == 10**300 or code == 2), i
        assert (out == "") == (code == 2) and err.count("\n") == (code == 2) and len(err) < 1000, (i, err)


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_whole_number_without_end_is_one_line_wherever_it_stands(tmp_path: Path, digits: int):
    (tmp_path / "chip.json").write_text('{"shared_buffer": 1%s}' % ("0" * digits))
    assert_malformed(cocco(*EVALUATE, "layerwise", "--hardware", tmp_path / "chip.json"), ["chip.json"])


def test_arithmetic_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def fail(_: object) -> int:
        raise OverflowError("int too large to convert to float")

    monkeypatch.setattr("cocco.cli.commands.networks.run", fail)
    assert run_inside("networks") == 2
    assert capsys.readouterr().err.startswith("cocco: error: a number of the input is too large for this program: int")


def limited() -> None:
    """Let no file of this process have more than 16 bytes, as if the disk was full then."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))


@pytest.mark.parametrize(
    ("words", "name"),
    first_of(
        [
            (("map", "{}/tiny.json", "-o", "{}/map.json"), "map.json"),
            (("evaluate", "{}/tiny.json", "--partition", "layerwise", "--trace", "{}/trace.json"), "trace.json"),
            (("partition", "{}/tiny.json", "--samples", "10", "-o", "{}/plan.json"), "plan.json"),
            (("explore", "{}/tiny.json", "--samples", "10", "-o", "{}/run"), "partition.json"),
            (("schedule", "{}/tiny.json", "--scratchpad", "peak", "--picture", "{}/memory.png"), "memory.png"),
        ],
        3,
    ),
)
def test_a_full_disk_names_the_file(tmp_path: Path, words: tuple[str, ...], name: str):
    write_tiny(tmp_path / "tiny.json")
    finished = subprocess.run(
        [*COMMAND, *(word.format(tmp_path) for word in words)], env=ENVIRONMENT | {"MPLCONFIGDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited,
    )  # fmt: skip
    assert finished.returncode == 2, finished.stderr
    assert finished.stderr.splitlines()[-1].endswith(f"{name}: cannot be written: File too large")
    assert "Traceback" not in finished.stderr and not list(tmp_path.rglob(".*.tmp"))


@pytest.mark.parametrize("words", ["networks", "--help", "report --help", "--version"])
def test_a_full_disk_below_standard_output_says_so(words: str):
    with open("/dev/full", "w") as full:
        finished = subprocess.run(
            [*COMMAND, *words.split()], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert finished.returncode == 2
    assert finished.stderr == "cocco: error: standard output: cannot be written: No space left on device\n"


def test_a_full_disk_below_standard_error_leaves_the_exit_code():
    with open("/dev/full", "w") as full:
        finished = subprocess.run([*COMMAND, "bogus"], env=ENVIRONMENT, stdout=full, stderr=full, check=False)
    assert finished.returncode == 2


UNDRAWN = """
import sys
from matplotlib.figure import Figure
from cocco.cli import main
Figure.savefig = lambda _, file, format, **__: file.write(f"a picture ({format})".encode())
sys.exit(main(sys.argv[1:]))
"""  #: a process that draws no pictures, which would take most of its time


@pytest.mark.parametrize("command", ["explore", pytest.param("pareto", marks=pytest.mark.slow)])
def test_three_searches_at_once_into_one_folder_all_succeed(tmp_path: Path, command: str):
    """All write the same names; what is there at the end is whole, and nothing temporary is left."""
    network = write_tiny(tmp_path / "tiny.json")
    words = [command, str(network), "--shared", "--range", "64KB:256KB:64KB", "--samples", "60"]
    started = [
        subprocess.Popen([sys.executable, "-c", UNDRAWN, *words, "--seed", str(seed), "-o", str(tmp_path / "run")],
                         env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for seed in range(3)
    ]  # fmt: skip
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert "result.json" in names and not any(name.startswith(".") for name in names)
    assert {name.rpartition(".")[2] for name in names} >= {"json", "csv", "png", "svg"}
