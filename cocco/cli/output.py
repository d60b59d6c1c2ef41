"""What a command prints and where it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.cli.usage import UsageError
from simulator import Evaluation

if TYPE_CHECKING:
    from simulator.execution import Verification


def answer(evaluation: Evaluation, verified: Verification | None) -> dict[str, Any]:
    """Return what `cocco evaluate --json` prints."""
    content = evaluation.to_json()
    if not evaluation.fits:
        return content
    return content | ({"verified": None} if verified is None else verified.to_json())


def print_json(content: dict[str, Any]) -> None:
    """Print one object on one line; a number that is not finite would be no JSON."""
    print(json.dumps(content, allow_nan=False))


CODES = {"infeasible": 1, "gave_up": 1, "stopped": 130}  #: all other ways to end are 0


def output_path(text: str | None) -> Path | None:
    """Return where -o says, None where it was not given; raises UsageError where it is empty."""
    if text == "":
        raise UsageError("-o is empty; it must be a path")
    return None if text is None else Path(text)
