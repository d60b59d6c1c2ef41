"""An attention in blocks, with values: keys and values are loaded, read while they are there, and dropped."""

from __future__ import annotations

import numpy as np

from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import rows_within
from simulator.execution.layer.common.held import Map, at, deliver, sweep
from simulator.execution.layer.common.plan import LayerPlan, key_blocks
from simulator.execution.layer.common.problem import Problem, Values, seen_keys
from simulator.execution.layer.value.running import RESIDUES, Numbers, begun, finished, together
from simulator.technology import SUM_BYTES


def run_attention(problem: Problem, chip: Chip, plan: LayerPlan, output: Values, numbers: Numbers = RESIDUES) -> None:
    """Run samples, and heads, one after the other. TB: tiles; blocks."""
    layer, query = problem.layer, problem.ids[0]
    width, made = layer.in_channels // layer.groups, layer.channels // layer.groups
    blocks = key_blocks(layer, plan)
    for sample in range(problem.batch):
        for head in range(layer.groups):
            queries = problem.maps[query][sample : sample + 1, head * width : (head + 1) * width]
            coming = 0 if query in problem.on_chip else width
            source = Map(chip, queries, problem.seen, chip.rounded(coming), coming)
            pair = _Pair(problem, chip, sample, head, is_single=all(len(each) == 1 for each in blocks.values()))
            for down, across in sweep(problem.windows, plan.tile, plan.mode, source):
                found = _one_tile(problem, chip, source, pair, blocks[down], (down, across), numbers)
                where = range(sample, sample + 1), range(head * made, (head + 1) * made), down, across
                deliver(chip, output, where, found.T.reshape(1, made, len(down), len(across)))
                if not pair.is_single:
                    pair.clear()
            source.clear()
            pair.clear()


def _one_tile(
    problem: Problem, chip: Chip, source: Map, pair: _Pair, blocks: list[range], tile: tuple[range, range],
    numbers: Numbers,
) -> Values:  # fmt: skip
    """Return the outputs of a tile of queries: rows x channels of a head."""
    (down, across), need, running = tile, problem.windows.area(*tile), None
    area, made = len(down) * len(across), problem.layer.channels // problem.layer.groups
    sums = area * SUM_BYTES * (made + 2)
    if pair.is_single:
        chip.hold_results(area * chip.rounded(made))
    else:
        chip.activations.hold("sums", area * SUM_BYTES * (chip.rounded(made) + 2))
    for i, block in enumerate(blocks):
        pair.bring(block)
        queries = source.read(need)[0][:, at(down, across)[0], at(down, across)[1]].reshape(len(source.values[0]), -1)
        keys, values = pair.read(block)
        scores = numbers.score(queries.T @ keys)
        chip.activations.hold("scores", area * chip.rounded(len(block)))
        chip.copy(2 * scores.size)
        chip.global_buffer += sums * (i > 0)
        chip.rescalings += area * (made + 1) * (i > 0)
        chip.write(sums * (i < len(blocks) - 1))
        part = begun(numbers, scores, values.T, seen_keys(problem.layer, down, block))
        running = part if running is None else together(numbers, running, part)
    assert running is not None
    return finished(numbers, running)


class _Pair:
    """Keys and values of a head of one sample, of which a span of positions is on chip.

    is_single: every tile has one block, and what the next one needs of it stays.
    """

    def __init__(self, problem: Problem, chip: Chip, sample: int, head: int, is_single: bool) -> None:
        self.chip, self.there, self.count, self.is_single = chip, problem.there, problem.layer.keys, is_single
        self.keys, self.values = (problem.rows_of(place, sample, head) for place in (1, 2))
        self.is_there = rows_within(self.there, range(2 * self.count)) == 2 * self.count
        self.held: range | None = None

    def has(self, span: range) -> bool:
        """Return whether these positions are on chip."""
        return self.held == span

    def bring(self, span: range) -> None:
        """Make these positions the ones that are there: drop others, and load those that are not there yet."""
        if self.has(span):
            return
        stays = range(0) if self.held is None or not self.is_single else self.held[:]
        stays = range(max(span.start, stays.start), min(span.stop, stays.stop))
        self.drop(stays)
        for each in (range(span.start, stays.start), range(stays.stop, span.stop)) if stays else (span,):
            self.load(each)
        self.held = span

    def load(self, span: range) -> None:
        """Load positions, except rows that are there already."""
        for below, rows in ((0, self.keys), (self.count, self.values)):
            there = rows_within(self.there, range(below + span.start, below + span.stop))
            self.chip.load_second((len(span) - there) * len(rows))
            if not self.is_there:
                self.chip.activations.take(f"rows {below}", len(span) * self.chip.rounded(len(rows)))

    def read(self, span: range) -> tuple[Values, Values]:
        """Return channels x positions of the keys and of the values; raises Miss if they are not there."""
        if not self.has(span):
            raise Miss(f"keys and values {span.start} to {span.stop} are not in their buffer")
        found = [rows[:, span.start : span.stop] for rows in (self.keys, self.values)]
        self.chip.global_buffer += sum(each.size for each in found)
        return found[0], found[1]

    def drop(self, stays: range) -> None:
        """Drop what is there, except for these positions."""
        for below, rows in ((0, self.keys), (self.count, self.values)):
            kept = 0 if self.is_there else len(stays) * self.chip.rounded(len(rows))
            self.chip.activations.give(f"rows {below}", self.chip.activations.used[f"rows {below}"] - kept)

    def clear(self) -> None:
        """Drop all."""
        self.drop(range(0))
        self.held = None


def attended(problem: Problem, numbers: Numbers = RESIDUES) -> Values:
    """Return the output of an attention, computing each row of a head from all its scores at once."""
    layer, query = problem.layer, problem.maps[problem.ids[0]]
    width, heads = layer.in_channels // layer.groups, []
    for head in range(layer.groups):
        samples = []
        for sample in range(problem.batch):
            rows = query[sample, head * width : (head + 1) * width].reshape(width, -1)
            keys, values = (problem.rows_of(place, sample, head) for place in (1, 2))
            scores, seen = numbers.score(rows.T @ keys), seen_keys(layer, range(layer.height))
            most = np.where(seen, scores, scores.min()).max(axis=1, keepdims=True)
            powers = np.where(seen, numbers.power(np.maximum(most - scores, 0)), 0)
            total = numbers.reduce(powers.sum(axis=1, keepdims=True))
            found = numbers.divide(numbers.reduce(powers @ values.T), total)
            samples.append(found.T.reshape(-1, layer.height, layer.width))
        heads.append(np.stack(samples))
    return np.concatenate(heads, axis=1)
