"""The layer lists that stand beside the checkout, for tests that are skipped where they do not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from simulator.mapping import LayerShape

PLACES = [each / "shared" / "data" / "layers" for each in Path(__file__).resolve().parents]


def layer_file(name: str) -> Path:
    """Return the path of a list; skip the test where it is not there."""
    for folder in PLACES:
        if (folder / f"cosa_{name}.csv").is_file():
            return folder / f"cosa_{name}.csv"
    pytest.skip("the layer lists are not beside this checkout")


def shapes(name: str) -> list[tuple[LayerShape, int]]:
    """Return (shape, count) of each row."""
    with open(layer_file(name), newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for row in rows:
        stride = (int(row["stride_w"]), int(row["stride_h"]))
        found.append((LayerShape(*(int(row[d]) for d in "RSPQCKN"), stride), int(row["count"])))
    return found
