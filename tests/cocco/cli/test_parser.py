"""The parser: every command is in it with its options, and a command line imports what its command needs."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from cocco.cli.commands import __path__ as folders
from cocco.cli.options.parser import COMMANDS, build, parse
from cocco.cli.options.usage import MOST_USED, SHOWN, Parser, UsageError
from tests.helpers.command_line import ROOT

HEAVY = {"asyncio", "deap", "joblib", "matplotlib", "networkx", "numpy", "ortools", "pandas", "scipy", "tqdm"}
TABLE = "id,lower,upper,size\na,0,3,4\nb,2,5,4\n"
LOADED = """
import sys
from cocco.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def loaded(*words: object) -> set[str]:
    """Return the modules that a command line has imported when it is answered."""
    command = [sys.executable, "-c", LOADED, *map(str, words)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return set(finished.stderr.splitlines()[-1].split())


def subparsers(parser: Parser) -> dict[str, Parser]:
    (action,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return dict(action.choices)


def test_every_command_is_a_file_and_every_file_a_command():
    files = {path.stem for path in Path(folders[0]).glob("*.py")} - {"__init__"}
    assert files == set(COMMANDS) == set(subparsers(build()))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_whole_parser_has_the_options_of_each_command(name: str):
    """`build` fills all of them, `parse` only the one that is asked for; both say the same."""
    command = import_module(f"cocco.cli.commands.{name}")
    alone = Parser()
    command.add_options(alone)
    options = subparsers(build())[name]._option_string_actions
    assert options.keys() == alone._option_string_actions.keys()
    assert all(action.help for action in options.values())


def test_a_command_named_as_a_value_is_no_other_command():
    assert parse(["show", "map"]).command == "show"
    assert parse(["allocate", "show", "--capacity", "12"]).file == "show"


def test_a_line_without_command_names_them_all():
    with pytest.raises(UsageError, match="no command; name networks, show, .* schedule or map"):
        parse([])


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("nonsense",), ()])
def test_what_no_command_answers_imports_no_command(words: tuple[str, ...]):
    found = loaded(*words) - {"workloads", "workloads.faces"}
    assert not HEAVY & found
    assert not [name for name in found if name.startswith(("cocco.cli.commands.", "simulator", "workloads"))]


@pytest.mark.parametrize(
    ("line", "needed"),
    [("networks", ""), ("show vgg16", ""), ("evaluate vgg16 layerwise", ""), ("explore vgg16 --samples 50", "numpy")],
)
def test_a_command_without_tables_and_pictures_imports_no_library_for_them(line: str, needed: str):
    assert HEAVY & loaded(*line.split()) == {*needed.split()}


def test_allocate_imports_neither_tables_nor_pictures_nor_searches(tmp_path: Path):
    (tmp_path / "a.csv").write_text(TABLE)
    found = loaded("allocate", tmp_path / "a.csv", "--capacity", 8)
    assert HEAVY & found == {"numpy"}
    rooms = ("cocco.exploration", "cocco.search", "cocco.bounds", "cocco.plans", "cocco.scheduling", "cocco.mapping")
    assert not [name for name in found if name.startswith(rooms)]


def test_the_file_that_saves_pictures_does_not_draw():
    code = "import cocco.output.pictures.saving, sys; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("words", "channels"),
    [
        (["--verify", "vgg16"], "two"),
        (["vgg16", "--verify"], "two"),
        (["vgg16", "--verify", "full"], "full"),
        (["vgg16", "--verify", "c"], "c"),
    ],
)
def test_verify_takes_the_words_full_and_c_and_no_network(words, channels):
    found = parse(["evaluate", "--partition", "layerwise", *words])
    assert (found.network, found.verify) == ("vgg16", channels)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_two_examples_and_has_the_most_used_options(name: str):
    """What is required is among them; --help-all has every option, each once, under a heading."""
    command = subparsers(build())[name]
    short, whole = command.format_help(), command.format_help(is_whole=True)
    for example in COMMANDS[name].examples:
        assert f"  {example}\n" in short and short.index(example) < 600
        words = shlex.split(example)
        assert words[1] == name and parse(words[1:]).command == name
    told = {
        max(action.option_strings, key=len): action
        for action in command._actions
        if action.option_strings and action.dest != "help" and action.help != argparse.SUPPRESS
    }
    shown = [option for option in told if re.search(rf"^  (-o \S+, )?{option}\b(?!-)", short, re.MULTILINE)]
    assert len(shown) == min(SHOWN, len(told)) and {o for o, action in told.items() if action.required} <= {*shown}
    for option in told:
        assert len(re.findall(rf"^  (?:-o \S+, )?{option}\b(?!-)", whole, re.MULTILINE)) == 1, option
    assert (f"{len(told)} options" in short) == (len(told) > SHOWN)


def test_help_fits_a_screen_and_every_most_used_option_is_one_of_some_command():
    commands = subparsers(build())
    known = {option for each in commands.values() for option in each._option_string_actions}
    assert {*MOST_USED} <= known
    assert all(len(each.format_help().splitlines()) <= 70 for each in commands.values())
