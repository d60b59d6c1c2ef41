"""The documentation is built without a warning, and no page is lost on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs import check_titles
from tests.helpers.command_line import ROOT

pytest.importorskip("sphinx", reason="the extra 'docs' is not installed")


@pytest.mark.slow  # 20 s; `.ci/run` builds and compares the titles too, test_pages.py knows the names that are taken
def test_the_built_pages_have_the_titles_of_their_sources(tmp_path: Path):
    words = ["--fail-on-warning", "--keep-going", "-q", "-b", "html", "docs", str(tmp_path / "html")]
    finished = subprocess.run(
        [sys.executable, "-m", "sphinx", *words],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert list(check_titles.wrong_pages(tmp_path / "html")) == []
