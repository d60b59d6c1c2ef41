"""The loops of a convolution or a product of two activations, step by step: what the counting run counts in all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise, product
from typing import NamedTuple

from simulator.execution.count.layer_facts import row_bytes
from simulator.execution.layer.common.plan import cuts
from simulator.execution.layer.common.sweeps import Lines, Sweep, first_rows
from simulator.execution.layer.common.windows import masks, union
from simulator.execution.layer.counted.dense import Run
from simulator.execution.layer.value.dense import slices_of_words
from simulator.execution.timed.meter import Meter, Step, follow


class Tile(NamedTuple):
    """Outputs of a tile, and the positions that come for it."""

    rows: int
    columns: int
    loads: int


def tiles_of(lines: Lines, tile: tuple[int, int], mode: str, stays: int = 0) -> list[Tile]:
    """Return the tiles of a sweep in their order; stays: rows that are there, one bit for each.

    Of an input that stays whole, each tile needs what no tile before it did.

    Examples
    --------
    >>> from simulator.execution.layer.common.windows import Line
    >>> axis = Line(8, 8, taps=3, padding=1)
    >>> tiles_of((axis, axis), (4, 8), "ring")
    [Tile(rows=4, columns=8, loads=40), Tile(rows=4, columns=8, loads=24)]
    """
    met = [masks(line, size) for line, size in zip(lines, tile)]
    down, across = (new_rows(each) for each in met)
    if mode in ("rows", "slide", "block", "block-row"):
        down = list(met[0])
    if mode in ("block", "block-row"):
        across = list(met[1])
    made = [[len(each) for each in cuts(line.outputs, size)] for line, size in zip(lines, tile)]
    return [
        Tile(rows, columns, (a & ~stays).bit_count() * b.bit_count())
        for (rows, a), (columns, b) in product(zip(made[0], down), zip(made[1], across))
    ]


def new_rows(needs: Sequence[int]) -> list[int]:
    """Return for each tile the rows that none before it needs."""
    found, seen = [], 0
    for need in needs:
        found.append(need & ~seen)
        seen |= need
    return found


class Dense:
    """The steps of a part."""

    def __init__(self, run: Run, meter: Meter, most_slices: int = 0) -> None:
        self.run, self.meter, self.plan = run, meter, run.plan
        self.every = range(run.inputs)
        self.tiles = tiles_of(run.lines, self.plan.tile, self.plan.mode)
        self.chunks = cuts(run.outputs, self.plan.chunk)
        self.rounds = [len(each) for each in cuts(run.samples, self.plan.at_once)]
        self.slices = slices_of_words(list(run.words), meter.word, self.plan.slice)
        self.most_slices = max(most_slices, len(self.slices))  #: of any group

    def empty(self, count: int) -> Iterator[Step]:
        """Yield steps in which nothing is done."""
        return (self.meter.step(0) for _ in range(count))

    def bring(self, samples: int, positions: int, words: tuple[int, ...] | None = None) -> None:
        """Load positions of the input."""
        self.run.bring(Sweep(0, positions, 0, 0, positions), samples, 1, words)

    def load(self, outputs: range, inputs: range | None = None) -> None:
        """Load weights, or a part of the second operand."""
        self.run.load(outputs, self.every if inputs is None else inputs, 1)

    def make(self, samples: int, tile: Tile, outputs: range, inputs: range | None = None, done: bool = True) -> Step:
        """Compute a chunk of a tile, or add a slice of the inputs to it, and return the step."""
        positions = samples * tile.rows * tile.columns
        if done:
            self.store(positions, outputs)
        return self.meter.step(positions * len(outputs) * len(self.every if inputs is None else inputs))

    def store(self, positions: int, outputs: range) -> None:
        """Store results of a chunk; where a norm follows, or the next row, those of all chunks with the last."""
        numbers, chip, count = self.run.numbers, self.meter, len(outputs)
        if numbers.following is not None:
            follow(numbers.following, chip, positions, count)
        if numbers.layer.op == "recurrent" or (numbers.following is not None and numbers.following.is_mixed):
            count = self.run.outputs if outputs.stop == self.run.outputs else 0
        chip.hold_results(positions * chip.rounded(count, numbers.output))
        chip.store(positions * count, positions * row_bytes(count, numbers.output))


def tiles_chunks(part: Dense) -> Iterator[Step]:
    """TK, TP: tiles; chunks. The weights of some outputs stay; in TK all, if there is one chunk."""
    outputs, size = part.run.outputs, part.plan.chunk
    kept = min(part.plan.kept, outputs) if part.plan.order == "TP" else outputs * (size >= outputs)
    chunks = cuts(kept, size) + [range(kept + each.start, kept + each.stop) for each in cuts(outputs - kept, size)]
    if kept:
        part.load(range(kept))
        part.meter.stay()
    for samples in part.rounds:
        for tile in part.tiles:
            part.bring(samples, tile.loads)
            for chunk in chunks:
                if chunk.start >= kept:
                    part.load(chunk)
                yield part.make(samples, tile, chunk)


def chunks_tiles(part: Dense) -> Iterator[Step]:
    """KT: chunks; samples; tiles. KS: the same with the input whole. KP: the first rows stay over the chunks."""
    again = part.tiles
    if part.plan.order == "KP":
        stays = first_rows(union(masks(part.run.lines[0], 1)), part.plan.kept)
        again = tiles_of(part.run.lines, part.plan.tile, part.plan.mode, stays)
    for i, chunk in enumerate(part.chunks):
        part.load(chunk)
        for samples in part.rounds:
            part.meter.turn += part.plan.order == "KS"
            for tile in again if i else part.tiles:
                part.bring(samples, tile.loads)
                yield part.make(samples, tile, chunk)


def whole_chunks(part: Dense) -> Iterator[Step]:
    """WK: samples; the input whole; chunks; tiles."""
    for n, samples in enumerate(part.rounds):
        part.meter.turn += 1
        for i, chunk in enumerate(part.chunks):
            if not n or len(part.chunks) > 1:
                part.load(chunk)
            for tile in part.tiles:
                part.bring(samples, 0 if i else tile.loads)
                yield part.make(samples, tile, chunk)


def tiles_slices(part: Dense) -> Iterator[Step]:
    """TKC: tiles; chunks; slices of the inputs."""
    slices = cuts(part.run.inputs, part.plan.slice)
    for samples in part.rounds:
        for tile in part.tiles:
            part.bring(samples, tile.loads)
            for chunk in part.chunks:
                for inputs in slices:
                    part.load(chunk, inputs)
                    yield part.make(samples, tile, chunk, inputs, inputs is slices[-1])


def block_slices(part: Dense) -> Iterator[Step]:
    """BC: blocks; chunks; slices of the inputs; rows of a block, if they come one by one; inner chunks.

    Where a block, a chunk or a group has fewer turns than others, the rest are empty.
    """
    run, plan, is_by_row = part.run, part.plan, part.plan.mode == "block-row"
    slices, (lines, across) = part.slices, (run.lines[0], masks(run.lines[1], plan.tile[1]))
    single, ends = masks(lines, 1), [*accumulate(run.words, initial=0)]
    turns = min(plan.tile[0], lines.outputs) if is_by_row else 1
    pieces = len(cuts(min(plan.chunk, run.outputs), plan.inner))
    blocks = product(cuts(lines.outputs, plan.tile[0]), zip(cuts(run.lines[1].outputs, plan.tile[1]), across))
    for samples, (down, (columns, met)) in product(part.rounds, blocks):
        bands = [[each] for each in down] if is_by_row else [list(down)]
        coming = new_rows([union(single[row] for row in band) for band in bands])
        for chunk, inputs in product(part.chunks, slices):
            words = tuple(max(0, min(b, inputs.stop) - max(a, inputs.start)) for a, b in pairwise(ends))
            inner = [range(chunk.start + each.start, chunk.start + each.stop) for each in cuts(len(chunk), plan.inner)]
            for i, (band, rows) in enumerate(zip(bands, coming)):
                part.bring(samples, rows.bit_count() * met.bit_count(), words)
                for outputs in inner:
                    if not i:
                        part.load(outputs, inputs)
                    if (inputs, band, outputs) == (slices[-1], bands[-1], inner[-1]):
                        part.store(samples * len(down) * len(columns), chunk)
                    yield part.make(samples, Tile(len(band), len(columns), 0), outputs, inputs, False)
                yield from part.empty(pieces - len(inner))
            yield from part.empty((turns - len(bands)) * pieces)
            if inputs == slices[-1]:
                yield from part.empty((part.most_slices - len(slices)) * turns * pieces)


ORDERS: dict[str, Callable[[Dense], Iterator[Step]]] = {
    "TK": tiles_chunks,
    "TP": tiles_chunks,
    "KT": chunks_tiles,
    "KS": chunks_tiles,
    "KP": chunks_tiles,
    "WK": whole_chunks,
    "TKC": tiles_slices,
    "BC": block_slices,
}
