"""Attention in one operator: scores, mask, softmax, context; keys and values of fewer heads are repeated."""

from __future__ import annotations

from workloads.errors import NetworkError
from workloads.importing.families.combining import join, softmax
from workloads.importing.families.moving import concat, expand, reshape, transpose
from workloads.importing.families.multiplying import product, swapped
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value


def attend(sketch: Sketch, query: Value, key: Value, value: Value, mask: Value | None = None) -> Value:
    """Return the context of [1, heads, rows, features]; batches of 1 may be left out."""
    at = sketch.at
    if query.rank > 2:
        key, value = (repeated(sketch, each, query.shape[-3]) for each in (key, value))
    sketch.at = f"{at}.scores"
    scores = product(sketch, query, swapped(sketch, key))
    if mask is not None:
        sketch.at = f"{at}.mask"
        scores = join(sketch, "add", [scores, mask])
    sketch.at = f"{at}.softmax"
    weights = softmax(sketch, scores, -1)
    sketch.at = f"{at}.context"
    found = product(sketch, weights, value)
    sketch.at = at
    return found


def repeated(sketch: Sketch, value: Value, heads: int) -> Value:
    """Return keys or values with each head repeated, so that there is one for each head of the queries."""
    own = value.shape[-3]
    if own == heads:
        return value
    if own == 0 or heads % own:
        raise NetworkError(f"attends with {heads} heads to {own}, which does not divide them")
    *before, _, rows, features = value.shape
    split = reshape(sketch, value, (*before, own, 1, rows, features))
    wide = expand(sketch, split, (*before, own, heads // own, rows, features))
    return reshape(sketch, wide, (*before, heads, rows, features))


def by_heads(sketch: Sketch, value: Value, heads: int) -> Value:
    """Return [1, rows, heads x features] as [1, heads, rows, features]."""
    if value.rank != 3 or heads < 1 or value.shape[2] % heads:
        raise NetworkError(f"splits {list(value.shape)} into {heads} heads")
    batch, rows, features = value.shape
    return transpose(sketch, reshape(sketch, value, (batch, rows, heads, features // heads)), (0, 2, 1, 3))


def joined_heads(sketch: Sketch, value: Value) -> Value:
    """Return [1, heads, rows, features] as [1, rows, heads x features]."""
    batch, heads, rows, features = value.shape
    return reshape(sketch, transpose(sketch, value, (0, 2, 1, 3)), (batch, rows, heads * features))


def appended(sketch: Sketch, past: Value | None, value: Value) -> Value:
    """Return a cache followed by the rows that this step makes, along the last dimension but one."""
    return value if past is None else concat(sketch, [past, value], value.rank - 2)
