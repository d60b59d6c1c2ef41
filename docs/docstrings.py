"""Docstrings of this house as reStructuredText: plain text, with numpydoc sections and doctests among it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any

from sphinx.ext.napoleon import Config, NumpyDocstring

SETTINGS = Config(napoleon_use_rtype=False, napoleon_use_ivar=True)
#: sections of numpydoc whose entries are a line (name and type) and indented lines about it
LISTS = ("Attributes", "Other Parameters", "Parameters", "Raises", "Returns", "Warns", "Yields")
#: sections of numpydoc that are text
TEXTS = ("Examples", "Notes", "References", "See Also", "Warnings")


def read_as_plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText in place, its sections by napoleon.

    A paragraph with an indented line is shown as it stands (code, a drawing, a table), what stands between
    backticks is code, and nothing else is markup. Doctests stay doctests.
    """
    if what in ("attribute", "data") and lines[:1] == (inspect.getdoc(type(obj)) or "").split("\n")[:1]:
        lines.clear()  # a constant without words of its own says what an int is
    sections = list(_sections(lines))
    text = [line for title, body in sections for line in _section(title, body)]
    if len(sections) > 1:
        text = NumpyDocstring(text, SETTINGS, app, what, name, obj, options).lines()
    lines[:] = text


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections in turn: the title, empty for what stands before the first one, and the lines."""
    starts = [at for at, line in enumerate(lines[:-1]) if line in LISTS + TEXTS and set(lines[at + 1]) == {"-"}]
    yield "", lines[: starts[0]] if starts else lines
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start], lines[start + 2 : end]


def _section(title: str, body: list[str]) -> list[str]:
    heading = [title, "-" * len(title)] if title else []
    if title in LISTS:  # entries as they are, escaped by napoleon
        return heading + [_escaped(line) if line.startswith(" ") else line for line in body]
    return heading + _text(body)


def _text(lines: list[str]) -> list[str]:
    out: list[str] = []
    for blank, paragraph in groupby(lines, key=lambda line: not line.strip()):
        text = list(paragraph)
        if blank or text[0].startswith(">>>"):
            out += text
        elif text[0].startswith(("- ", ".. [")):  # a list, a reference
            out += [_escaped(line) for line in text]
        elif any(line.startswith(" ") for line in text):
            out += ["::", "", *(f"    {line}" for line in text)]
        else:
            out += map(_escaped, text)
    return out


def _escaped(line: str) -> str:
    """Return the line with code between double backticks and no other markup."""
    return re.sub(r"(``[^`]+``)|(`[^`]+`)|([*|_\\])", _as_markup, line)


def _as_markup(match: re.Match[str]) -> str:
    doubled, single, special = match.groups()
    return doubled or (f"`{single}`" if single else f"\\{special}")
