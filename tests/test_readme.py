"""The Python examples of the README and of the pages in docs/ are run, and their answers are compared."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def examples(path: Path) -> str:
    """Return what stands in the ```python blocks of a page."""
    return "\n".join(block.split("```")[0] for block in path.read_text(encoding="utf-8").split("```python\n")[1:])


PAGES = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))]


@pytest.mark.parametrize("page", [page for page in PAGES if ">>>" in examples(ROOT / page)])
def test_the_python_examples_of_a_page_run(page: str):
    test = doctest.DocTestParser().get_doctest(examples(ROOT / page), {}, page, page, 0)
    said: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed
    assert not failed, "".join(said)


def test_the_readme_has_a_python_example():
    assert ">>>" in examples(ROOT / "README.md")


def test_the_readme_s_first_screen_has_the_two_commands():
    """`.ci/run` takes them from there: one installs and explores, the other installs and tests."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    explore, tests = [line for line in lines[:40] if line.startswith("python3 -m venv")]
    assert "cocco explore resnet50" in explore and tests.endswith("pytest -n auto")
