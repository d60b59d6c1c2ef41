"""Completion in shells: a script that completes commands, options, networks and files, made from the parser."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Any

from cocco.cli.options.usage import UsageError

SHELLS = ("bash", "zsh")
NETWORKS_FUNCTION = "_cocco_networks"  #: the shell function that completes what a NETWORK may be


class Completion(argparse.Action):
    """Prints the script of a shell and ends; build: makes the parser of all commands."""

    def __init__(self, *words: Any, build: Callable[[], argparse.ArgumentParser], **more: Any) -> None:
        super().__init__(*words, **more)
        self.build = build

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: Any = None) -> None:
        print(script(self.build(), shell))
        parser.exit()


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for all of a parser; raises UsageError where shtab, which writes it, is not installed."""
    try:
        shtab: Any = importlib.import_module("shtab")
    except ImportError:
        raise UsageError("--completion needs shtab: pip install 'cocco[completion]'") from None
    for command in _commands(parser):
        for action in command._actions:
            if (kind := _completes(action)) is not None:
                action.complete = getattr(shtab, kind, None) or {"bash": NETWORKS_FUNCTION, "zsh": NETWORKS_FUNCTION}  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell, root_prefix="cocco", preamble=_preamble())
    return text


def _commands(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    (choice,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return list(choice.choices.values())


def _completes(action: argparse.Action) -> str | None:
    """Return what completes a value, by the word that stands for it in --help; None where nothing does."""
    word = str(action.metavar or "")
    if "NETWORK" in word:
        return NETWORKS_FUNCTION
    if "FILE" in word or "PLAN" in word:
        return "FILE"
    return "DIRECTORY" if word == "DIR" else None


def _preamble() -> dict[str, str]:
    """Return the functions that complete a NETWORK: a built-in name or a file."""
    import workloads

    names = " ".join(workloads.names())
    return {
        "bash": f'{NETWORKS_FUNCTION}() {{ compgen -W "{names}" -- "$1"; compgen -f -- "$1"; }}\n',
        "zsh": f"{NETWORKS_FUNCTION}() {{ compadd {names}; _files; }}\n",
    }
