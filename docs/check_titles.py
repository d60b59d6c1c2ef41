"""Compares the title of every built page with the first heading of its source.

`python docs/check_titles.py BUILT` ends with 1 and names the pages that are not what their source says: Sphinx writes
pages of its own (search.html, genindex.html), and a source of that name is silently lost.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).parent
#: pages that Sphinx writes itself: no source may have such a name
TAKEN = ("search", "genindex", "modindex", "py-modindex")
LEFT_OUT = ("_build", "_templates", "generated")  #: exclude_patterns of conf.py


def sources(docs: Path = HERE) -> Iterator[Path]:
    """Yield the sources of the pages that are there; those of docs/api/ and docs/commands/ come with a build."""
    for path in sorted([*docs.rglob("*.md"), *docs.rglob("*.rst")]):
        if path.relative_to(docs).parts[0] not in LEFT_OUT:
            yield path


def heading(source: Path) -> str:
    """Return the first heading of a source, without markup."""
    lines = source.read_text(encoding="utf-8-sig").splitlines()
    marks = [line[2:] for line in lines if line.startswith("# ")]
    under = [one for one, two in zip(lines, lines[1:]) if one and len(two) >= len(one) and set(two) == {"="}]
    return _plain((marks if source.suffix == ".md" else under)[0])


def wrong_pages(built: Path, docs: Path = HERE) -> Iterator[str]:
    """Yield a line for every source whose page is missing or has another title or heading."""
    for source in sources(docs):
        page = built / source.relative_to(docs).with_suffix(".html")
        if not page.exists():
            yield f"{source.relative_to(docs)}: there is no {page.name}"
            continue
        expected = heading(source)
        found = _Headings(page.read_text(encoding="utf-8"))
        title, first = found.texts["title"], found.texts["h1"]
        if first != expected or not (title == expected or title.startswith(f"{expected} - ")):
            yield f"{source.relative_to(docs)}: {expected!r}, but the page has the title {title!r} and says {first!r}"


class _Headings(HTMLParser):
    """The text of the first <title> and of the first <h1> of a page, without the link to itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {"title": "", "h1": ""}
        self._open = ""
        self._done: set[str] = set()
        self.feed(page)
        self.texts = {name: _plain(text) for name, text in self.texts.items()}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.texts and tag not in self._done:
            self._open = tag
        elif tag == "a" and "headerlink" in (dict(attrs).get("class") or ""):
            self._finish()

    def handle_endtag(self, tag: str) -> None:
        if tag == self._open:
            self._finish()

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open] += data

    def _finish(self) -> None:
        self._done.add(self._open)
        self._open = ""


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").replace("\\", "").replace("’", "'").split())


if __name__ == "__main__":
    wrong = list(wrong_pages(Path(sys.argv[1])))
    print("\n".join(wrong) or "every page has the title of its source")
    sys.exit(bool(wrong))
