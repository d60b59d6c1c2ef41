"""What the loops of a layer that reduces over channels move, step by step (model/layer/orders.py has the orders).

Groups of a convolution, or heads of samples, are the parts, which run one after the other. Innermost are slices of the
inputs, rows of a block and inner chunks, if an order has them.
"""

from __future__ import annotations

from simulator.model.layer.loop_layer import LoopLayer, inputs_of, results_of, round_up
from simulator.model.layer.orders import LoopPlan
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
        self.slices, self.slice_rooms = _slices(layer, plan)
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
    nest, rounded = cuts.nest(plan.order), [round_up(layer, chunk) for chunk in cuts.chunks]
    leaving_rooms = [results_of(layer, chunk) for chunk in cuts.chunks]
    channels = layer.loaded * layer.part.outputs // layer.outputs
    inputs = _inputs(plan, cuts, nest, channels, cuts.slices) if layer.loaded else []
    ahead = _inputs(plan, cuts, nest, layer.part.room, cuts.slice_rooms) if layer.loaded else []
    if plan.order == "WK" and cuts.parts * len(cuts.rounds) == 1:
        ahead = []  # the input whole has its room, and no other follows it
    weights = _stationary(layer, plan, cuts, nest, *_coming(layer, cuts.chunks, cuts.slices))
    if layer.is_product:
        is_transposed = layer.kind == "transposed"
        rooms = (cuts.chunks, cuts.slice_rooms) if is_transposed else (rounded, cuts.slices)
        inputs, weights = inputs + ([] if layer.has_second else weights), []
        ahead = ahead + ([] if layer.has_second else _stationary(layer, plan, cuts, nest, *rooms))
    made: dict[str, Sizes] = {"rounds": cuts.rounds, "rows": cuts.rows.outputs, "columns": cuts.columns.outputs}
    work = nest.term({**made, "chunks": cuts.chunks, "slices": cuts.slices, "inner": cuts.inner})
    end: dict[str, Sizes] = made | dict.fromkeys(WITHIN, "last")
    chunks, room = end | {"chunks": cuts.chunks}, end | {"chunks": leaving_rooms}
    if not any(layer.epilogue):
        return Moves(nest, inputs, weights, [nest.term(chunks)], [work], ahead, [nest.term(room)])
    passing, size = layer.epilogue, layer.output_elements
    start: dict[str, Sizes] = dict.fromkeys(nest.steps, "first")
    first = min(passing.room, layer.batch * passing.loaded)  # operands that are broadcast, before all else
    later = layer.batch * passing.loaded - first
    inputs = [*inputs, nest.term(start, first), nest.term(chunks, later, layer.batch * size)]
    ahead = [*ahead, nest.term(room, later, layer.batch * size)]
    left, leaving = (nest.term(each, passing.left, size) for each in (chunks, room))
    results = layer.output_bytes * layer.stays.is_written
    if passing.by_position:  # results leave with those of the last chunk
        chunks, room = (end | {"chunks": [0] * (len(each) - 1) + [sum(each)]} for each in (cuts.chunks, leaving_rooms))
    outputs, behind = (nest.term(each, results, size) for each in (chunks, room))
    return Moves(nest, inputs, weights, [outputs, left], [work], ahead, [behind, leaving])


def _coming(layer: LoopLayer, chunks: list[int], slices: list[int]) -> tuple[list[int], list[int]]:
    """Return outputs of chunks and inputs of slices, without rows of a second operand that are on chip."""
    rows = chunks if layer.kind == "transposed" else slices
    left, first = [], 0
    for count in rows:
        there = sum(max(0, min(first + count, b) - max(first, a)) for a, b in layer.stays.second_rows)
        left.append(count - there)
        first += count
    return (left, slices) if rows is chunks else (chunks, left)


def _slices(layer: LoopLayer, plan: LoopPlan) -> tuple[list[int], list[int]]:
    """Return the inputs of each slice and what they take in a buffer; a single slice if an order has none.

    BC cuts between words, each of one operand; of a group of several operands as if it were one.
    """
    part, word = layer.part, layer.word
    if plan.order == "TKC":
        found = pieces(part.reduction, plan.slice)
        return found, [inputs_of(layer, each) for each in found]
    if plan.order != "BC":
        return [part.reduction], [inputs_of(layer, part.reduction)]
    is_one = layer.is_product or part.outputs < layer.outputs
    operands = [part.reduction] if is_one else [layer.producers[each] for each in layer.operands]
    words, most = [each for channels in operands for each in pieces(channels, word)], max(1, plan.slice // word)
    cut = [words[first : first + most] for first in range(0, len(words), most)]
    return [sum(each) for each in cut], [inputs_of(layer, len(each) * word) for each in cut]


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
