"""Searches whose answer are points by several criteria: a front, or the least of one criterion under limits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from cocco.cli.options.output import check_folder
from cocco.cli.running.plans import bank_of
from cocco.cli.running.searches import Progress, ShownAnswer, asked_of
from cocco.exploration.answers.front import Front
from cocco.exploration.answers.limited import Limited
from cocco.output.folders.written import front as front_folder
from simulator.hardware_files import MACHINE


def search_front(
    options: Namespace,
    question: dict[str, Any],
    search: Callable[..., Any],
    text: Callable[[Any], str],
    to_json: Callable[[Any], dict[str, Any]],
) -> int:
    """Ask the search; question: what it is already bound to, kept in result.json; text: of its answer, for people."""
    asked = asked_of(options)
    settings = question | asked.settings(("samples", *MACHINE, "tile_rule"))
    check_folder(options, asked.folder, settings)

    def find(progress: Progress | None) -> Front | Limited:
        found: Front | Limited = search(asked.networks, **asked.common, bank=bank_of(options), progress=progress)
        return found

    def show(found: Front | Limited) -> ShownAnswer:
        def save(seconds: float, is_stopped: bool) -> Any:
            if asked.folder is None or found.lacking:
                return []
            about = asked.about(settings, found, to_json(found), seconds)
            return front_folder.save(asked.folder, found, about, is_stopped)

        return ShownAnswer(lambda: to_json(found), lambda: text(found), save)

    return asked.search(front_folder.FILES, find, show, "{} points on the front")
