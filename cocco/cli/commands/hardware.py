"""cocco hardware: every number of the hardware with unit and source, those of SRAM tables and kinds of DRAM too."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cocco.cli.options.hardware import hardware_of
from cocco.cli.options.options import add_json
from cocco.cli.options.output import print_answer
from cocco.cli.options.usage import Parser, UsageError
from cocco.output.text.plans.hardware import buffers_text, kinds_text, table_text, tables_text
from simulator.accelerator import Accelerator
from simulator.hardware_files import hardware_text
from simulator.memory.dram import DRAM_KINDS
from simulator.memory.reading import find_table, shipped
from simulator.memory.table import COLUMNS, SramTable


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "hardware",
        metavar="FILE|DIR",
        nargs="?",
        help="a hardware file, the folder of a run, or an SRAM table (.csv or name)",
    )
    parser.add_argument("--list", action="store_true", help="the SRAM tables that ship and the kinds of DRAM")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the list, a table, or hardware."""
    name = options.hardware
    if options.list:
        if name is not None:
            raise UsageError(f"--list not allowed with {name!r}: it lists what ships")
        print_answer(options, _list_json, lambda: f"{tables_text(_tables())}\n\n{kinds_text()}")
    elif name is not None and (name.lower().endswith(".csv") or name in shipped()):
        table = find_table(name)
        print_answer(options, lambda: _table_json(table), lambda: table_text(table))
    else:
        accelerator = hardware_of(name)
        print_answer(options, lambda: accelerator.to_json() | _buffers_json(accelerator), lambda: _text(accelerator))
    return 0


def _text(accelerator: Accelerator) -> str:
    """Return a hardware file; what follows from it stands behind it in comments."""
    follows = [f"# {line}".rstrip() for line in buffers_text(accelerator).splitlines()]
    return "\n".join([hardware_text(accelerator), *follows])


def _tables() -> list[SramTable]:
    return [find_table(name) for name in shipped()]


def _table_json(table: SramTable) -> dict[str, Any]:
    return {"name": table.name, "source": table.source, "rows": [dict(zip(COLUMNS, row)) for row in table.rows]}


def _list_json() -> dict[str, Any]:
    tables = [{"name": each.name, "capacities": each.capacities, "source": each.source} for each in _tables()]
    return {"tables": tables, "dram": {name: kind._asdict() for name, kind in DRAM_KINDS.items()}}


def _buffers_json(accelerator: Accelerator) -> dict[str, Any]:
    """Return what the buffers cost: of one core each, and of all cores together."""
    return {
        "memories": {name: row._asdict() for name, row in accelerator.memories.items()},
        "memory": accelerator.memory_json(),
        **({"chip": accelerator.chip_json()} if accelerator.technology.logic else {}),
    }
