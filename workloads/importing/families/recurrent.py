"""Recurrent layers, LSTM and GRU: their steps run in order, and a layer graph has no circles.

Our choice: each direction is a product of the input with its weights for all gates, one of the earlier state with
its own, their sum, and the cut to the new state: MACs and weights are exact, every step reads what the step before it
made, which lies in the rows above. What the gates do element by element is hidden, as activations are.
"""

from __future__ import annotations

from collections.abc import Sequence

from workloads.errors import NetworkError
from workloads.importing.families.combining import join
from workloads.importing.families.moving import concat, part
from workloads.importing.families.multiplying import linear
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value
from workloads.network.layers.layer import Note

GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def direction(sketch: Sketch, value: Value, kind: str, hidden: int, weights: Sequence[Value | None]) -> Value:
    """Return the states [..., hidden] of one direction over a sequence [..., features]."""
    if kind not in GATES:
        raise NetworkError(f"is a recurrent layer of kind {kind!r}; known are {', '.join(GATES)}")
    gates, at = GATES[kind] * hidden, sketch.at
    sketch.at = f"{at}.input"
    fed = linear(sketch, value, gates, weights[0])
    sketch.at = f"{at}.earlier"
    earlier = part(sketch, fed, fed.rank - 1, 0, hidden)
    sketch.at = f"{at}.state"
    turned = linear(sketch, earlier, gates, weights[1])
    sketch.at = f"{at}.gates"
    summed = join(sketch, "add", [fed, turned])
    sketch.at = f"{at}.output"
    found = part(sketch, summed, summed.rank - 1, 0, hidden)
    sketch.at = at
    sketch.notes.append(Note(at, kind, "recurrent"))
    return found


def stacked(
    sketch: Sketch, value: Value, kind: str, hidden: int, layers: Sequence[Sequence[Sequence[Value | None]]]
) -> Value:
    """Return the states of several layers, each of one or two directions with their pairs of weights."""
    at = sketch.at
    for i, directions in enumerate(layers):
        parts = []
        for j, weights in enumerate(directions):
            sketch.at = f"{at}.{i}" + (".back" if j else "")
            parts.append(direction(sketch, value, kind, hidden, weights))
        sketch.at = f"{at}.{i}.joined"
        value = concat(sketch, parts, value.rank - 1) if len(parts) > 1 else parts[0]
    sketch.at = at
    return value
