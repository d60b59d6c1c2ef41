"""What the loops of a layer that reduces over channels move, step by step (model/layer/orders.py has the orders).

Groups of a convolution, or heads of samples, are the parts, which run one after the other. Innermost are slices of the
inputs, rows of a block and inner chunks, if an order has them.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from simulator.integers import row_bytes
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import LoopPlan
from simulator.timing.layer.followed import followed
from simulator.timing.layer.nest import Moves, Nest, Sizes, Term
from simulator.timing.layer.passes import block_rows, fetched, pieces, tiles_pass

TILES = ("rounds", "rows", "columns")  #: rounds of samples, rows and columns of tiles
LOOPS: dict[str, tuple[str, ...]] = {
    "TK": (*TILES, "chunks"),
    "TP": (*TILES, "chunks"),
    "TKC": (*TILES, "chunks"),
    "BC": (*TILES, "chunks"),
    "KT": ("chunks", *TILES),
    "KS": ("chunks", *TILES),
    "KP": ("chunks", *TILES),
    "WK": ("rounds", "chunks", "rows", "columns"),
}  #: from the outermost, inside the parts
WITHIN = ("slices", "bands", "inner")


class Cuts:
    """The steps of the loops of a part, and their sizes."""

    def __init__(self, layer: LoopLayer, plan: LoopPlan) -> None:
        part, kept = layer.part, plan.kept if plan.order == "TP" else 0
        self.parts = layer.repeat * layer.outputs // part.outputs
        self.rounds = pieces(layer.batch, plan.at_once)
        self.rows, self.columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
        self.chunks = pieces(kept, plan.chunk) + pieces(part.outputs - kept, plan.chunk)
        self.slices, self.slice_bytes, self.slice_rooms = _slices(layer, plan)
        self.bands = block_rows(layer.rows, plan.tile[0]) if plan.mode == "block-row" else [1]
        self.inner = pieces(plan.chunk, plan.inner) if plan.order == "BC" else [1]

    def nest(self, order: str) -> Nest:
        """Return the loops of an order."""
        steps = {
            "parts": self.parts, "rounds": len(self.rounds), "rows": len(self.rows.met),
            "columns": len(self.columns.met), "chunks": len(self.chunks), "slices": len(self.slices),
            "bands": len(self.bands), "inner": len(self.inner),
        }  # fmt: skip
        return Nest({name: steps[name] for name in ("parts", *LOOPS[order], *WITHIN)})


def dense_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """Return what the loops of a convolution or of a product of two activations move."""
    cuts = Cuts(layer, plan)
    nest = cuts.nest(plan.order)
    channels = layer.loaded * layer.part.outputs // layer.outputs
    inputs = _inputs(plan, cuts, nest, channels, cuts.slice_bytes) if layer.loaded else []
    ahead = _inputs(plan, cuts, nest, layer.part.room, cuts.slice_rooms) if layer.loaded else []
    if plan.order == "WK" and cuts.parts * len(cuts.rounds) == 1:
        ahead = []  # the input whole has its room, and no other follows it
    weights = [] if layer.has_second else _stationary(layer, plan, cuts, nest, *_coming(layer, cuts, is_room=False))
    if layer.is_product and not layer.has_second:
        ahead = ahead + _stationary(layer, plan, cuts, nest, *_coming(layer, cuts, is_room=True))
    if layer.is_product:
        inputs, weights = inputs + weights, []
    made: dict[str, Sizes] = {"rounds": cuts.rounds, "rows": cuts.rows.outputs, "columns": cuts.columns.outputs}
    work = nest.term({**made, "chunks": cuts.chunks, "slices": cuts.slices, "inner": cuts.inner})
    end: dict[str, Sizes] = made | dict.fromkeys(WITHIN, "last")
    results = [row_bytes(each, layer.bits.output) for each in cuts.chunks]
    leaving = [results_of(layer, each) for each in cuts.chunks]
    if layer.epilogue.by_position:  # results leave with those of the last chunk
        results, leaving = ([0] * (len(each) - 1) + [sum(each)] for each in (results, leaving))
    outputs, behind = ([nest.term(end | {"chunks": each})] * layer.stays.is_written for each in (results, leaving))
    gates, rooms, passing, left = followed(layer, lambda each: nest.term(end | {"chunks": each}), cuts.chunks)
    start: dict[str, Sizes] = dict.fromkeys(nest.steps, "first")
    inputs += [nest.term(start, gates), *passing]
    return Moves(
        nest, inputs, weights, outputs + left, [work], [*ahead, nest.term(start, rooms), *passing], behind + left
    )


def _coming(layer: LoopLayer, cuts: Cuts, is_room: bool) -> tuple[list[int], list[int]]:
    """Return outputs of chunks and inputs of slices; of a second operand rows that are not on chip, and their bytes.

    is_room: what they take in a buffer, which has room for all rows.
    """
    if not layer.is_product:
        return cuts.chunks, cuts.slices
    rows, channels = (cuts.chunks, cuts.slices) if layer.kind == "transposed" else (cuts.slices, cuts.chunks)
    if is_room:
        left, sizes = rows, [round_up(layer, each) for each in channels]
    else:
        stay, ends = layer.stays.second_rows, pairwise(accumulate(rows, initial=0))
        left = [last - first - sum(max(0, min(last, b) - max(first, a)) for a, b in stay) for first, last in ends]
        sizes = channels
    sizes = [row_bytes(each, layer.bits.weights) for each in sizes]
    return (left, sizes) if layer.kind == "transposed" else (sizes, left)


def _slices(layer: LoopLayer, plan: LoopPlan) -> tuple[list[int], list[int], list[int]]:
    """Return the inputs of each slice, bytes of a position and what these take; a single slice if an order has none.

    BC cuts between words, each of one operand; of a group of several operands as if it were one.
    """
    part, word = layer.part, layer.word
    if plan.order == "TKC":
        return pieces(part.reduction, plan.slice), [], []
    if plan.order != "BC":
        return [part.reduction], [], []
    operands = [(layer.producers[i], layer.producer_bits[i], layer.passing[i] > 0) for i in layer.operands]
    if layer.is_product or part.outputs < layer.outputs:
        operands = [(part.reduction, layer.most_bits, layer.loaded > 0)]
    words = [
        (each, row_bytes(each, bits) * comes, row_bytes(word, bits) * comes)
        for channels, bits, comes in operands
        for each in pieces(channels, word)
    ]
    most = max(1, plan.slice // word)
    cut = [words[first : first + most] for first in range(0, len(words), most)]
    counts, sizes, rooms = ([sum(each) for each in of] for of in zip(*(zip(*each) for each in cut)))
    return counts, sizes, rooms


def _inputs(plan: LoopPlan, cuts: Cuts, nest: Nest, channels: int, slices: list[int]) -> list[Term]:
    """Return what tiles load of this many channels, or of those of a slice: bytes moved, or taken on chip."""
    rows, columns = fetched(plan.mode, cuts.rows, cuts.columns)
    sizes: dict[str, Sizes] = {"rounds": cuts.rounds, "rows": rows, "columns": columns}
    if plan.order == "BC":
        sliced: dict[str, Sizes] = {"slices": slices, "bands": cuts.bands, "inner": "first"}
        return [nest.term(sizes | sliced, 1, sum(cuts.bands))]
    if plan.order == "KP":
        first = [1] + [0] * (len(cuts.chunks) - 1)
        again = sizes | {"rows": _after(plan.kept, rows), "chunks": [1 - each for each in first]}
        return [nest.term(sizes | {"chunks": first}, channels), nest.term(again, channels)]
    if plan.order in ("KT", "KS"):
        return [nest.term(sizes, channels)]
    return [nest.term(sizes | {"chunks": "first", "slices": "first"}, channels)]


def _stationary(
    layer: LoopLayer, plan: LoopPlan, cuts: Cuts, nest: Nest, chunks: list[int], slices: list[int]
) -> list[Term]:
    """Return what is loaded of the weights or second operand, by outputs of a chunk and inputs of a slice."""
    order, taps = plan.order, layer.rows.taps * layer.columns.taps
    sizes: dict[str, Sizes] = {"chunks": chunks, "slices": slices, "bands": "first", "inner": cuts.inner}
    over, tile = sum(cuts.inner), dict[str, Sizes](rows="first", columns="first")
    once: dict[str, Sizes] = tile | {"rounds": "first"}
    if order == "TP":
        stay = len(pieces(plan.kept, plan.chunk))
        held = nest.term(sizes | once | {"chunks": "first"}, taps * sum(chunks[:stay]))
        return [held, nest.term(sizes | {"chunks": [0] * stay + chunks[stay:]}, taps)]
    if order in ("KT", "KS", "KP") or (order in ("TK", "WK") and len(chunks) == 1):
        return [nest.term(sizes | once, taps)]
    return [nest.term(sizes | (tile if order == "WK" else {}), taps, over)]


def _after(kept: int, rows: tuple[int, ...]) -> list[int]:
    """Return how many of its rows each tile loads again if the first `kept` rows stay."""
    found = []
    for count in rows:
        found.append(max(0, count - kept))
        kept = max(0, kept - count)
    return found
