"""The sizes that cost as little as a recommended one, and what decides among them, as text."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.exploration.answers.lacking import Edge
from cocco.exploration.answers.ranges import MARGINS, Candidate, Kind, Ranges
from cocco.exploration.answers.result import Result
from cocco.output.text.layout.numbers import buffer_name, capacity, table, the_buffers
from cocco.problem.criteria import CRITERIA
from cocco.problem.names import Count
from cocco.problem.space import Range, Space
from simulator.units import AREA, ENERGY, POWER

UNSEEN = 1e-4  #: share of the largest change below which another is not named; our choice
TERMS = {"buffer": "buffer", "dram": "DRAM", "sram": "SRAM", "leakage": "leakage", "compute": "computing"}


def ranges_text(result: Result) -> str:
    """Return which sizes are within the margins, certainly or perhaps, and what decides from one end to the other."""
    ranges = result.ranges
    assert ranges is not None
    said = [within_sentence(ranges)]
    has_terms = result.metric == "energy" and bool(result.alpha)
    shown = ends(ranges, has_terms)
    if len(shown) > 1:
        said.append(_terms(result, shown) if has_terms else _values(result, shown))
    return "\n\n".join(said)


def within_sentence(ranges: Ranges) -> str:
    """Return the sizes that cost at most 1 % and 3 % more, as far as that is proven."""
    parts = []
    for margin in MARGINS:
        parts.append(f"at most {100 * margin:g} % more: {_sizes(ranges, 'within', margin)}")
    widest = MARGINS[-1]
    opened = ranges.of_kind("open", widest)
    known = f"Sizes that cost {'; '.join(parts)}."
    if not opened:
        return f"{known} All others cost more, proved."
    which = _sizes(ranges, "open", widest)
    left = f"Open, because no plan that costs so little was found there and none is ruled out: {which}."
    others = ranges.count("outside", widest)
    return f"{known} {left}" + (
        f" The other {others} cost more than {100 * widest:g} % more, proved." if others else ""
    )


def ends(ranges: Ranges, has_terms: bool = True) -> list[Candidate]:
    """Return the recommended size between the smallest and the largest within the widest margin.

    has_terms: of those whose plans were priced part by part.
    """
    within = [each for each in ranges.of_kind("within", MARGINS[-1]) if each.terms is not None or not has_terms]
    best = [each for each in ranges.candidates if each.cost == ranges.cost][:1]
    lowest, highest = min(within, key=_size, default=None), max(within, key=_size, default=None)
    chosen = [each for each in (lowest, *best, highest) if each is not None]
    return [each for i, each in enumerate(chosen) if each not in chosen[:i]]


def decides(ranges: Ranges, per_byte: float) -> list[tuple[str, float]]:
    """Return by how much each term differs from the smallest size within the margin to the largest, the most first."""
    shown = ends(ranges)
    low, high = (_parts(each, per_byte) for each in (shown[0], shown[-1]))
    changes = [(name, high[name] - low[name]) for name in TERMS]
    return sorted(changes, key=lambda change: -abs(change[1]))


def changes_text(ranges: Ranges, per_byte: float) -> str:
    """Return the same in words, in one unit, without terms that do not change."""
    changes = decides(ranges, per_byte)
    most = abs(changes[0][1])
    unit = ENERGY.unit(most)
    return ", ".join(
        f"{TERMS[name]} {'+' if change > 0 else ''}{unit.text(change)}"
        for name, change in changes
        if abs(change) > UNSEEN * most
    )


def _terms(result: Result, shown: Sequence[Candidate]) -> str:
    ranges, exchange = result.ranges, result.exchange
    assert ranges is not None and exchange is not None and exchange.per_byte is not None
    per_byte = exchange.per_byte
    names = [name for name in TERMS if name != "leakage" or any(_parts(each, per_byte)[name] for each in shown)]
    listed = [_parts(each, per_byte) for each in shown]
    unit = ENERGY.unit(*(parts[name] for parts in listed for name in names))
    areas, leakages = (
        AREA.column([each.area_mm2 for each in shown])[1],
        POWER.column([each.leakage_mw for each in shown])[1],
    )
    rows = [
        (*_buffers(each), *(unit.number(parts[name]) for name in names), _to_best(ranges, each), area, leakage)
        for each, parts, area, leakage in zip(shown, listed, areas, leakages)
    ]
    heads = [
        *_heads(shown[0]),
        *(f"{TERMS[name]} {unit.name}" for name in names),
        "to the best",
        "area mm2",
        "leakage mW",
    ]
    first = f"What decides among them, from the smallest to the largest: {changes_text(ranges, per_byte)} ({exchange})."
    return f"{first}\n\n{table(heads, rows, left=0)}\n\n  {_whose(result.accelerator.cores, result.count)}"


def _whose(cores: int, count: Count) -> str:
    """Return of how many cores area and leakage are, and how many the cost counts."""
    counted = "" if cores == 1 else f"; the cost counts the bytes of {'all' if count == 'all' else 'one'}"
    return f"area and leakage are those of {the_buffers(cores)}{counted}"


def _values(result: Result, shown: Sequence[Candidate]) -> str:
    """Return the table of these sizes where the metric's value is not split into terms: one column for the value."""
    criterion, ranges = CRITERIA[result.metric], result.ranges
    assert ranges is not None
    unit, values = criterion.quantity.column([each.value for each in shown])
    areas = AREA.column([each.area_mm2 for each in shown])[1]
    rows = [(*_buffers(each), value, _to_best(ranges, each), area) for each, value, area in zip(shown, values, areas)]
    heads = [*_heads(shown[0]), f"{result.metric} {unit}", "to the best", "area mm2"]
    return f"Among them buffer and {criterion.title} decide:\n\n{table(heads, rows, left=0)}"


