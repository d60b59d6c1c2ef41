"""Write every table of the pages that comes from experiments/reference into its page, and draw the pictures.

`python -m experiments.pages` writes the tables and names the pages that change; a table takes the place of the one with
the same heads and rows, and a test keeps the pages equal to what is written. `--pictures` draws the tables named.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from cocco.output.pictures.saving import write_picture
from experiments.page_tables import (
    allocation_tables,
    chip_tables,
    claims,
    language_tables,
    mapping_tables,
    tables,
    technology_tables,
    traffic_tables,
)
from workloads.files import write_atomic

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURES = DOCS / "pictures"
#: what each page shows, but for tables whose plans are executed
PAGES: tuple[tuple[str, tuple[Callable[[], str], ...]], ...] = (
    ("experiments.md", tables.TABLES),
    *((page, each) for found in (claims, traffic_tables, allocation_tables, technology_tables, mapping_tables)
      for page, each in found.PAGES.items()),
    ("chips.md", chip_tables.TABLES),
    ("language-models.md", tuple(each for each in language_tables.TABLES if each not in language_tables.EXECUTED)),
)  # fmt: skip


def with_table(text: str, table: str, place: int = 0) -> str:
    """Return a page with a table in place of the one like it; place: of several such, in their order on the page.

    ValueError where there is none.

    >>> with_table("a\\n\\n| x |\\n|---|\\n| 1 | 2 |\\n\\nb\\n", "| x |\\n|---|\\n| 1 | 3 |")
    'a\\n\\n| x |\\n|---|\\n| 1 | 3 |\\n\\nb\\n'
    """
    parts = text.split("\n\n")
    same = [i for i, part in enumerate(parts) if _kind(part) == _kind(table)]
    if len(same) <= place:
        raise ValueError(f"the page has {len(same)} tables with the heads and rows of {table.splitlines()[0]!r}")
    old = parts[same[place]]
    parts[same[place]] = old.replace(old.strip("\n"), table)
    return "\n\n".join(parts)


def _kind(table: str) -> tuple[str, ...]:
    """Return the heads of a table and the names of its rows."""
    lines = table.strip("\n").splitlines()
    return *lines[:2], *("".join(line.split("|")[1:2]) for line in lines[2:])


def written(docs: Path = DOCS) -> Iterator[tuple[Path, str, str]]:
    """Yield each page of a folder, its text, and its text with all tables made anew."""
    pages: dict[str, str] = {}
    seen = Counter[tuple[str, ...]]()
    for page, found in PAGES:
        text = pages.get(page) or (docs / page).read_text(encoding="utf-8")
        for make in found:
            table = make()
            kind = page, *_kind(table)
            text = with_table(text, table, seen[kind])
            seen[kind] += 1
        pages[page] = text
    for page, text in pages.items():
        yield docs / page, (docs / page).read_text(encoding="utf-8"), text


def write() -> Iterator[Path]:
    """Write the pages that change, and yield their paths."""
    for path, before, now in written():
        if now != before:
            write_atomic(path, now)
            yield path


def draw(name: str) -> Path:
    """Draw the picture of a reference table, and return its path."""
    path = PICTURES / f"{name}.png"
    experiment = importlib.import_module(f"experiments.{name}").EXPERIMENT
    write_picture(path, partial(experiment.picture, tables.reference(name)), name)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m experiments.pages", description=str(__doc__).splitlines()[0])
    parser.add_argument("--pictures", nargs="+", default=(), metavar="TABLE", help="draw these, such as alpha_sweep")
    names = parser.parse_args().pictures
    for path in (*write(), *map(draw, names)):
        sys.stdout.write(f"{path}\n")
