"""Sphinx: pages in Markdown; docs/api/, docs/commands/ and the picture of the rooms are made at every build."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx.ext import autosummary

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from docs import command_pages, draw_rooms, option_table  # noqa: E402 - found by the line above
from docs.docstrings import read_as_plain_text  # noqa: E402

project = "Cocco"
author = "the Cocco contributors"
copyright = "2026, the Cocco contributors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
html_theme = "furo"
html_title = "Cocco"
exclude_patterns = ["_build", "_templates", "generated"]
templates_path = ["_templates"]

myst_heading_anchors = 3
suppress_warnings = ["ref.python"]  # a type named alike in two packages, such as Stream: its link is ambiguous
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
autosummary.WELL_KNOWN_ABBREVIATIONS += ("Eq.", "Eqs.", "Fig.", "Sec.")  # no sentence ends with these
#: a function and the class of its answer differ in case alone, which not every file system can tell apart
autosummary_filename_map = {
    f"{function.rpartition('.')[0]}.{answer}": f"{function.rpartition('.')[0]}.class-{answer}"
    for function, answer in {
        "cocco.compromise": "Compromise",
        "simulator.breakdown": "Breakdown",
        "simulator.least_capacity": "LeastCapacity",
        "simulator.timeline": "Timeline",
        "simulator.schedule.replay": "Replay",
    }.items()
}


def write_pages(_: Any) -> None:
    """Write what the code says: the commands, their options, and the picture and the table of the rooms."""
    for folder in ("api", "commands", "generated"):  # what was there may tell of names that are gone
        shutil.rmtree(HERE / folder, ignore_errors=True)
    command_pages.write(HERE / "commands")
    draw_rooms.write(HERE / "generated")
    option_table.write(HERE / "generated")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages, priority=400)  # autosummary, with 500, fills docs/api/
    app.connect("autodoc-process-docstring", read_as_plain_text)
