"""What the loops of a layer that reduces over channels move, step by step (model/layer/orders.py has the orders).

Groups of a convolution, or heads of samples, are the parts, which run one after the other. Innermost are slices of the
inputs, rows of a block and inner chunks, if an order has them. Where a part, a block or a chunk has fewer of them than
others, the rest are empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, product
from typing import NamedTuple, TypeVar

from simulator.integers import row_bytes
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import LoopPlan
from simulator.timing.layer.followed import followed
from simulator.timing.layer.nest import Moves, Nest, Sizes, Term
from simulator.timing.layer.passes import block_rows, coming_rows, fetched, pieces, tiles_pass

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

Operands = tuple[tuple[int, int, bool], ...]  #: channels and bits of each, and whether it comes from DRAM


T = TypeVar("T")


class Group(NamedTuple):
    """Parts whose inputs are alike."""

    parts: dict[str, Sizes]  #: which of the parts these are
    loaded: int  #: bytes of a position that come
    room: int  #: what they take
    slices: list[int]  #: channels of each
    slice_bytes: list[int]
    slice_rooms: list[int]


class Cuts:
    """The steps of the loops of a part, and their sizes."""

    def __init__(self, layer: LoopLayer, plan: LoopPlan) -> None:
        part, kept = layer.part, plan.kept if plan.order == "TP" else 0
        self.parts = layer.repeat * layer.outputs // part.outputs
        self.rounds = pieces(layer.batch, plan.at_once)
        self.rows, self.columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
        self.chunks = pieces(kept, plan.chunk) + pieces(part.outputs - kept, plan.chunk)
        self.groups = list(_groups(layer, plan))
        self.blocks = block_rows(layer.rows, plan.tile[0]) if plan.mode == "block-row" else []
        self.made: dict[str, Sizes] = {"rounds": self.rounds, "columns": self.columns.outputs}
        self.inner = [pieces(each, plan.inner) if plan.order == "BC" else [each] for each in self.chunks]

    def filled(self, slices: list[int]) -> list[int]:
        """Return the sizes of slices, and 0 for those that only other parts have."""
        return slices + [0] * (max(len(each.slices) for each in self.groups) - len(slices))

    def nest(self, order: str) -> Nest:
        """Return the loops of an order."""
        steps = {
            "parts": self.parts, "rounds": len(self.rounds), "rows": len(self.rows.met),
            "columns": len(self.columns.met), "chunks": len(self.chunks),
            "slices": len(self.filled([])),
            "bands": max(map(len, self.blocks), default=1), "inner": max(map(len, self.inner)),
        }  # fmt: skip
        return Nest({name: steps[name] for name in ("parts", *LOOPS[order], *WITHIN)})


def dense_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """Return what the loops of a convolution or of a product of two activations move."""
    cuts = Cuts(layer, plan)
    nest = cuts.nest(plan.order)
    inputs, ahead = (_inputs(plan, cuts, nest, is_room) for is_room in (False, True))
    if plan.order == "WK" and cuts.parts * len(cuts.rounds) == 1:
        ahead = []  # the input whole has its room, and no other follows it
    weights = [] if layer.has_second else _stationary(layer, plan, cuts, nest)
    if layer.is_product:
        ahead += [] if layer.has_second else _stationary(layer, plan, cuts, nest, is_room=True)
        inputs, weights = inputs + weights, []
    results = [row_bytes(each, layer.bits.output) for each in cuts.chunks]
    leaving = [results_of(layer, each) for each in cuts.chunks]
    if layer.epilogue.by_position:  # results leave with those of the last chunk
        results, leaving = ([0] * (len(each) - 1) + [sum(each)] for each in (results, leaving))

    def done(sizes: list[int]) -> list[Term]:
        return [nest.term(each) for each in _done(cuts, sizes)]

    outputs, behind = (done(each) if layer.stays.is_written else [] for each in (results, leaving))
    gates, rooms, passing, left = followed(layer, done, cuts.chunks)
    start: dict[str, Sizes] = dict.fromkeys(nest.steps, "first")
    return Moves(
        nest,
        inputs=[*inputs, nest.term(start, gates), *passing],
        weights=weights,
        outputs=outputs + left,
        work=[nest.term(each) for each in _work(cuts)],
        ahead=[*ahead, nest.term(start, rooms), *passing],
        behind=behind + left,
    )


def _groups(layer: LoopLayer, plan: LoopPlan) -> list[Group]:
    """Return the parts by what they read; of a convolution in groups, each reads a piece of some operands."""
    part, each = layer.part, [*zip(layer.producers, layer.producer_bits, (size > 0 for size in layer.passing))]
    if layer.is_product:
        return [_group(layer, plan, {}, ((part.reduction, layer.producer_bits[0], layer.loaded > 0),))]
    if part.outputs == layer.outputs:
        return [_group(layer, plan, {}, tuple(each[i] for i in layer.operands) if plan.order == "BC" else tuple(each))]
    ends, size = [*accumulate(layer.producers, initial=0)], part.reduction
    read: list[Operands] = [
        tuple(
            (min(b, i + size) - max(a, i), bits, comes)
            for (a, b), (_, bits, comes) in zip(pairwise(ends), each)
            if min(b, i + size) > max(a, i)
        )
        for i in range(0, ends[-1], size)
    ]
    return [_group(layer, plan, {"parts": marks}, operands) for operands, marks in _alike(read).items()]


def _group(layer: LoopLayer, plan: LoopPlan, parts: dict[str, Sizes], operands: Operands) -> Group:
    """Return what parts read. BC cuts between words, each of one operand."""
    is_cut, reduction = plan.order == "BC", layer.part.reduction
    words = [
        (each, row_bytes(each, bits) * comes, row_bytes(round_up(layer, each), bits) * comes)
        for channels, bits, comes in operands
        for each in (pieces(channels, layer.word) if is_cut else [channels])
    ]
    _, loaded, room = map(sum, zip(*words))
    if not is_cut:
        return Group(parts, loaded, room, pieces(reduction, plan.slice if plan.order == "TKC" else reduction), [], [])
    most = max(1, plan.slice // layer.word)
    cut = [[*map(sum, zip(*words[first : first + most]))] for first in range(0, len(words), most)]
    return Group(parts, loaded, room, *([each[k] for each in cut] for k in range(3)))


def _inputs(plan: LoopPlan, cuts: Cuts, nest: Nest, is_room: bool) -> list[Term]:
    """Return what tiles load: bytes moved, or taken on chip."""
    rows, columns = fetched(plan.mode, cuts.rows, cuts.columns)
    blocks, found = cuts.blocks or [(each,) for each in rows], list[Term]()
    for group in cuts.groups:
        size, sizes = (
            group.room if is_room else group.loaded,
            {"rounds": cuts.rounds, "columns": columns, **group.parts},
        )
        if not size:
            continue
        if plan.order == "BC":
            sizes |= {"slices": cuts.filled(group.slice_rooms if is_room else group.slice_bytes), "inner": "first"}
            found += [nest.term(sizes | each) for each in _nested("rows", "bands", blocks)]
        elif plan.order == "KP":
            first = [1] + [0] * (len(cuts.chunks) - 1)
            found.append(nest.term(sizes | {"rows": rows, "chunks": first}, size))
            again: dict[str, Sizes] = {"rows": _after(plan.kept, rows), "chunks": [1 - each for each in first]}
            found.append(nest.term(sizes | again, size))
        else:
            once: dict[str, Sizes] = {} if plan.order in ("KT", "KS") else {"chunks": "first", "slices": "first"}
            found.append(nest.term(sizes | once | {"rows": rows}, size))
    return found


def _stationary(layer: LoopLayer, plan: LoopPlan, cuts: Cuts, nest: Nest, is_room: bool = False) -> list[Term]:
    """Return what is loaded of the weights, or of a second operand, and what that takes on chip."""
    order, taps, found = plan.order, layer.rows.taps * layer.columns.taps, list[Term]()
    tile: dict[str, Sizes] = {"rows": "first", "columns": "first"}
    once: dict[str, Sizes] = tile | {"rounds": "first"}
    stay = len(pieces(plan.kept, plan.chunk)) if order == "TP" else 0
    often: dict[str, Sizes] = tile if order == "WK" else {}
    if order in ("KT", "KS", "KP") or (order in ("TK", "WK") and len(cuts.chunks) == 1):
        often = once
    for group in cuts.groups:
        chunks, slices = _units(layer, cuts, group, is_room)
        sizes: dict[str, Sizes] = {"slices": cuts.filled(slices), "bands": "first", **group.parts}
        if stay:
            held = sum(map(sum, chunks[:stay]))
            found.append(nest.term(sizes | once | {"chunks": "first"}, taps * held))
        chunks = [[0]] * stay + chunks[stay:]
        found += [nest.term(sizes | often | each, taps) for each in _nested("chunks", "inner", chunks)]
    return found


def _units(layer: LoopLayer, cuts: Cuts, group: Group, is_room: bool) -> tuple[list[list[int]], list[int]]:
    """Return outputs of inner chunks and inputs of slices; of a second operand rows that come, and their bytes.

    is_room: what they take in a buffer, which has room for all rows.
    """
    if not layer.is_product:
        return cuts.inner, group.slices

    def coming(counts: list[int], first: int) -> list[int]:
        return coming_rows([] if is_room else layer.stays.second_rows, counts, first)

    def sized(counts: list[int]) -> list[int]:
        return [row_bytes(round_up(layer, each) if is_room else each, layer.bits.weights) for each in counts]

    if layer.kind == "transposed":
        starts = accumulate(cuts.chunks, initial=0)
        return [coming(each, first) for each, first in zip(cuts.inner, starts)], sized(group.slices)
    return [sized(each) for each in cuts.inner], coming(group.slices, 0)


def _work(cuts: Cuts) -> Iterator[dict[str, Sizes]]:
    """Yield what is multiplied: rows of blocks, outputs of chunks, inputs of slices."""
    rows = [[1] * each if cuts.blocks else [each] for each in cuts.rows.outputs]
    blocks, chunks = _nested("rows", "bands", rows), _nested("chunks", "inner", cuts.inner)
    for group, block, chunk in product(cuts.groups, blocks, chunks):
        yield cuts.made | {"slices": cuts.filled(group.slices)} | group.parts | block | chunk


def _done(cuts: Cuts, chunks: list[int]) -> Iterator[dict[str, Sizes]]:
    """Yield what is done with each chunk of a tile, so much for a position: in the last step that is not empty."""
    rows = [[0] * (each - 1) * bool(cuts.blocks) + [each] for each in cuts.rows.outputs]
    blocks = _nested("rows", "bands", rows)
    inner = _nested("chunks", "inner", [[0] * (len(each) - 1) + [size] for each, size in zip(cuts.inner, chunks)])
    for group, block, chunk in product(cuts.groups, blocks, inner):
        marks = [0] * (len(group.slices) - 1) + [1]
        yield cuts.made | {"slices": cuts.filled(marks)} | group.parts | block | chunk


def _nested(outer: str, inner: str, sizes: Sequence[Sequence[int]]) -> list[dict[str, Sizes]]:
    """Return the sizes of two loops, where those of the inner one depend on the step of the outer one."""
    count = max(map(len, sizes))
    if count == 1:
        return [{outer: [each[0] for each in sizes]}]
    return [
        {outer: marks, inner: [*each, *[0] * (count - len(each))]} for each, marks in _alike(map(tuple, sizes)).items()
    ]


def _alike(values: Iterable[T]) -> dict[T, list[int]]:
    """Return where each value is, as marks."""
    every = [*values]
    return {value: [int(each == value) for each in every] for value in dict.fromkeys(every)}


def _after(kept: int, rows: Sequence[int]) -> list[int]:
    """Return how many of its rows each tile loads again if the first `kept` rows stay."""
    found = []
    for count in rows:
        found.append(max(0, count - kept))
        kept = max(0, kept - count)
    return found
