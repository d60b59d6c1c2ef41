"""A scan with values: each row of a sample decays the state that the row before left, adds to it, and reads it.

Residues of a prime are exact; a power of a base stands for e, as in statistics.py.
"""

from __future__ import annotations

import numpy as np

from simulator.execution.count.layer_facts import state_of
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.held import deliver
from simulator.execution.layer.common.problem import Problem, Values
from simulator.execution.layer.common.statistics import POWERS, PRIME
from simulator.technology import SUM_BYTES


def run_scan(problem: Problem, chip: Chip, output: Values) -> None:
    """Run samples, one after the other, and rows, in order."""
    layer, size, weights = problem.layer, state_of(problem.layer)[0], problem.weights.size
    room = size * SUM_BYTES * chip.rounded(layer.channels)
    chip.weights.take("weights", weights)
    chip.load_weights(weights)
    chip.activations.take("state", room)
    for sample in range(problem.batch):
        state = np.zeros((layer.channels, size), dtype=np.int64)
        for row in range(layer.height):
            if row:  # the first reads none
                chip.copy(2 * SUM_BYTES * state.size)
            parts = {u: each[sample, :, row, 0] for u, each in problem.maps.items()}
            for u, part in parts.items():
                chip.global_buffer += part.size
                if u not in problem.on_chip:
                    chip.load_input(part.size)
                    chip.activations.hold(f"row {u}", chip.rounded(part.size))
            chip.weight_buffer += weights
            state, found = advanced(state, [parts[u] for u in problem.ids], problem.weights)
            chip.hold_results(chip.rounded(layer.channels))
            where = (sample, sample + 1), (0, layer.channels), (row, row + 1), (0, 1)
            deliver(chip, output, [range(*each) for each in where], found[None, :, None, None])
    chip.activations.give("state", room)
    chip.weights.give("weights", weights)


def advanced(state: Values, row: list[Values], weights: Values) -> tuple[Values, Values]:
    """Return the state after a row, channels x numbers, and what the row makes of it.

    row: u, gates, b and c; each of them, and the weights, is one for each channel and number, or for heads of them.

    Examples
    --------
    Two channels with a state of one number, which neither gates nor weights let decay; then 2 x 5 and 3 x 5 are added.

    >>> state, found = advanced(np.array([[1], [2]]), [np.array(each) for each in ([2, 3], [5], [7])], np.zeros(0))
    >>> state.tolist(), found.tolist()
    ([[11], [17]], [77, 119])
    """
    (u, *gates, b, c), (channels, size) = row, state.shape
    exponent = np.zeros(state.shape, dtype=np.int64) if not gates and not weights.size else np.ones_like(state)
    for each in [*gates, *([weights] if weights.size else [])]:
        exponent = exponent * _spread(each, channels, size) % len(POWERS)
    added = u[:, None] * _of_heads(b, channels, size)
    state = (POWERS[exponent] * state + added) % PRIME
    return state, (state * _of_heads(c, channels, size)).sum(axis=1) % PRIME


def _spread(values: Values, channels: int, size: int) -> Values:
    """Return one number for each channel and number of a state."""
    if channels % len(values) == 0:
        return values.repeat(channels // len(values))[:, None]
    return _of_heads(values, channels, size)


def _of_heads(values: Values, channels: int, size: int) -> Values:
    heads = values.reshape(-1, size)
    return heads.repeat(channels // len(heads), axis=0)


def scanned(problem: Problem) -> Values:
    """Return the output of a scan, computed directly from whole maps."""
    layer, shape = problem.layer, (problem.layer.channels, state_of(problem.layer)[0])
    output = np.zeros((problem.batch, layer.channels, layer.height, 1), dtype=np.int64)
    for sample in range(problem.batch):
        state = np.zeros(shape, dtype=np.int64)
        for row in range(layer.height):
            inputs = [problem.maps[u][sample, :, row, 0] for u in problem.ids]
            state, output[sample, :, row, 0] = advanced(state, inputs, problem.weights)
    return output
