"""Sphinx: pages in Markdown, the API from the docstrings (docs/api/ is generated)."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

project = "Cocco"
author = "the Cocco contributors"
copyright = "2026, the Cocco contributors"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
exclude_patterns = ["_build"]

myst_heading_anchors = 3
suppress_warnings = ["ref.python"]  # a type named alike in two packages, such as Stream: its link is ambiguous
autodoc_default_options = {"members": True, "member-order": "bysource", "show-inheritance": True}

PACKAGES = ("workloads", "simulator", "cocco", "experiments")
HERE = Path(__file__).parent


def modules(package: str) -> Iterator[str]:
    """Yield a package and the modules inside it; what starts with an underscore is private."""
    yield package
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.rpartition(".")[2].startswith("_"):
            yield module.name


def write_api_pages(_: Any) -> None:
    """Write a page for each package: its modules with their docstrings."""
    (HERE / "api").mkdir(exist_ok=True)
    for package in PACKAGES:
        text = f"{package}\n{'=' * len(package)}\n"
        for name in modules(package):
            # What a package only passes on is documented in the module where it is made.
            text += f"\n{name}\n{'-' * len(name)}\n\n.. automodule:: {name}\n   :ignore-module-all:\n"
        (HERE / "api" / f"{package}.rst").write_text(text, encoding="utf-8")


def read_as_plain_text(_: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring, which is plain text, into reStructuredText.

    A paragraph with an indented line is shown as it stands (code, a drawing, a table), what stands between
    backticks is code, and nothing else is markup.
    """
    out: list[str] = []
    for blank, paragraph in groupby(lines, key=lambda line: not line.strip()):
        text = list(paragraph)
        if blank or text[0].startswith("- "):
            out += text
        elif any(line.startswith(" ") for line in text):
            out += ["::", "", *(f"    {line}" for line in text)]
        else:
            out += map(_escaped, text)
    lines[:] = out


def _escaped(line: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        return f"`{match[1]}`" if match[1] else f"\\{match[2]}"

    return re.sub(r"(`[^`]+`)|([*|_\\])", replaced, line)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", write_api_pages)
    app.connect("autodoc-process-docstring", read_as_plain_text)
