"""Keywords that stand for the fields of a value: `cores=2` for `machine=Machine(cores=2)`."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

Value = TypeVar("Value")


def check_keywords(function: Callable[..., Any], given: Iterable[str], fields: Iterable[str]) -> None:
    """Raise TypeError for a keyword that a function does not know, naming the nearest one that it knows.

    fields: the names that it takes in addition to its parameters.
    """
    known = {*fields}
    for name in given:
        if name not in known:
            known |= {p.name for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_KEYWORD}
            (nearest,) = difflib.get_close_matches(name, sorted(known), 1, 0.0)
            raise TypeError(f"{function.__name__}() has no keyword {name!r}; the nearest that it has is {nearest!r}")


def with_fields(value: Value, given: Mapping[str, object]) -> Value:
    """Return a frozen dataclass updated with the keywords that are its fields; the others belong to another value."""
    assert is_dataclass(value) and not isinstance(value, type)
    mine = {field.name: given[field.name] for field in fields(value) if field.name in given}
    return replace(value, **mine) if mine else value
