"""Docstrings are plain text with numpydoc sections; the pages show both as they are meant."""

from __future__ import annotations

import pytest

pytest.importorskip("sphinx", reason="the extra 'docs' is not installed")
from docs.docstrings import read_as_plain_text  # noqa: E402


def shown(text: str, what: str = "function", obj: object = None) -> str:
    lines = text.split("\n")
    read_as_plain_text(None, what, "name", obj, None, lines)
    return "\n".join(lines)


def test_nothing_but_backticks_is_markup():
    assert shown("A * b with `code_here`, in_name.") == r"A \* b with ``code_here``, in\_name."


def test_a_drawing_is_shown_as_it_stands():
    assert shown("A chain:\n\n    a -> *b*\n") == "A chain:\n\n::\n\n        a -> *b*\n"


def test_numpydoc_sections_become_fields():
    parameters = "Parameters\n----------\ncount : int\n    How many_of them.\n"
    page = shown(f"Price it.\n\n{parameters}\nReturns\n-------\nfloat\n    The price.\n")
    assert r":param count: How many\_of them." in page and ":type count: int" in page
    assert ":returns:" in page and "The price." in page and "----" not in page


def test_doctests_stay_doctests():
    page = shown("Price it.\n\nExamples\n--------\n>>> a_b * 2\n4\n")
    assert ".. rubric:: Examples" in page and ">>> a_b * 2\n4" in page


def test_a_constant_without_words_does_not_say_what_an_int_is():
    assert shown(int.__doc__ or "", "data", 1024) == ""
