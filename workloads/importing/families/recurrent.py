"""Recurrent layers, LSTM, GRU and RNN: the products of all inputs in one layer, and the rows of states in another.

Our choice: each direction is a product of the inputs with their weights for all gates, and a layer `recurrent` that
makes the states in order. MACs and weights are exact. What the gates do element by element is hidden, as activations
are; so is the state of an LSTM's cells, which never leaves the array. Sequences of a batch run one after the other.
The backward direction reads the steps from the last: a copy of its input, and of its states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workloads.errors import NetworkError
from workloads.importing.families.moving import concat
from workloads.importing.families.multiplying import linear
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value
from workloads.importing.views import CHANNELS, full
from workloads.network.layers.layer import Layer, Note

GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def direction(
    sketch: Sketch, value: Value, kind: str, hidden: int, weights: Sequence[Value | None], steps: int, is_back: bool
) -> Value:
    """Return the states [..., hidden] of one direction over a sequence [..., features] along its dimension `steps`."""
    if kind not in GATES:
        raise NetworkError(f"is a recurrent layer of kind {kind!r}; known are {', '.join(GATES)}")
    gates, at = GATES[kind] * hidden, sketch.at
    rows = [*(i for i in range(value.rank - 1) if i != steps), steps]
    sketch.at = f"{at}.input"
    fed = linear(sketch, _turned(sketch, value, rows) if is_back else value, gates, weights[0])
    fed = sketch.conform(fed, rows)
    sketch.at = f"{at}.state"
    assert fed.source is not None
    height, width, _ = sketch.map_of(fed)
    name = sketch.dense(Layer("", "recurrent", (fed.source,), height, width, hidden, gates), weights[1])
    found = Value((*value.shape[:-1], hidden), name, (*fed.dims[:-1], full(CHANNELS, hidden)))
    if is_back:
        found = _turned(sketch, found, rows)
    sketch.at = at
    sketch.notes.append(Note(at, kind, "recurrent"))
    return found


def _turned(sketch: Sketch, value: Value, rows: Sequence[int]) -> Value:
    """Return the steps of a sequence from the last to the first: a copy."""
    value = sketch.conform(value, rows)
    assert value.source is not None
    shape = sketch.map_of(value)
    return replace(value, source=sketch.light("rearrange", f"{sketch.at}.back", (value.source,), shape, (0,)))


def stacked(
    sketch: Sketch, value: Value, kind: str, hidden: int, layers: Sequence[Sequence[Sequence[Value | None]]], steps: int
) -> Value:
    """Return the states of several layers, each of one or two directions with their pairs of weights."""
    at = sketch.at
    for i, directions in enumerate(layers):
        parts = []
        for j, weights in enumerate(directions):
            sketch.at = f"{at}.{i}" + (".back" if j else "")
            parts.append(direction(sketch, value, kind, hidden, weights, steps, j > 0))
        sketch.at = f"{at}.{i}.joined"
        value = concat(sketch, parts, value.rank - 1) if len(parts) > 1 else parts[0]
    sketch.at = at
    return value
