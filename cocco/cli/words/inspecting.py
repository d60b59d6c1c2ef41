"""The words of networks, show, evaluate and report."""

from __future__ import annotations

from typing import Any

from cocco.cli.words import shared


def add(commands: Any) -> None:
    """Enter the commands."""
    shared.add_json(
        shared.command(commands, "networks", "commands:networks", "list the built-in networks", sizes=False)
    )
    show = shared.command(commands, "show", "commands:show", "list the layers of a network", sizes=False)
    shared.add_network(show)
    shared.add_json(show)
    _add_evaluate(commands)


def add_report(commands: Any) -> None:
    """Enter the page about a run."""
    purpose = "write a page about what explore found, to look at in a browser"
    report = shared.command(commands, "report", "reporting:write_report", purpose)
    report.add_argument("folder", metavar="DIR", help="that 'cocco explore -o DIR' wrote; DIR/report.html is written")


def _add_evaluate(commands: Any) -> None:
    evaluate = shared.command(
        commands, "evaluate", "commands:evaluate_partition", "price a partition on given hardware",
        shared.DEFAULT_HARDWARE,
    )  # fmt: skip
    shared.add_network(evaluate)
    evaluate.add_argument(
        "--partition", required=True, metavar="FILE|layerwise",
        help="a partition file (.json, .yaml), or 'layerwise': every layer alone",
    )  # fmt: skip
    shared.add_buffers(evaluate)
    shared.add_machine(evaluate)
    evaluate.add_argument(
        "--mapper", choices=("enumerate", "tiled", "cosa"), default="enumerate",
        help="how layers run on the PE array. enumerate: the closed form of whole layers (default); tiled: of each "
        "update, with its reads; cosa: CoSA's program for each update (extra 'solvers')",
    )  # fmt: skip
    evaluate.add_argument("--verify", action="store_true", help="execute the partition tile by tile and compare")
    shared.add_addresses(evaluate)
    evaluate.add_argument("-o", "--output", metavar="FILE", help="write the regions of --addresses to this file (.csv)")
    shared.add_json(evaluate)
