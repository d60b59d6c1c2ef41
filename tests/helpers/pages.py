"""A page taken apart, and its folder changed."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

LOADS = {"src", "href", "srcset", "data", "action", "xlink:href", "poster"}  #: attributes that make a browser fetch


class Page(HTMLParser):
    """Collects the elements of a page, and the text inside the table cells and by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.rows: Counter[str] = Counter()  #: rows below the head, by the class of their table
        self._table = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag == "table":
            self._table = dict(attributes).get("class") or ""
        if tag == "tr":
            self.rows[self._table] += 1
        if tag == "thead":
            self.rows[self._table] -= 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def page_of(folder: Path) -> Page:
    return Page((folder / "report.html").read_text())


def data_of(folder: Path) -> dict[str, Any]:
    """What the page draws from."""
    text = (folder / "report.html").read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found
    content: dict[str, Any] = json.loads(found[1])
    return content


def change(folder: Path, edit: Any) -> None:
    path = folder / "result.json"
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def near_sizes(result: dict[str, Any]) -> int:
    """Return how many sizes a page of this result lists beside its plans."""
    widest = result["ranges"]["margins"][-1]
    return int(widest["within"] + widest["open"])
