"""The command reference: a page for each command with all its options, from the parser itself."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from cocco.cli.options import parser as command_line
from cocco.cli.options.usage import Old, Parser

INTRODUCTION = """\
The ``cocco`` command
=====================

Every command with all its options, as ``cocco COMMAND --help-all`` says it too. ``--json`` makes a command print one
JSON object on standard output and nothing else there; messages go to standard error.

"""


def write(folder: Path) -> None:
    """Write index.rst and a page for each command."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the reStructuredText of every page by its name."""
    main, commands = parsers()
    table = "\n".join(f"   * - :doc:`{name}`\n     - {_prose(_purpose(each))}" for name, each in commands.items())
    names = "\n".join(f"   {name}" for name in commands)
    index = (
        f"{INTRODUCTION}.. list-table::\n   :widths: 1 4\n\n{table}\n\n{_prose(_ending(main))}\n\n"
        f".. toctree::\n   :hidden:\n\n{names}\n"
    )
    return {"index": index, **{name: _page(name, each) for name, each in commands.items()}}


def parsers() -> tuple[Parser, dict[str, Parser]]:
    """Return the parser of `cocco`, and that of each command by its name."""
    main = command_line.build()
    (choice,) = (action for action in main._actions if isinstance(action, argparse._SubParsersAction))
    return main, dict(choice.choices)


def _page(name: str, parser: Parser) -> str:
    title = f"cocco {name}"
    usage = "\n".join(f"   {line}" for line in [*_usage(parser), "", *parser.examples])
    groups = "\n".join(_group(group.title, group._group_actions) for group in parser._action_groups)
    return (
        f"{title}\n{'=' * len(title)}\n\n{_prose(parser.description or '')}\n\n.. code-block:: text\n\n{usage}\n\n"
        f".. program:: {title}\n\n{groups}\n{_prose(_ending(parser))}\n"
    )


def _group(title: str | None, actions: list[argparse.Action]) -> str:
    told = [action for action in actions if action.dest != "help"]
    if not told:
        return ""
    heading = {"positional arguments": "What it takes", "options": "Options"}.get(title or "", title or "Options")
    heading = heading[0].upper() + heading[1:]
    return f"{heading}\n{'-' * len(heading)}\n\n" + "\n".join(map(_option, told))


def _option(action: argparse.Action) -> str:
    """Return the entry of one option: how it is written, and what it says."""
    value = _value(action)
    forms = ", ".join(f"{form} {value}".strip() for form in action.option_strings) or value
    notes = ["required"] if action.required and action.option_strings else []
    notes += [f"default: {action.default}"] if _says_default(action) else []
    said = f"an earlier spelling of {action.instead}" if isinstance(action, Old) else action.help or ""
    text = _prose(". ".join(filter(None, [said, "; ".join(notes)])))
    return f".. option:: {forms}\n\n   {text}\n"


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    word = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest.upper())
    return {"?": f"[{word}]", "+": f"{word} [{word} ...]"}.get(str(action.nargs), word)


def _says_default(action: argparse.Action) -> bool:
    """Whether there is a default of which the help is silent."""
    silent = (None, False, argparse.SUPPRESS)
    return action.default not in silent and "default" not in (action.help or "") and bool(action.option_strings)


def _usage(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the usage in lines that do not hang on the width of a terminal."""
    words = re.findall(r"\[(?:[^\[\]]|\[[^\]]*\])*\]|\S+", " ".join(parser.format_usage().split())[len("usage: ") :])
    line = ""
    for word in words:
        if line and len(line) + len(word) >= 90:
            yield line
            line = "   "
        line = f"{line} {word}" if line else word
    yield line


def _purpose(parser: argparse.ArgumentParser) -> str:
    return (parser.description or "").split(". ")[0].rstrip(".") + "."


def _ending(parser: argparse.ArgumentParser) -> str:
    return re.sub(r"\bexit status:", "Exit status:", parser.epilog or "").rstrip(".") + "."


def _prose(text: str) -> str:
    """Return a help text as reStructuredText: options and commands as code, nothing else is markup."""
    text = re.sub(r"([*|_\\`])", r"\\\1", text % {} if "%%" in text else text)
    return re.sub(r"'(cocco [^']+)'|(?<![\w-])(--[a-z][a-z-]*)", lambda found: f"``{found[1] or found[2]}``", text)
