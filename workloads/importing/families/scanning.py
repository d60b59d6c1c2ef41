"""Scans: one layer for all rows, from the sequences that it reads and the weights of its decays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from workloads.importing.sketch import Sketch
from workloads.importing.values import Value
from workloads.importing.views import CHANNELS, full
from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.state import State


def scan(sketch: Sketch, inputs: Sequence[Value], numbers: int, weights: Value | None) -> Value:
    """Return what a state of so many numbers for each channel makes of u, gates, b and c: [batch, rows, channels].

    Sequences of a batch follow each other.
    """
    at, parts = sketch.at, []
    for i, each in enumerate(inputs):
        sketch.at = f"{at}.{i}"
        parts.append(sketch.conform(sketch.fed(each) if each.is_constant else each, (0, 1)))
    sketch.at = at
    names = tuple(each.source or "" for each in parts)
    height, width, channels = sketch.map_of(parts[0])
    state = State(numbers, 0 if weights is None else prod(weights.shape))
    total = sum(each.shape[-1] for each in parts)
    name = sketch.dense(Layer("", "scan", names, height, width, channels, total, state=state), weights)
    sketch.notes.append(Note(at, "scan", "scan"))
    return Value(inputs[0].shape, name, (*parts[0].dims[:-1], full(CHANNELS, channels)))
