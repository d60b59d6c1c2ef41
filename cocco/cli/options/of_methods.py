"""Options that only some methods of a command take: with another, which would ignore them, they are refused."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any, NamedTuple

from cocco.cli.options.usage import UsageError


class Of(NamedTuple):
    """An option of some methods; name: its field; default: its value if not given, or given as the default."""

    option: str
    default: Any
    methods: tuple[str, ...]
    name: str = ""

    def asked(self, options: Namespace) -> str | None:
        """Return the option as it was given, None where it was not."""
        value = getattr(options, self.name or self.option.removeprefix("--").replace("-", "_"))
        if value == self.default:
            return None
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        return self.option if value is True or isinstance(value, list) else f"{self.option} {shown}"


def check_method(options: Namespace, method: str, known: Iterable[Of]) -> None:
    """Refuse what another method takes, in one line."""
    for each in known:
        asked = each.asked(options)
        if asked is not None and method not in each.methods:
            raise UsageError(f"{asked} not allowed with --method {method}: it is of {', '.join(each.methods)}")


def is_plain(options: Namespace) -> bool:
    """Return whether a search takes the genetic algorithm of the paper."""
    return hasattr(options, "plain") and (options.plain or options.method == "paper")
