"""The words of the command line, a file for each family of commands: options, and what --help says about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocco.cli.words import allocating, handmade, inspecting, searching, shared

__all__ = ["COMMANDS", "shared"]

COMMANDS: tuple[Callable[[Any], None], ...] = (
    inspecting.add,
    handmade.add,
    searching.add,
    inspecting.add_report,
    allocating.add,
)  #: each enters its commands, in the order of --help; a new family of commands is a file and a line here
