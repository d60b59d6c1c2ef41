"""A scan with values: each row of a sample decays the state that the row before left, adds to it, and reads it.

Channels run in blocks, each through all rows of all samples, with no more than its own numbers.

Residues of a prime are exact; a power of a base stands for e, as in statistics.py.
"""

from __future__ import annotations

import numpy as np

from simulator.execution.count.layer_facts import apiece, of_own_channels, state_of
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.held import LOST, deliver
from simulator.execution.layer.common.plan import LayerPlan, cuts
from simulator.execution.layer.common.problem import Problem, Values
from simulator.execution.layer.common.statistics import POWERS, PRIME
from simulator.technology import SUM_BYTES


def run_scan(
    problem: Problem, chip: Chip, plan: LayerPlan, output: Values, place: tuple[int, int] | None = None
) -> None:
    """Run blocks of channels; samples, one after the other; rows, in order. place: begins with where results lie."""
    layer, of_each, each_own = problem.layer, apiece(problem.layer), of_own_channels(problem.network, problem.v)
    for block in cuts(layer.channels, plan.apart):
        part = range(block.start * of_each, block.stop * of_each) if of_each else range(problem.weights.size)
        if of_each or block.start == 0:  # what heads share stays
            chip.weights.take("weights", len(part))
            chip.load_weights(len(part))
        weights = _only(problem.weights, part)
        room = state_of(layer)[0] * SUM_BYTES * chip.rounded(len(block))
        chip.activations.take("state", room)
        for sample in range(problem.batch):
            state = np.zeros((len(block), state_of(layer)[0]), dtype=np.int64)
            for row in range(layer.height):
                if row:  # the first reads none
                    chip.copy(2 * SUM_BYTES * state.size)
                parts = {u: each[sample, :, row, 0] for u, each in problem.maps.items()}
                for u, values in parts.items():
                    mine = block if u in each_own else range(len(values))
                    chip.global_buffer += len(mine)
                    if u not in problem.on_chip:
                        chip.load_input(len(mine))
                        chip.activations.hold(f"row {u}", chip.rounded(len(mine)))
                    parts[u] = _only(values, mine)
                chip.weight_buffer += len(part)
                state, found = advanced(state, [parts[u] for u in problem.ids], weights, block)
                chip.hold_results(chip.rounded(len(block)))
                where = (sample, sample + 1), (block.start, block.stop), (row, row + 1), (0, 1)
                deliver(chip, output, [range(*each) for each in where], found[None, :, None, None])
                if place is not None:
                    problem.maps[place[0]][sample, block.start : block.stop, row, 0] = found
        chip.activations.give("state", room)
        if of_each or block.stop == layer.channels:
            chip.weights.give("weights", len(part))


def _only(values: Values, part: range) -> Values:
    """Return these of some numbers, where they are; the others are lost."""
    found = np.full_like(values, LOST)
    found[part.start : part.stop] = values[part.start : part.stop]
    return found


def advanced(state: Values, row: list[Values], weights: Values, block: range) -> tuple[Values, Values]:
    """Return the state of a block of channels after a row, channels x numbers, and what the row makes of it.

    row: u, gates, b and c; each of them, and the weights, is one for each channel and number, or for heads of them.

    Examples
    --------
    Two channels with a state of one number, which neither gates nor weights let decay; then 2 x 5 and 3 x 5 are added.

    >>> row = [np.array(each) for each in ([2, 3], [5], [7])]
    >>> state, found = advanced(np.array([[1], [2]]), row, np.zeros(0), range(2))
    >>> state.tolist(), found.tolist()
    ([[11], [17]], [77, 119])
    """
    (u, *gates, b, c), channels, size, own = row, len(row[0]), state.shape[1], slice(block.start, block.stop)
    exponent = np.zeros(state.shape, dtype=np.int64) if not gates and not weights.size else np.ones_like(state)
    for each in [*gates, *([weights] if weights.size else [])]:
        exponent = exponent * _spread(each, channels, size)[own] % len(POWERS)
    state = (POWERS[exponent] * state + u[own, None] * _of_heads(b, channels, size)[own]) % PRIME
    return state, (state * _of_heads(c, channels, size)[own]).sum(axis=1) % PRIME


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
            state, output[sample, :, row, 0] = advanced(state, inputs, problem.weights, range(layer.channels))
    return output
