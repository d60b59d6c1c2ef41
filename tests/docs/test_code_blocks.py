"""Every block of code of the README and of the pages in docs/ is run, or at least read by what would run it."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import cocco
import workloads
from cocco.cli import main
from cocco.cli.options import parser
from cocco.search.kernel.choice import has_kernel
from docs.command_pages import parsers
from simulator import load_accelerator
from simulator.mapping import read_architecture
from tests.helpers.code_blocks import PAGES, Block, agrees, blocks, console_commands, indented, shell_commands
from tests.helpers.command_line import ROOT, in_this_process

pytestmark = pytest.mark.usefixtures("undrawn")

EXAMPLES = ROOT / "docs" / "examples"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
DOCTESTS = [block for block in blocks("python") if ">>>" in block.text]
SCRIPTS = [block for block in blocks("python") if ">>>" not in block.text]
MOST_SAMPLES = 30  #: of a search in a script that is only shown to run


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of, and with the installed command."""
    folder = tmp_path / "docs" / "examples"
    shutil.copytree(EXAMPLES, folder)
    command = tmp_path / "bin" / "cocco"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cocco.cli "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return folder


def test_every_block_has_a_language_that_is_tried():
    """`text` is for people: no program reads it. A directive of Sphinx is tried by the build."""
    tried = {"python", "console", "shell", "yaml", "text"}
    assert [
        str(block) for block in blocks() if block.language not in tried and not block.language.startswith("{")
    ] == []


def test_no_command_hides_in_a_block_without_a_language():
    starts = ("cocco ", "python ", "$ ", ">>> ", "import ")
    assert [line for page in PAGES for line in indented(page) if line.strip().startswith(starts)] == []


@pytest.mark.parametrize("page", sorted({block.page for block in DOCTESTS}))
def test_the_python_examples_of_a_page_run(page: str, examples: Path):
    """One after the other: a later block knows what an earlier one has imported."""
    text = "\n".join(block.text for block in DOCTESTS if block.page == page)
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed
    assert not failed, "".join(said)


@pytest.mark.parametrize("block", SCRIPTS, ids=str)
def test_a_script_of_a_page_runs(block: Block, tmp_path: Path):
    """Its first line says how: `# python NAME.py OPTIONS`. With fewer samples: what it finds is not looked at."""
    first = block.text.splitlines()[0].split()
    assert first[:2] == ["#", "python"]
    (tmp_path / first[2]).write_text(with_fewer_samples(block.text))
    compile(block.text, first[2], "exec")
    if "import torch" in block.text and find_spec("torch") is None:
        pytest.skip("torch is not installed: the script is only compiled")
    finished = subprocess.run(
        [sys.executable, *first[2:]],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr


def with_fewer_samples(text: str) -> str:
    """Return a script whose searches take no more than MOST_SAMPLES, of a smaller network in few memories."""
    few = "cocco.SharedBuffer(2**20, 2**21, 2**19)"
    text = text.replace('"resnet50"', '"vgg16"').replace("cocco.SharedBuffer()", few)
    text = text.replace('load("vgg16"), **point', f'load("vgg16"), space={few}, **point')
    return re.sub(r'(\bsamples"?[=:] ?)(\d+)', lambda found: f"{found[1]}{min(int(found[2]), MOST_SAMPLES)}", text)


def untimed(text: str) -> str:
    """Return a message without the seconds that it took."""
    return re.sub(r"\d+\.\d+ s\b", "... s", text)


def commands_of_pages() -> dict[str, list[Block]]:
    """Return each command that pages show, with all blocks that say what it prints."""
    found: dict[str, list[Block]] = {}
    for block in console_commands():
        found.setdefault(block.text.splitlines()[0].replace(".venv/bin/", ""), []).append(block)
    return found


@pytest.mark.parametrize(("command", "shown"), commands_of_pages().items(), ids=list(commands_of_pages()))
def test_a_command_prints_what_the_pages_say(command: str, shown: list[Block], examples: Path):
    """Standard output is compared; of standard error only the lines that a page has, but for the seconds."""
    if command.startswith("cocco explore") and not has_kernel():
        pytest.skip("the compiled engine is not built: a search takes minutes")
    words = shlex.split(command)
    if words[0] == "cocco" and not {*"|&;<>*$"} & {*command}:
        finished = in_this_process(main, *words[1:], folder=examples)
    else:
        finished = subprocess.run(
            command, shell=True, cwd=examples, capture_output=True, text=True, timeout=120, check=False
        )
    assert finished.returncode in (0, 1), finished.stderr
    for block in shown:
        expected = block.text.splitlines()[1:]
        notes = [line for line in expected if line.startswith("cocco: ")]
        assert [line for line in notes if untimed(line) not in untimed(finished.stderr).splitlines()] == [], block
        said = "\n".join(line for line in expected if line not in notes)
        assert agrees(finished.stdout, said), (str(block), finished.stdout)


def test_the_shell_commands_of_the_pages_are_read_by_the_real_parser():
    """They are not run: `cocco` by its parser, a module by its name. What is only mentioned has known options."""
    seen = set()
    for place, words in shell_commands():
        if words[0] == "cocco" and not words[1].startswith("-"):
            if len(words) > 2 and not words[2].startswith("-"):
                seen.add(parser.parse(words[1:]).command)
            options = parsers()[1][words[1]]._option_string_actions
            assert [word for word in words if word.startswith("-") and word not in options] == [], place
        elif words[:2] == ["python", "-m"]:
            assert find_spec(words[2]) is not None, place
    assert len(seen) >= 9


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_a_yaml_block_is_a_file_of_the_examples(block: Block):
    assert block.text in [path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.yaml")]


def test_every_file_of_the_examples_is_shown_and_can_be_read():
    shown = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in EXAMPLES.iterdir() if path.name not in shown] == []
    network = workloads.load("resnet50")
    assert load_accelerator(EXAMPLES / "banks.yaml").leakage_mw > 0
    chip = load_accelerator(EXAMPLES / "chip.yaml")
    for name in ("blocks.yaml", "deep.yaml", "mine.json"):
        assert cocco.load_partition(EXAMPLES / name, network, chip).subgraphs
    assert read_architecture(EXAMPLES / "machine.yaml").macs == 8
