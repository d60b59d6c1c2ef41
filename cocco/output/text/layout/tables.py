"""Texts and tables that fit a terminal; tables also as CSV or as Markdown."""

from __future__ import annotations

import csv
import io
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  #: between a name and what is said of it, or between the columns of a table
COMMAND = re.compile(r"\s*(\$ )?cocco ")  #: it is copied as one line
LEAST_TEXT = 30  #: columns that a text keeps next to its name; our choice: a few words
TERMINAL_COLUMNS = 80  #: of a terminal where none says how wide it is; the usual
NARROWEST = 10  #: columns to which a text or a head is wrapped at the most; our choice: a short word
WIDEST = 36  #: longer words of a text are broken where there is no room; our choice: a layer's name
GAPS = (2, 1)  #: blanks between columns, and before the first: fewer if a column had no room otherwise
FORMATS = ("table", "csv", "markdown")


def wrapped(text: str) -> str:
    """Return the text with its long sentences wrapped at the width of the terminal, 80 columns where there is none.

    What is said of a name goes on below its beginning. Rows of tables, commands, and lines of a hardware file stay as
    they are.

    Examples
    --------
    >>> print(wrapped("  search   " + "exact, and then " * 5))
      search   exact, and then exact, and then exact, and then exact, and then
               exact, and then
    """
    most = shutil.get_terminal_size((TERMINAL_COLUMNS, 24)).columns
    return "\n".join(_line_wrapped(line, most) for line in text.split("\n"))


def _line_wrapped(line: str, most: int) -> str:
    if len(line) <= most or COMMAND.match(line) or line.startswith("# ") or "  # " in line:
        return line
    gaps = list(GAP.finditer(line))
    if len(gaps) > 1:
        return line
    start = gaps[0].end() if gaps else len(line) - len(line.lstrip())
    if most - start < LEAST_TEXT:
        return line
    lines = textwrap.wrap(line[start:], most - start, break_long_words=False, break_on_hyphens=False)
    return line[:start] + ("\n" + " " * start).join(lines)


class Table(NamedTuple):
    """Heads and cells, which are texts."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def csv(self) -> str:
        """Return the table as CSV."""
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([self.heads, *self.rows])
        return text.getvalue()

    def markdown(self) -> str:
        """Return the table as Markdown (pipes)."""
        lines = [self.heads, ["---"] * len(self.heads), *self.rows]
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


_seen: ContextVar[list[Table] | None] = ContextVar("seen", default=None)


@contextmanager
def seen_tables() -> Iterator[list[Table]]:
    """Give a list that gets every table which `laid_out` lays out in the `with` block."""
    found: list[Table] = []
    token = _seen.set(found)
    try:
        yield found
    finally:
        _seen.reset(token)


def laid_out(heads: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str:
    """Return columns under their heads, indented by two; the first `left` columns start left, numbers end right.

    Where that is wider than the terminal (80 columns where there is none), heads and texts on the left are wrapped,
    columns move together, and those that have no room even so follow below, with the first next to them.
    """
    table = Table(heads, [[str(cell) for cell in row] for row in rows])
    seen = _seen.get()
    if seen is not None:
        seen.append(table)
    most = shutil.get_terminal_size((TERMINAL_COLUMNS, 24)).columns
    tried = [(list(_parts(table, left, most, gap)), gap) for gap in GAPS]
    parts, gap = min(tried, key=lambda each: (len(each[0]), -each[1]))
    return "\n\n".join(_block(*part, gap) for part in parts)


def _parts(table: Table, left: int, most: int, gap: int) -> Iterator[tuple[Table, int, list[int]]]:
    """Yield the table in parts that fit, each with its columns on the left and its widths; all have the first one."""
    rest = list(range(len(table.heads)))
    while rest:
        widths = [max(map(len, [table.heads[at], *(row[at] for row in table.rows)])) for at in rest]
        least = [min(width, _least(table, at, at < left)) for at, width in zip(rest, widths)]
        fits = len(rest)
        while fits > 2 and (_total(least[:fits], gap) > most or _continues(table, rest[fits:])):
            fits -= 1
        chosen, widths, least = rest[:fits], widths[:fits], least[:fits]
        while _total(widths, gap) > most and widths != least:  # the widest that may shrink gives a column
            at = max((at for at in range(fits) if widths[at] > least[at]), key=lambda at: widths[at])
            widths[at] -= 1
        part = Table([table.heads[at] for at in chosen], [[row[at] for at in chosen] for row in table.rows])
        yield part, sum(at < left for at in chosen), widths
        rest = [] if fits == len(rest) else [rest[0], *rest[fits:]]


def _continues(table: Table, rest: Sequence[int]) -> bool:
    """Whether the next column has no head, because it says more of the one before."""
    return bool(rest) and not table.heads[rest[0]]


def _least(table: Table, at: int, is_left: bool) -> int:
    """Return how narrow a column may be: words of its head, and of its texts on the left; numbers are not wrapped."""
    words = max(map(len, table.heads[at].split()), default=0)
    if is_left:
        longest = max((len(word) for row in table.rows for word in row[at].split()), default=0)
        return max(words, NARROWEST, min(longest, WIDEST))
    return max([words, *(len(row[at]) for row in table.rows)])


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * len(widths)


def _block(table: Table, left: int, widths: Sequence[int], gap: int) -> str:
    lines = [*_lines(table.heads, left, widths, gap), "".join(" " * gap + "-" * width for width in widths)]
    return "\n".join([*lines, *(line for row in table.rows for line in _lines(row, left, widths, gap))])


def _lines(cells: Sequence[str], left: int, widths: Sequence[int], gap: int) -> Iterator[str]:
    """Yield the lines of a row, whose cells are wrapped to the widths."""
    wrapped = [_wrapped(cell, width) for cell, width in zip(cells, widths)]
    for line in range(max(map(len, wrapped))):
        texts = [cell[line] if line < len(cell) else "" for cell in wrapped]
        shown = (text.ljust(w) if at < left else text.rjust(w) for at, (text, w) in enumerate(zip(texts, widths)))
        yield "".join(" " * gap + text for text in shown).rstrip()


def _wrapped(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_on_hyphens=False) or [""]
