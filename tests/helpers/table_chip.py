"""A machine whose buffers are those of a table that ships."""

from __future__ import annotations

from typing import Any

from simulator import Sram, Technology, find_table


def table_machine(name: str = "cacti7_22nm_hp", **fields: Any) -> dict[str, Any]:
    """Return the technology of a table, as a keyword."""
    sram = Sram(find_table(name), pipelined=True)
    return {"technology": Technology(activation_sram=sram, weight_sram=sram, **fields)}