def _parts(each: Candidate, per_byte: float) -> dict[str, float]:
    """Return the terms of a cost in pJ, what its bytes of buffer are worth with them."""
    assert each.terms is not None
    return {"buffer": each.size_bytes * per_byte, **each.terms._asdict()}


def _sizes(ranges: Ranges, kind: Kind, margin: float) -> str:
    """Return the sizes of a kind: bands of one buffer; of two how many there are, and from where to where."""
    if ranges.is_one_buffer:
        bands = [band for band in ranges.bands(margin) if band.kind == kind]
        return ", ".join(_span(band.low, band.high) for band in bands) or "none"
    found = ranges.of_kind(kind, margin)
    if not found:
        return "none"
    spans = []
    for i, (name, _) in enumerate(found[0].buffers):
        sizes = [each.buffers[i][1] for each in found]
        spans.append(f"a {buffer_name(name)} of {_span(min(sizes), max(sizes))}")
    pairs = f"{len(found)} of {len(ranges.candidates) + ranges.others} pairs" if len(found) > 1 else "one pair"
    return f"{pairs}, {' with '.join(spans)}"


def _span(low: int, high: int) -> str:
    return capacity(low) if low == high else f"{capacity(low)} to {capacity(high)}"


def _size(each: Candidate) -> tuple[int, float]:
    return each.size_bytes, each.bound


def _buffers(each: Candidate) -> list[str]:
    return [capacity(size) for _, size in each.buffers]


def _heads(each: Candidate) -> list[str]:
    return [buffer_name(name) for name, _ in each.buffers]


def _to_best(ranges: Ranges, each: Candidate) -> str:
    return "" if each.cost is None else f"{100 * (each.cost / ranges.cost - 1):+.2f} %"


def edges_text(space: Space | None, edges: Sequence[Edge], width: int = 18) -> str:
    """Return a line for each range that went on beyond an end, and one for each end that says what to ask."""
    ranges = {} if space is None else space.ranges
    lines = [
        f"{whose}{capacity(each.candidates[0])} to {capacity(each.candidates[-1])}: it went on beyond "
        f"{capacity(each.low)} to {capacity(each.high)}, at whose end the answer was"
        for name, each in ranges.items() if each.extends and (each.least or each.most)
        for whose in [_of_buffer(name, ranges)]
    ]  # fmt: skip
    for each in edges:
        which, others = ("smallest", "smaller") if each.end == "low" else ("largest", "larger")
        lines.append(
            f"{_of_buffer(each.buffer, ranges)}{capacity(each.size_bytes)} is the {which} asked, {others} ones may be "
            f"better: {_asked(each, ranges)}"
        )
    return "".join(f"{'  range':<{width}}{line}\n" for line in lines)


def _of_buffer(name: str, ranges: dict[str, Range]) -> str:
    return "" if len(ranges) == 1 else f"{buffer_name(name)}: "


def _asked(edge: Edge, ranges: dict[str, Range]) -> str:
    """Return the options that ask what lies beyond an end."""
    if len(ranges) == 1:
        return f"--range {edge.ask}"
    sizes = {name: f"{each.low}:{each.high}:{each.step}" for name, each in ranges.items()} | {edge.buffer: edge.ask}
    return " ".join(["--separate", *(f"--range {each}" for each in sizes.values())])
