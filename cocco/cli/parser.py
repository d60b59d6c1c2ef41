"""Reads a command line; its words are in cocco/cli/words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn


class UsageError(ValueError):
    """A command line that contradicts itself or lacks something: the message names the option and the rule."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


class Version(argparse.Action):
    """Looks the version up only when it is asked for: that takes longer than parsing."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from cocco.run_folder import version

        print(f"cocco {version('cocco')}")
        parser.exit()


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line: `command` is its first word, `run` what runs it. Raises UsageError."""
    parser, known = _build()
    found = parser.parse_args(arguments)
    if found.command is None:
        names = f"{', '.join(known[:-1])} or {known[-1]}"
        raise UsageError(f"no command; name {names} ('cocco --help' says more)")
    return found


def _build() -> tuple[Parser, list[str]]:
    from cocco.cli import words

    parser = Parser(
        prog="cocco", description="Which on-chip memory to build for your networks, and how to run them on it.",
        epilog=words.shared.EXIT, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for add in words.COMMANDS:
        add(commands)
    return parser, list(commands.choices)
