"""Sentences that fit a terminal: wrapped at blanks, as wide as the tables next to them."""

from __future__ import annotations

import re
import shutil
import textwrap

from cocco.output.text.layout.tables import COLUMNS

GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  #: between a name and what is said of it, or between the columns of a table
COMMAND = re.compile(r"\s*(\$ )?cocco ")  #: it is copied as one line
NARROWEST = 30  #: columns that a text keeps next to its name; our choice: a few words


def wrapped(text: str) -> str:
    """Return the text with its long sentences wrapped at the width of the terminal, 80 columns where there is none.

    What is said of a name goes on below its beginning. Rows of tables and commands stay as they are.

    Examples
    --------
    >>> print(wrapped("  search   " + "exact, and then " * 5))
      search   exact, and then exact, and then exact, and then exact, and then
               exact, and then
    """
    most = shutil.get_terminal_size((COLUMNS, 24)).columns
    return "\n".join(_wrapped(line, most) for line in text.split("\n"))


def _wrapped(line: str, most: int) -> str:
    if len(line) <= most or COMMAND.match(line):
        return line
    gaps = list(GAP.finditer(line))
    if len(gaps) > 1:
        return line
    start = gaps[0].end() if gaps else len(line) - len(line.lstrip())
    if most - start < NARROWEST:
        return line
    lines = textwrap.wrap(line[start:], most - start, break_long_words=False, break_on_hyphens=False)
    return line[:start] + ("\n" + " " * start).join(lines)
