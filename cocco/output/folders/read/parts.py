"""Parts of a result as result.json has them, checked: its addresses, and the sizes around the recommendation."""

from __future__ import annotations

from typing import NamedTuple

from cocco.exploration.answers.ranges import MARGINS, RANGE_KINDS, Candidate, Ranges, Terms
from cocco.output.folders.read.reading import NUMBER, Reader
from cocco.output.text.layout.numbers import buffer_columns


class Placing(NamedTuple):
    """The addresses that a search sought for a plan, or for those of several networks together."""

    changes: tuple[str, ...]  #: a sentence for each, in the order in which they were made
    is_placed: bool  #: whether every region has an address


def placing_of(result: Reader) -> Placing | None:
    """Return what an answer, or a point of a front, says about its addresses; None if none were sought."""
    if result.content.get("moved") is None or result.content.get("placed") is None:
        return None
    moved = result.items("moved")
    names = {each.get("network", str) for each in moved}
    changes = tuple(
        f"{each.content['network'] + ': ' if len(names) > 1 else ''}{each.get('text', str)}" for each in moved
    )
    return Placing(changes, result.get("placed", bool))


def ranges_of(result: Reader) -> Ranges | None:
    """Return the ranges of a result, None where it has none."""
    if result.content.get("ranges") is None:
        return None
    content = result.inner("ranges")
    candidates = tuple(_candidate(each) for each in content.items("sizes"))
    margins = content.items("margins")
    total = sum(margins[-1].get(kind, int) for kind in RANGE_KINDS) if margins else 0
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
