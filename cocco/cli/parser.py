"""Reads a command line; its words are in cocco/cli/words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cocco.cli.usage import Parser, UsageError, Version


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
