"""The words of networks, show, evaluate and report."""

from __future__ import annotations

from typing import Any

from cocco.cli.words import handmade, shared


def add(commands: Any) -> None:
    """Enter the commands."""
    shared.add_json(
        shared.command(commands, "networks", "commands:networks", "list the built-in networks", sizes=False)
    )
    purpose = "list the layers of a network, or the numbers of the hardware"
    show = shared.command(commands, "show", "commands:show", purpose, sizes=False)
    show.add_argument("network", metavar="NETWORK", nargs="?", help=shared.NETWORK)
    shared.add_unsupported(show)
    handmade.add_show(show)
    shared.add_json(show)
    _add_evaluate(commands)


def add_report(commands: Any) -> None:
    """Enter the page about a run."""
    purpose = "write a page about what explore or pareto found, to look at in a browser"
    report = shared.command(commands, "report", "reporting:write_report", purpose)
    report.add_argument("folder", metavar="DIR", help="of explore -o or pareto -o; DIR/report.html is written")


def _add_evaluate(commands: Any) -> None:
    evaluate = shared.command(
        commands, "evaluate", "commands:evaluate_partition", "price a partition on given hardware",
        shared.DEFAULT_HARDWARE,
    )  # fmt: skip
    shared.add_network(evaluate)
    evaluate.add_argument(
        "--partition", required=True, metavar="FILE|layerwise",
        help=handmade.PARTITION,
    )  # fmt: skip
    shared.add_buffers(evaluate)
    shared.add_machine(evaluate)
    shared.add_mapper(evaluate)
    evaluate.add_argument("--verify", action="store_true", help="execute the partition tile by tile and compare")
    handmade.add_explain(evaluate)
    shared.add_addresses(evaluate)
    evaluate.add_argument("-o", "--output", metavar="FILE", help="write the regions of --addresses to this file (.csv)")
    shared.add_json(evaluate)
