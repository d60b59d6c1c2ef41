"""The words of compare and capacity, and what evaluate and show say about partitions and hardware written by hand."""

from __future__ import annotations

from typing import Any

from cocco.cli.usage import Parser
from cocco.cli.words import shared

PARTITION = "a partition file (.json, .yaml; docs/partitions.md), or 'layerwise': every layer alone"


def add(commands: Any) -> None:
    """Enter the commands."""
    purpose = "show partitions of a network side by side"
    compare = shared.command(commands, "compare", "comparing:compare_partitions", purpose, shared.DEFAULT_HARDWARE)
    shared.add_network(compare)
    compare.add_argument("partitions", metavar="FILE|layerwise", nargs="+", help=PARTITION)
    shared.add_buffers(compare)
    shared.add_machine(compare)
    shared.add_json(compare)
    purpose = "find the least memory on which a partition runs"
    capacity = shared.command(commands, "capacity", "comparing:find_capacity", purpose, sizes=False)
    shared.add_network(capacity)
    capacity.add_argument("partition", metavar="FILE|layerwise", help=PARTITION)
    shared.add_machine(capacity)
    shared.add_json(capacity)


def add_explain(parser: Parser) -> None:
    """Add what evaluate says beyond the price."""
    parser.add_argument(
        "--explain", action="store_true",
        help="of each subgraph that does not fit, and of the dearest five: which tensors take the bytes, the best "
        "split, and the capacity that would do",
    )  # fmt: skip
    parser.add_argument(
        "--trace", metavar="FILE",
        help="write when what runs, crosses to DRAM and is held, for ui.perfetto.dev or chrome://tracing (.json)",
    )  # fmt: skip


def add_show(parser: Parser) -> None:
    """Add the hardware to show."""
    parser.add_argument(
        "--hardware", metavar="FILE", nargs="?", const="",
        help="every number of the hardware with its unit and source: that of FILE, or the default; the output is such "
        "a file",
    )  # fmt: skip
