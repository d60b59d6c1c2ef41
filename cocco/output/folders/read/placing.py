"""What a result says about the addresses of a plan: what was changed to get them, and whether all regions have one."""

from __future__ import annotations

from typing import NamedTuple

from cocco.output.folders.read.reading import Reader


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
