"""The blocks of code in the README, in CONTRIBUTING and in the pages of docs/, and how each kind is tried."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tests.helpers.command_line import ROOT

#: what is written by hand: docs/api/ and docs/commands/ are made at every build
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))


@dataclass(frozen=True)
class Block:
    """What stands between two fences of a page, or one command with its output."""

    page: str
    line: int  #: of the fence
    language: str
    text: str

    def __str__(self) -> str:
        """The name of a test about it."""
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """Return the blocks of these languages, of all pages; without a language those of any."""
    return [block for page in PAGES for block in _blocks(page) if not languages or block.language in languages]


def _blocks(page: Path) -> Iterator[Block]:
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        if line.startswith("```"):
            text = "".join(f"{each}\n" for _, each in takewhile(lambda pair: pair[1] != "```", lines))
            yield Block(page.relative_to(ROOT).as_posix(), number, line.removeprefix("```"), text)


def console_commands() -> list[Block]:
    """Return one block for each `$ command` of the console blocks, with what it prints."""
    return [
        Block(block.page, block.line, "console", text)
        for block in blocks("console")
        for text in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    ]


def shell_commands() -> list[tuple[str, list[str]]]:
    """Return the words of every command of the shell blocks, and of those in running text, with its page.

    In running text a command with a placeholder (FILE, ...) is an explanation, not a command.
    """
    found = [(str(block), line) for block in blocks("shell") for line in block.text.splitlines()]
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        inline = [" ".join(each.split()) for each in re.findall(r"`((?:cocco|python -m) [^`]+)`", text)]
        found += [(page.name, each) for each in inline if not re.search(r"\b[A-Z]{2,}\b|\.\.\.|\||\[", each)]
    parts = [(place, part) for place, line in found for part in line.split("&&")]
    words = [(place, shlex.split(part.replace(".venv/bin/", ""), comments=True)) for place, part in parts]
    return [(place, each) for place, each in words if each]


def agrees(printed: str, expected: str) -> bool:
    """Whether a command printed what a page says; a line `...` of the page stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ ]*\n"
        for line in expected.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None


def indented(page: Path) -> list[str]:
    """Return the lines of a page that Markdown shows as code because they are indented."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [line for line in text.splitlines() if line.startswith("    ")]
