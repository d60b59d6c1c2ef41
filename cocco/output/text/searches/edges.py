"""Lines on the range of an answer: where it went on, and where the answer lies at an end that was given."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.exploration.answers.edge import Edge
from cocco.output.text.layout.numbers import buffer_name, capacity
from cocco.problem.space import Range, Space


def edges_text(space: Space | None, edges: Sequence[Edge], width: int = 18) -> str:
    """Return a line for each range that went on beyond an end, and one for each end that says what to ask."""
    ranges = {} if space is None else space.ranges
    lines = [
        f"{whose}{capacity(each.candidates[0])} to {capacity(each.candidates[-1])}: it went on beyond "
        f"{capacity(each.low)} to {capacity(each.high)}, at whose end the answer was"
        for name, each in ranges.items() if each.extends and (each.least or each.most)
        for whose in [_whose(name, ranges)]
    ]  # fmt: skip
    for each in edges:
        which, others = ("smallest", "smaller") if each.end == "low" else ("largest", "larger")
        lines.append(
            f"{_whose(each.buffer, ranges)}{capacity(each.size_bytes)} is the {which} asked, {others} ones may be "
            f"better: {_asked(each, ranges)}"
        )
    return "".join(f"{'  range':<{width}}{line}\n" for line in lines)


def _whose(name: str, ranges: dict[str, Range]) -> str:
    return "" if len(ranges) == 1 else f"{buffer_name(name)}: "


def _asked(edge: Edge, ranges: dict[str, Range]) -> str:
    """Return the options that ask what lies beyond an end."""
    if len(ranges) == 1:
        return f"--range {edge.ask}"
    sizes = {name: f"{each.low}:{each.high}:{each.step}" for name, each in ranges.items()} | {edge.buffer: edge.ask}
    return " ".join(["--separate", *(f"--range {each}" for each in sizes.values())])
