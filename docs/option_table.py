"""The table of all options over all commands, from the parser itself (docs/options.md).

`python -m docs.option_table` prints it; the documentation makes it at every build.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from docs.command_pages import parsers


def write(folder: Path) -> None:
    """Write options.md, the two tables."""
    folder.mkdir(exist_ok=True)
    (folder / "options.md").write_text(tables(), encoding="utf-8")


def options() -> dict[str, dict[str, argparse.Action]]:
    """Return of each option, by its longest spelling, what it is in each command that takes it."""
    found: dict[str, dict[str, argparse.Action]] = {}
    for command, parser in parsers()[1].items():
        for action in parser._actions:
            if action.option_strings and action.dest != "help" and action.help != argparse.SUPPRESS:
                found.setdefault(max(action.option_strings, key=len), {})[command] = action
    return found


def old_spellings() -> list[tuple[str, str, str]]:
    """Return command, earlier spelling and what it is now."""
    return [
        (command, word, action.instead)
        for command, parser in parsers()[1].items()
        for action in parser._actions
        if action.help == argparse.SUPPRESS and hasattr(action, "instead")
        for word in action.option_strings
    ]


def tables() -> str:
    """Return Markdown: options of several commands by command, then those of one, then earlier spellings."""
    found = options()
    shared = {name: where for name, where in found.items() if len(where) > 1}
    alone = {name: where for name, where in found.items() if len(where) == 1}
    commands = [name for name in parsers()[1] if any(name in where for where in shared.values())]
    lines = ["Options of several commands:", "", _line(["option", *commands]), _line(["---"] * (len(commands) + 1))]
    lines += [
        _line([_written(name, where), *("x" if command in where else "" for command in commands)])
        for name, where in sorted(shared.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    lines += ["", "Options of one command:", "", _line(["command", "options"]), _line(["---"] * 2)]
    lines += [_line([command, ", ".join(texts)]) for command, texts in _by_command(alone)]
    lines += ["", "Earlier spellings, which still work with a note:", "", _line(["command", "was", "is"])]
    lines += [_line(["---"] * 3), *(_line([command, f"`{was}`", now]) for command, was, now in old_spellings())]
    return "\n".join(lines) + "\n"


def _by_command(alone: Mapping[str, Mapping[str, argparse.Action]]) -> Iterator[tuple[str, list[str]]]:
    for command in parsers()[1]:
        texts = [_written(name, where) for name, where in sorted(alone.items()) if command in where]
        if texts:
            yield command, texts


def _written(name: str, where: Mapping[str, argparse.Action]) -> str:
    """Return an option with its short form; what follows it, the pages of the commands say."""
    short = [word for word in next(iter(where.values())).option_strings if word != name]
    return ", ".join(f"`{word}`" for word in [*short, name])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print(tables(), end="")
