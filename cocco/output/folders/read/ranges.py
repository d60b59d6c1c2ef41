"""The sizes around a recommendation as result.json has them, checked."""

from __future__ import annotations

from cocco.exploration.answers.ranges import KINDS, MARGINS, Candidate, Ranges, Terms
from cocco.output.folders.read.reading import NUMBER, Reader
from cocco.output.text.layout.numbers import buffer_columns


def ranges_of(result: Reader) -> Ranges | None:
    """Return the ranges of a result, None where it has none."""
    if result.content.get("ranges") is None:
        return None
    content = result.inner("ranges")
    candidates = tuple(_candidate(each) for each in content.items("sizes"))
    margins = content.items("margins")
    total = sum(margins[-1].get(kind, int) for kind in KINDS) if margins else 0
    if not candidates or len(margins) != len(MARGINS) or len({_names(each) for each in candidates}) > 1:
        raise content.broken("sizes", "it must be sizes of the same buffers, with the margins of this version")
    return Ranges(content.get("cost", *NUMBER), candidates, max(0, total - len(candidates)))


def _candidate(each: Reader) -> Candidate:
    buffers = tuple((name, each.get(name, int)) for name in buffer_columns(each.content))
    if not buffers:
        raise each.broken("sizes", "it must name buffers")
    terms = [f"{name}_pj" for name in Terms._fields]
    said = Terms(*(each.get(name, *NUMBER) for name in terms)) if terms[0] in each.content else None
    area, leakage = (each.get(name, *NUMBER) for name in ("area_mm2", "leakage_mw"))
    return Candidate(
        buffers, each.get("bound", *NUMBER), area, leakage, each.optional("cost"), each.optional("value"), said
    )  # fmt: skip


def _names(each: Candidate) -> tuple[str, ...]:
    return tuple(name for name, _ in each.buffers)
