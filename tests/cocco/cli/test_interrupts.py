"""Ctrl-C from the first moment on: exit status 130 and at most one line, while modules are imported, too."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.helpers.command_line import ENVIRONMENT, ROOT

HERE = "import sys; print('here', flush=True); "
COMMAND = HERE + "from cocco.cli import main; sys.exit(main())"
MODULE = HERE + "import runpy; sys.argv[0] = '-m'; runpy.run_module({!r}, run_name='__main__', alter_sys=True)"
LINES = {
    "explore": (COMMAND, "explore", "nasnet"),
    "capacity": (COMMAND, "capacity", "nasnet", "layerwise"),
    "cocco.cli": (MODULE.format("cocco.cli"), "pareto", "nasnet"),
    "experiments": (MODULE.format("experiments"), "--quick"),
    "coexploration_shared": (MODULE.format("experiments.coexploration_shared"), "--quick"),
    "tables": (MODULE.format("experiments.tables"),),
    "networks": (COMMAND, "networks"),
}
#: what Python begins to import before any line of ours can hear Ctrl-C
FIRST = tuple(
    f'  File "{ROOT}/{name}.py"'
    for name in (
        *(f"{each}/__init__" for each in ("cocco", "cocco/cli", "experiments", "workloads")),
        "workloads/faces",
    )
)
FEW = (0.0, 0.02, 0.07, 0.15, 0.3)
MANY = tuple(step / 50 for step in range(1, 31))


def pressed(line: tuple[str, ...], seconds: float, folder) -> tuple[int, str]:
    """Press Ctrl-C so long after Python has begun; return the exit code and standard error."""
    with subprocess.Popen(
        [sys.executable, "-c", *line], cwd=folder, env=ENVIRONMENT | {"PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    return process.returncode, told


def check(line: tuple[str, ...], seconds: float, folder) -> None:
    """Check that it ends in a line. Before the first of our lines runs Python may show its own, none of ours."""
    code, told = pressed(line, seconds, folder)
    if "Traceback" in told:
        frames = [each for each in told.splitlines() if f'"{ROOT}/' in each and f'"{sys.prefix}/' not in each]
        assert not [each for each in frames if each.split(",")[0] not in FIRST or "in <module>" not in each], told
        return
    told = "".join(each for each in told.splitlines(keepends=True) if "about" not in each)  # what it would take
    if (code, told) != (0, ""):  # it was not done before
        assert code == 130 and told.count("\n") <= 1, (code, told)


@pytest.mark.parametrize("name", ["explore", "coexploration_shared", "tables"])
def test_ctrl_c_ends_a_command_in_a_line_from_the_first_moment(name, tmp_path):
    for seconds in FEW:
        check(LINES[name], seconds, tmp_path)


LATE = """
import atexit, os, signal, sys
press = lambda: os.kill(os.getpid(), signal.SIGINT)
class Module:
    def __del__(self): press()
{}
from cocco.cli import main
code = main()
{}
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("first", "last", "code"),
    [
        ("sys.last = Module()", "", 0),  # where Python has given up its handlers
        ("atexit.register(press)", "", 0),  # after all that we and what we import do at the end
        ("", "atexit.register(press)", 130),
        ("", "press()", 130),
    ],
)
def test_ctrl_c_after_the_answer_ends_in_a_line_or_unnoticed(first, last, code, tmp_path):
    line = [sys.executable, "-c", LATE.format(first, last), "networks", "--json"]
    ended = subprocess.run(line, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)
    assert json.loads(ended.stdout)["networks"], "the answer is there"
    assert (ended.returncode, ended.stderr) == (code, "cocco: stopped\n" if code else "")


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_ctrl_c_ends_every_command_in_a_line_at_any_moment(name, tmp_path):
    for seconds in MANY:
        check(LINES[name], seconds, tmp_path)


def test_a_command_line_run_by_a_program_leaves_its_ctrl_c_alone():
    before = signal.getsignal(signal.SIGINT)
    from cocco.cli import main

    assert main(["networks", "--json"]) == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_where_python_loses_it_it_comes_again():
    """In a listener of the garbage collector, or in a finalizer, what is raised is told and lost."""
    listen = """import gc, signal, sys, cocco.cli.line as line
presses = []
def listener(when, _):
    if not presses and sys.unraisablehook is not sys.__unraisablehook__:
        presses.append(when)
        signal.raise_signal(signal.SIGINT)
gc.callbacks.append(listener)
from cocco.cli import main
code = main()
print(presses)
sys.exit(code)"""
    done = subprocess.run(
        [sys.executable, "-c", listen, "explore", "resnet50", "--samples", "50000"], text=True, capture_output=True,
        env=ENVIRONMENT | {"PYTHONPATH": str(ROOT)}, timeout=120,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    assert done.returncode == 130 and "['start']" in done.stdout, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and "ignored" not in done.stderr, done.stderr
