"""Searches whose answer are points by several criteria: a front, or the least of one criterion under limits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from cocco.cli.options.effort import say_expected
from cocco.cli.options.hardware import machine_of, space_of
from cocco.cli.options.networks import load
from cocco.cli.options.options import keep_of
from cocco.cli.options.output import check_folder, output_path
from cocco.cli.running.resume import Resumed
from cocco.cli.running.searches import Progress, Shown, about, run_search, settings_of
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
    space = space_of(options)
    networks = [load(name, options) for name in options.networks]
    folder = output_path(options.output)
    common = {
        name: getattr(options, name)
        for name in ("samples", "seed", "weights", "tile_rule", "engine", "threads", "count", "workers", "dask")
    }
    common |= {"keep": keep_of(options), "level": options.effort}
    settings = question | settings_of(options, networks, space, ("samples", *MACHINE, "tile_rule"))
    settings["keep"] = common["keep"]
    check_folder(options, folder, settings)

    def find(progress: Progress | None) -> Front | Limited:
        found: Front | Limited = search(networks, space=space, **common, **machine_of(options), progress=progress)
        return found

    def show(found: Front | Limited) -> Shown:
        content = to_json(found)

        def save(seconds: float, is_stopped: bool) -> Any:
            if folder is None or found.lacking:
                return []
            return front_folder.save(folder, found, about(options, settings, found, content, seconds), is_stopped)

        return Shown(content, lambda: text(found), save)

    say_expected(options, networks)
    return run_search(
        options, folder, front_folder.FILES, find, show, "{} points on the front",
        lambda: Resumed(options, folder, networks),
    )  # fmt: skip
