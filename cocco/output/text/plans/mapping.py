"""What cocco map prints for people: the loop nest of each layer, and a table of the costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cocco.output.text.layout.numbers import percent, table
from simulator.units import ENERGY

if TYPE_CHECKING:
    from cocco.mapping.listed import Mapped
    from simulator.mapping import LayerShape


def mapping_text(found: Sequence[Mapped], totals: dict[str, Any]) -> str:
    """Return the loop nests and a table of the costs; totals: as in `rows_to_json`."""
    costs = [each.result.cost.energy_pj for each in found if each.result is not None and each.result.cost is not None]
    unit = ENERGY.unit(*costs, totals["energy_pj"] or 0.0)
    blocks = []
    rows: list[tuple[object, ...]] = []
    for each in found:
        result = each.result
        if result is None or result.cost is None or result.mapping is None:
            if result is None:
                blocks.append(f"{each.row.name}: error: {each.error}")
            status = "error" if result is None else result.status
            rows.append((each.row.name, each.row.times, status, "", "", "", ""))
            continue
        blocks.append(
            f"{each.row.name}: {_shape_text(each.row.shape)}\n{_indented(result.mapping.to_text(result.names))}"
        )
        cost = result.cost
        ratio, busy = cost.cycles / cost.bound_cycles, percent(cost.utilization, 1)
        numbers = (f"{cost.cycles:,.0f}", f"{ratio:.3f}", busy, unit.number(cost.energy_pj))
        rows.append((each.row.name, each.row.times, f"{result.status} {result.proof}".rstrip(), *numbers))
    heads = ("layer", "count", "status", "cycles", "/ bound", "MACs busy", unit.name)
    if totals["bound_cycles"]:
        rows.append((
            "all", totals["layers"], "", f"{totals['cycles']:,.0f}", f"{totals['cycles'] / totals['bound_cycles']:.3f}",
            percent(totals["utilization"], 1), unit.number(totals["energy_pj"]),
        ))  # fmt: skip
    return "\n\n".join([*blocks, table(heads, rows)])


def _shape_text(shape: LayerShape | None) -> str:
    assert shape is not None
    extents = " ".join(f"{d}{getattr(shape, d.lower())}" for d in "RSPQCKN")
    stride = "" if shape.stride == (1, 1) else f" stride {shape.stride[0]}x{shape.stride[1]}"
    return extents + stride + (f" groups {shape.groups}" if shape.groups > 1 else "")


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.split("\n"))
