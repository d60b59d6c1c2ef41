"""Counts convolutions and products of two activations: equal steps of a loop run once for each length.

What one sweep over the tiles moves is executed on sets of rows and columns (sweeps.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from itertools import accumulate, pairwise

from simulator.execution.count.layer_facts import bits_of, loaded_bytes, output_bits, row_bytes
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import Rows, rows_within
from simulator.execution.layer.common.following import Following
from simulator.execution.layer.common.plan import Kind, LayerPlan, cuts, kind_of, pieces
from simulator.execution.layer.common.sweeps import Lines, Sweep, sweep, sweep_with_rows
from simulator.execution.layer.common.windows import lines_of
from simulator.execution.layer.counted.epilogue import count_following
from simulator.execution.layer.value.dense import slices_of_words
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


def count_dense(
    network: Network,
    v: int,
    chip: Chip,
    plan: LayerPlan,
    batch: int,
    on_chip: Set[int],
    there: Rows = (),
    kind: Kind | None = None,
    following: Following | None = None,
) -> None:
    """Count groups, or heads of all samples, one after the other; equal ones run once.

    there: the rows of a product's second operand that are on chip. kind: for a part whose shape alone does not tell it.
    """
    for run, times in runs_of(network, v, chip, plan, batch, on_chip, there, kind, following):
        ORDERS[plan.order](run)
        chip.add(run.chip, times)


def runs_of(
    network: Network,
    v: int,
    chip: Chip,
    plan: LayerPlan,
    batch: int,
    on_chip: Set[int],
    there: Rows,
    kind: Kind | None,
    following: Following | None,
) -> Iterator[tuple[Run, int]]:
    """Yield the groups, or heads of samples, each on a chip of its own, and the number of those like it."""
    layer, lines = network.layers[v], lines_of(network, v)
    kind = kind or kind_of(network, v)
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    if kind == "dense":
        times, samples, words = 1, batch, words_of(network, v, plan, on_chip)
    else:
        first = network.operands[v][0]
        times, samples = layer.groups * batch, 1
        words = [((inputs, first not in on_chip, bits_of(network, first)),)]
    taps = layer.kernel[0] * layer.kernel[1]
    bits = layer.bits.weights if kind == "dense" else bits_of(network, network.operands[v][1])
    numbers = Numbers(layer, bits, following)
    for each, count in Counter(words).items():
        one, (channels, comes, widths) = chip.like(), zip(*each)
        run = Run(one, plan, lines, kind, channels, comes, widths, there, outputs, inputs, taps, samples, numbers)
        yield run, count * times


def words_of(network: Network, v: int, plan: LayerPlan, on_chip: Set[int]) -> list[tuple[tuple[int, bool, int], ...]]:
    """Return (channels, whether they come from DRAM, bits) of each input that a group reads.

    A repeated input is read once, except by groups and slices.
    """
    layer, ids = network.layers[v], network.operands[v]
    if layer.groups == 1:
        ids = ids if plan.order == "BC" else tuple(dict.fromkeys(ids))
        return [tuple((network.tensors[u].channels, u not in on_chip, bits_of(network, u)) for u in ids)]
    size = layer.in_channels // layer.groups
    ends = list(accumulate((network.tensors[u].channels for u in ids), initial=0))
    overlaps = ([min(b, i + size) - max(a, i) for a, b in pairwise(ends)] for i in range(0, ends[-1], size))
    return [
        tuple((channels, u not in on_chip, bits_of(network, u)) for channels, u in zip(each, ids) if channels > 0)
        for each in overlaps
    ]


@dataclass(frozen=True)
class Numbers:
    """The sizes of a layer's numbers: its weights or second operand, results and sums."""

    layer: Layer
    bits: int  #: of weights, or of the second operand
    following: Following | None = None

    @property
    def output(self) -> int:
        """Bits of a result."""
        return output_bits(self.layer if self.following is None else self.following.network.layers[self.following.last])

    def results(self, channels: int, all_channels: int) -> tuple[int, int]:
        """Return the channels, and the bits of each, that lie in the region of results while these are made."""
        if self.following is None:
            return all_channels if self.layer.op == "recurrent" else channels, self.output
        return all_channels if self.following.is_mixed else channels, self.following.bits

    @property
    def sum_bytes(self) -> int:
        """Bytes of a running sum."""
        return -(-self.layer.bits.sums // 8)

    def weights(self, elements: int) -> int:
        """Return the bytes of this many weights, including those of the other experts in use."""
        return loaded_bytes(self.layer, elements, self.bits)


@dataclass(frozen=True)
class Run:
    """A group of a convolution, or a head of one sample, on a chip: the common part of the loops below."""

    chip: Chip
    plan: LayerPlan
    lines: Lines
    kind: Kind
    words: tuple[int, ...]  #: channels of each input
    comes: tuple[bool, ...]  #: whether each comes from DRAM; else it is on chip, whole
    bits: tuple[int, ...]  #: of each input
    there: Rows  #: of the second operand of a product, on chip
    outputs: int
    inputs: int  #: of its reduction
    taps: int
    samples: int
    numbers: Numbers

    @property
    def window_bytes(self) -> int:
        """Bytes of a position of all inputs."""
        return sum(map(row_bytes, self.words, self.bits))

    def sweep(self) -> Sweep:
        """Return one sweep over the tiles."""
        return sweep(self.lines, self.plan.tile, self.plan.mode)

    def rounds(self) -> Iterator[tuple[int, int]]:
        """Yield numbers of samples at once, and how often each occurs."""
        return pieces(self.samples, self.plan.at_once)

    def chunks(self, first: int = 0, last: int | None = None) -> Iterator[tuple[range, int]]:
        """Yield the outputs of a chunk and the number of chunks like it, for all outputs or from first to last."""
        return _alike(range(first, self.outputs if last is None else last), self.plan.chunk, bool(self.there))

    def bring(self, found: Sweep, samples: int, times: int, words: tuple[int, ...] | None = None) -> None:
        """Load the input of this many samples for a sweep, this many times."""
        coming = [(size, bits) for size, bits, comes in zip(words or self.words, self.bits, self.comes) if comes]
        moved = times * samples * sum(row_bytes(*each) for each in coming)
        room = samples * sum(self.chip.rounded(*each) for each in coming)
        self.chip.load_input(moved * found.loads)
        self.chip.copy(moved * found.copies)
        for region, positions in (("MAIN", found.main), ("SIDE", found.side), ("input that stays", found.stays)):
            self.chip.activations.hold(region, positions * room)

    def load(self, outputs: range, inputs: range, times: int, region: str = "weights") -> None:
        """Load weights `times` times; of a second operand what is not on chip, into room for all unless all is."""
        rows = {"transposed": self.outputs, "product": self.inputs}.get(self.kind, 0)
        if rows and rows_within(self.there, range(rows)) == rows:
            return
        if self.kind == "dense":
            size = self.numbers.weights(len(outputs) * len(inputs) * self.taps)
            self.chip.load_weights(times * size)
            self.chip.weights.hold(region, size)
            return
        span, channels = (outputs, len(inputs)) if self.kind == "transposed" else (inputs, len(outputs))
        count = len(span) - rows_within(self.there, span)
        self.chip.load_second(times * count * row_bytes(channels, self.numbers.bits))
        self.chip.activations.hold(region, len(span) * self.chip.rounded(channels, self.numbers.bits))

    def read(self, outputs: int, inputs: int, times: int) -> None:
        """Read a part of the weights, or of the second operand, this many times."""
        if self.kind == "dense":
            self.chip.weight_buffer += times * self.numbers.weights(outputs * inputs * self.taps)
            return
        count, channels = (outputs, inputs) if self.kind == "transposed" else (inputs, outputs)
        self.chip.global_buffer += times * count * row_bytes(channels, self.numbers.bits)

    def make(self, found: Sweep, samples: int, chunk: range, times: int) -> None:
        """Make a chunk of all tiles, this many times: read windows and weights, store results."""
        outputs = len(chunk)
        self.chip.global_buffer += times * samples * self.window_bytes * found.windows
        self.read(outputs, self.inputs, times * found.tiles)
        self.chip.hold_results(self.tile_bytes(samples, outputs))
        self.store(samples, outputs, times)

    def store(self, samples: int, outputs: int, times: int) -> None:
        """Write a chunk of the whole map and store it to DRAM, this many times."""
        rows, columns = self.lines
        positions = times * samples * rows.outputs * columns.outputs
        if self.numbers.following is not None:
            count_following(self.numbers.following, self.chip, positions, outputs)
        self.chip.store(positions * outputs, positions * row_bytes(outputs, self.numbers.output))

    def sums(self, samples: int, outputs: int, slices: int, times: int) -> None:
        """Hold sums of a tile; all are written in every slice but the last, and read in every one but the first."""
        each = self.numbers.sum_bytes
        self.chip.activations.hold("sums", each * self.positions * samples * self.chip.rounded(outputs))
        rows, columns = self.lines
        size = each * samples * outputs * rows.outputs * columns.outputs
        self.chip.copy(2 * times * size * (slices - 1))

    def tile_bytes(self, samples: int, outputs: int) -> int:
        """Return the bytes of the results of the largest tile."""
        return samples * self.positions * self.chip.rounded(*self.numbers.results(outputs, self.outputs))

    @property
    def positions(self) -> int:
        """Positions of the largest tile."""
        height, width = (min(size, line.outputs) for size, line in zip(self.plan.tile, self.lines))
        return height * width


def tiles_chunks(run: Run) -> None:
    """TK: tiles; chunks. Weights stay if there is one chunk."""
    _passing(run, run.sweep().tiles)


def whole_chunks(run: Run) -> None:
    """WK: samples; the input whole; chunks; tiles."""
    _passing(run, 1)


def _passing(run: Run, often: int) -> None:
    """Count chunks that pass this many times for the samples at once."""
    found, is_cut = run.sweep(), run.plan.chunk < run.outputs
    if not is_cut:
        run.load(range(run.outputs), range(run.inputs), 1)
    for samples, rounds in run.rounds():
        run.bring(found, samples, rounds)
        for outputs, times in run.chunks():
            if is_cut:
                run.load(outputs, range(run.inputs), times * rounds * often)
            run.make(found, samples, outputs, times * rounds)


def chunks_tiles(run: Run) -> None:
    """KT: chunks; samples; tiles. KS: the same with the input whole."""
    found = run.sweep()
    for outputs, times in run.chunks():
        run.load(outputs, range(run.inputs), times)
        for samples, rounds in run.rounds():
            run.bring(found, samples, rounds * times)
            run.make(found, samples, outputs, rounds * times)


def tiles_partly(run: Run) -> None:
    """TP: as TK, but the weights of some outputs stay."""
    found, kept = run.sweep(), min(run.plan.kept, run.outputs)
    run.load(range(kept), range(run.inputs), 1, "weights that stay")
    for samples, rounds in run.rounds():
        run.bring(found, samples, rounds)
        for outputs, times in run.chunks(0, kept):
            run.make(found, samples, outputs, times * rounds)
        for outputs, times in run.chunks(kept):
            run.load(outputs, range(run.inputs), times * rounds * found.tiles)
            run.make(found, samples, outputs, times * rounds)


def chunks_partly(run: Run) -> None:
    """KP: as KT, but the first input rows of all samples stay over the chunks."""
    first, again = (sweep_with_rows(run.lines, run.plan.tile, run.plan.kept, each) for each in (True, False))
    chunks = sum(times for _, times in run.chunks())
    for samples, rounds in run.rounds():
        run.bring(first, samples, rounds)
        run.bring(again, samples, rounds * (chunks - 1))
    coming = (each for *each, comes in zip(run.words, run.bits, run.comes) if comes)
    room = run.samples * sum(run.chip.rounded(*each) for each in coming)
    run.chip.activations.hold("input that stays", first.stays * room)
    for outputs, times in run.chunks():
        run.load(outputs, range(run.inputs), times)
        for samples, rounds in run.rounds():
            run.make(first, samples, outputs, rounds * times)


def tiles_slices(run: Run) -> None:
    """TKC: tiles; chunks; slices of the inputs, with sums of the tile's chunk."""
    found = run.sweep()
    slices = list(_alike(range(run.inputs), run.plan.slice, bool(run.there)))
    for samples, rounds in run.rounds():
        run.bring(found, samples, rounds)
        for outputs, times in run.chunks():
            run.chip.global_buffer += times * rounds * samples * run.window_bytes * found.windows
            for inputs, count in slices:
                steps = times * rounds * found.tiles * count
                run.load(outputs, inputs, steps)
                run.read(len(outputs), len(inputs), steps)
            run.sums(samples, len(outputs), sum(count for _, count in slices), times * rounds)
            run.store(samples, len(outputs), times * rounds)


def block_slices(run: Run) -> None:
    """BC: blocks; chunks; slices of the inputs; inner chunks, with sums of the block's chunk."""
    slices = slices_of_words(list(run.words), run.chip.word, run.plan.slice)
    for samples, rounds in run.rounds():
        for outputs, times in run.chunks():
            for inputs in slices:
                _count_slice(run, samples, outputs, inputs, times * rounds)
            run.sums(samples, len(outputs), len(slices), times * rounds)
            run.store(samples, len(outputs), times * rounds)


ORDERS: dict[str, Callable[[Run], None]] = {
    "TK": tiles_chunks,
    "KT": chunks_tiles,
    "WK": whole_chunks,
    "KS": chunks_tiles,
    "TP": tiles_partly,
    "KP": chunks_partly,
    "TKC": tiles_slices,
    "BC": block_slices,
}


def _alike(span: range, size: int, is_each: bool) -> Iterator[tuple[range, int]]:
    """Yield the steps of a loop with their multiplicity: each by itself, or the first of each length."""
    if is_each:
        yield from ((range(span.start + each.start, span.start + each.stop), 1) for each in cuts(len(span), size))
        return
    first = span.start
    for length, count in pieces(len(span), size):
        yield range(first, first + length), count
        first += length * count


def _count_slice(run: Run, samples: int, outputs: range, inputs: range, times: int) -> None:
    """Count a slice of the inputs of all blocks, with weights of one inner chunk after the other."""
    found, blocks = run.sweep(), sweep(run.lines, run.plan.tile, "block").tiles
    ends = accumulate(run.words, initial=0)
    words = tuple(max(0, min(b, inputs.stop) - max(a, inputs.start)) for a, b in pairwise(ends))
    run.bring(found, samples, times, words)
    for inner, count in _alike(outputs, run.plan.inner, bool(run.there)):
        run.load(inner, inputs, times * count * blocks)
        run.read(len(inner), len(inputs), times * count * found.tiles)
        size = sum(map(row_bytes, words, run.bits))
        run.chip.global_buffer += times * count * samples * size * found.windows
