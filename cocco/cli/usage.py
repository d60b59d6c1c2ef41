"""A command line that contradicts itself: the parser that says so in one line."""

from __future__ import annotations

import argparse
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
        from cocco.output.folders.about import version

        print(f"cocco {version('cocco')}")
        parser.exit()
