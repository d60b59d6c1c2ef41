"""What verify() compared, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import table

if TYPE_CHECKING:
    from simulator.execution.count.checks import Check
    from simulator.execution.verification import Verification

IN_REGIONS = "in regions of the claimed sizes"
AT_ADDRESSES = "at these addresses, in one array of bytes for each memory"
WORST = 8  #: numbers of single subgraphs that are listed, those that are furthest off; our choice


def verification_text(found: Verification, where: str = IN_REGIONS) -> str:
    """Return what was compared and, where nothing is wrong, what was shown by executing it."""
    shown = f"\n\nVerified: executed tile by tile {where}, with the same output." if found.verified else ""
    return checks_text(found) + shown


def checks_text(found: Verification) -> str:
    """Return every number of the partition with its status, and the numbers of subgraphs that are furthest off."""
    totals = list(found.totals().values())
    apart = [each for each in found.checks if each.subgraph is not None and _is_listed(each)]
    worst = sorted(apart, key=lambda each: (each.status != "different", -abs(each.error)))
    text = table(("number", "claimed", "counted", ""), [_row(each) for each in totals], left=1)
    if worst:
        heads = ("subgraph", "number", "claimed", "counted", "")
        rows = [(each.subgraph, *_row(each)) for each in worst[:WORST]]
        more = f"; {len(worst) - WORST} more in --json" if len(worst) > WORST else ""
        text += f"\n\n{table(heads, rows, left=2)}\n  subgraphs in the order they run, furthest off first{more}"
    return text


def _is_listed(each: Check) -> bool:
    """Whether a number is off by itself: energy follows from bytes, and is listed only where it does not."""
    return each.status == "different" or (each.status == "within" and not each.name.startswith("energy"))


def _row(each: Check) -> tuple[str, str, str, str]:
    return each.name, _number(each.claimed), _number(each.counted), status_text(each)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) or value >= 10 else f"{value:.4g}"


def status_text(each: Check) -> str:
    """Return the status; with how far off the claimed number is where a closed form is not exact."""
    if each.status == "within" and each.error:
        return f"within {abs(each.error):.2%}".replace("%", " %")
    return each.status
