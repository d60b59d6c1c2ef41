"""Changes of files field by field, so that they still parse: trees of JSON and YAML, cells of CSV."""

from __future__ import annotations

import csv
import io
import json
import random
from copy import deepcopy
from typing import Any

import yaml

NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**16, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
#: put in the place of any value: other types, numbers that are none, text that means something somewhere
ODD: tuple[Any, ...] = (
    *NUMBERS, 0.5, -0.0, 1e308, float("inf"), float("nan"), None, True, False, "", "1", "auto", "1MB", "\x00",
    "é" * 300, [], [[]], [1, 2], {}, {"a": 1},
)  # fmt: skip
CELLS = (*map(str, NUMBERS), "", " ", "x", "0.5", "nan", "inf", "1e999", "3-5 8-9", '"', "é", "-0", "+1", "1_000")


def mutate_json(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return a JSON file with one to four fields changed."""
    return json.dumps(_changed(rng, json.loads(data), json.loads(rng.choice(others)))).encode()


def mutate_yaml(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return a YAML file with one to four fields changed."""
    tree = _changed(rng, yaml.safe_load(data), yaml.safe_load(rng.choice(others)))
    return yaml.safe_dump(tree, allow_unicode=True).encode()


def _changed(rng: random.Random, tree: Any, other: Any) -> Any:
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = list(_places(tree))
        if places:
            _change(rng, *rng.choice(places), list(_places(other)))
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    found, stack = [], [tree]
    while stack:
        each = stack.pop()
        keys: Any = each.keys() if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        for key in keys:
            found.append((each, key))
            stack.append(each[key])
    return found


def _change(rng: random.Random, holder: Any, key: Any, others: list[tuple[Any, Any]]) -> None:
    """Change one field: remove, replace, take another's value, rename or repeat it."""
    draw = rng.randrange(6)
    if draw == 0:
        del holder[key]
    elif draw == 1 and others:
        there, name = rng.choice(others)
        holder[key] = deepcopy(there[name])  # trees share nothing, here and below: or one would come to hold itself
    elif draw == 2 and isinstance(holder, dict):
        holder[rng.choice(("", "name", "odd", str(key)[:-1]))] = holder.pop(key)
    elif draw == 3 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), deepcopy(holder[key]))
    elif draw == 4 and isinstance(holder[key], (int, float)):
        holder[key] = rng.choice((holder[key] + 1, -holder[key], holder[key] * 2**20, rng.choice(NUMBERS)))
    else:
        holder[key] = deepcopy(rng.choice(ODD))


def mutate_cells(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return a CSV file with one to four cells, rows or columns changed."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    for _ in range(rng.choice((1, 1, 2, 4))):
        row = rng.choice([row for row in rows if row] or [["x"]])
        draw = rng.randrange(6)
        if draw == 0:
            rows.insert(rng.randrange(len(rows) + 1), list(row))
        elif draw == 1 and len(rows) > 1:
            rows.remove(row) if row in rows else None
        elif draw == 2:
            row.append(rng.choice(CELLS))
        elif draw == 3 and row:
            row.pop(rng.randrange(len(row)))
        elif row:
            row[rng.randrange(len(row))] = rng.choice(CELLS)
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
