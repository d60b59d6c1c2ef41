"""What the loops of a layer that does not reduce over channels move, step by step (simulator/model/layer/groups.py)."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.integers import row_bytes
from simulator.model.layer.axes import meet
from simulator.model.layer.groups import joined_steps, joined_weights
from simulator.model.layer.loop_layer import LoopLayer, Map, results_of, round_up
from simulator.model.layer.orders import LoopPlan
from simulator.timing.layer.nest import Moves, Nest, Sizes, Term
from simulator.timing.layer.passes import fetched, pieces, rows_poured, tiles_pass


def channels_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """CT: channels of one producer after the other; samples; tiles."""
    steps = _steps(layer, plan.apart)
    (coming, room), made = _coming(layer, plan.apart), [channels * often for channels, often in steps]
    rounds, taps = pieces(layer.batch, plan.at_once), layer.rows.taps * layer.columns.taps
    rows, columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
    nest = Nest({
        "steps": len(steps), "repeat": layer.repeat, "rounds": len(rounds), "rows": len(rows.met),
        "columns": len(columns.met),
    })  # fmt: skip
    loads: dict[str, Sizes] = {"rounds": rounds}
    loads["rows"], loads["columns"] = fetched(plan.mode, rows, columns)
    tiles: dict[str, Sizes] = {"rounds": rounds, "rows": rows.outputs, "columns": columns.outputs}
    start: dict[str, Sizes] = dict.fromkeys(tiles, "first")
    return Moves(
        nest,
        inputs=[nest.term(loads | {"steps": coming})],
        weights=[nest.term(start | {"steps": made}, taps)] if layer.weights else [],
        outputs=[nest.term(tiles | {"steps": made}, layer.output_bytes, _windows(layer) * sum(made))],
        work=[nest.term(tiles | {"steps": made})],
        ahead=[nest.term(loads | {"steps": room})],
        behind=[nest.term(tiles | {"steps": [results_of(layer, each) * often for each, often in steps]})],
    )


def joined_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """CT (channels; tiles) or TC (tiles; channels) of element-wise layers and scans, with broadcast operands.

    A scan has the samples inside of the channels, which share their weights.
    """
    steps = pieces(layer.outputs, plan.apart)
    rows, columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
    samples = layer.repeat * layer.batch
    lengths = {"repeat": samples, "steps": len(steps), "rows": len(rows.met), "columns": len(columns.met)}
    names = ("repeat", "rows", "columns", "steps") if plan.order == "TC" else ("repeat", "steps", "rows", "columns")
    names = ("steps", "repeat", "rows", "columns") if layer.state else names
    nest = Nest({name: lengths[name] for name in names})
    tiles: dict[str, Sizes] = {"rows": rows.outputs, "columns": columns.outputs}
    made, outputs, rooms = (
        nest.term(tiles | {"steps": each})
        for each in (
            steps,
            [row_bytes(each, layer.bits.output) for each in steps],
            [results_of(layer, each) for each in steps],
        )
    )
    inputs, ahead = (_operands(layer, plan.order, nest, tiles, steps, word) for word in (1, layer.word))
    start: dict[str, Sizes] = dict.fromkeys(names, "first")
    weights = [nest.term(start, layer.weights)] if layer.weights else []
    if layer.apiece:
        weights = [nest.term(start | {"steps": [joined_weights(layer, each) for each in steps]})]
    return Moves(nest, inputs, weights, [outputs], [made], ahead, [rooms])


def passing_twice(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """TCC: tiles; all channels word by word for the statistics; again for the outputs, except those that stay."""
    steps = pieces(layer.outputs, plan.apart)
    again = [max(0, size - max(0, plan.kept - i * plan.apart)) for i, size in enumerate(steps)]
    rows, columns = tiles_pass(layer.rows, plan.tile[0]), tiles_pass(layer.columns, plan.tile[1])
    nest = Nest({
        "repeat": layer.repeat, "rows": len(rows.met), "columns": len(columns.met), "passes": 2, "steps": len(steps),
    })  # fmt: skip
    tiles: dict[str, Sizes] = {"rows": rows.outputs, "columns": columns.outputs}
    first, second = {"passes": [1, 0]}, {"passes": [0, 1]}
    (bits,) = layer.producer_bits
    passes = [(first, steps), (second, again)] if layer.loaded else []

    def coming(word: int) -> list[Term]:
        sizes = ((each, [row_bytes(-(-size // word) * word, bits) for size in of]) for each, of in passes)
        return [nest.term(tiles | each | {"steps": size}) for each, size in sizes]

    return Moves(
        nest,
        inputs=coming(1),
        weights=[],
        outputs=[nest.term(tiles | second | {"steps": [row_bytes(each, layer.bits.output) for each in steps]})],
        work=[nest.term(tiles | {"steps": steps})],
        ahead=coming(layer.word),
        behind=[nest.term(tiles | second | {"steps": [results_of(layer, each) for each in steps]})],
    )


def _operands(
    layer: LoopLayer, order: str, nest: Nest, tiles: dict[str, Sizes], steps: list[int], word: int
) -> list[Term]:
    """Return what is loaded of each operand, in whole words of channels: tile by tile, or whole before the tiles.

    An operand with a single channel serves all steps, as do those that channels of a scan share: it stays (in TC, or
    if broadcast over the map) or comes again.
    """
    start: dict[str, Sizes] = dict.fromkeys(tiles, "first")
    once: dict[str, Sizes] = {"steps": "first"} if order == "TC" else {}

    def sized(channels: int, bits: int) -> int:
        return row_bytes(-(-channels // word) * word, bits)

    found = []
    for i, (channels, bits) in enumerate(zip(layer.passing, layer.producer_bits)):
        if channels and joined_steps(layer, i, 2) == 1:
            found.append(nest.term(tiles | {"steps": [sized(each, bits) for each in steps]}))
        elif channels:
            found.append(nest.term(tiles | once, sized(channels, bits)))
    for height, width, channels, bits in layer.broadcast:
        if channels == layer.outputs and order == "CT":
            found.append(nest.term(start | {"steps": [sized(each, bits) for each in steps]}, height * width))
        else:
            found.append(nest.term(start | {"steps": "first"}, height * width * sized(channels, bits)))
    return found


def poured_moves(layer: LoopLayer) -> Moves:
    """RS: a word of channels; input rows, each added to the sums of all output rows that meet it."""
    steps, poured = _steps(layer, layer.word), rows_poured(layer.rows)
    across, width = meet(layer.columns, layer.columns.windows).union, layer.columns.windows
    (coming, room), made = _coming(layer, layer.word), [channels * often for channels, often in steps]
    nest = Nest({"repeat": layer.repeat, "steps": len(steps), "rows": len(poured.added)})
    rows = [min(1, added) for added in poured.added]
    rooms = [results_of(layer, 1) * often for _, often in steps]
    return Moves(
        nest,
        inputs=[nest.term({"steps": coming, "rows": rows}, across)],
        weights=[],
        outputs=[
            nest.term({"steps": made, "rows": poured.finished}, layer.output_bytes, layer.rows.windows * sum(made))
        ],
        work=[nest.term({"steps": made, "rows": poured.added})],
        ahead=[nest.term({"steps": room, "rows": rows}, across)],
        behind=[nest.term({"steps": rooms, "rows": poured.finished}, width)],
    )


def _elements(maps: Iterable[Map]) -> int:
    return sum(rows * columns * channels for rows, columns, channels, _ in maps)


def _bytes(maps: Iterable[Map]) -> int:
    return sum(rows * columns * row_bytes(channels, bits) for rows, columns, channels, bits in maps)


def copy_moves(layer: LoopLayer) -> Moves:
    """Copy: a word at a time, which takes as many bytes as cross."""
    size, coming = _elements(layer.whole), _bytes(layer.broadcast)
    nest = Nest({"repeat": layer.repeat, "words": max(1, -(-size // layer.word))})
    words = nest.steps["words"]
    inputs, outputs = nest.term({}, coming, words), nest.term({}, layer.output_bytes, words)
    return Moves(nest, [inputs], [], [outputs], [nest.term({}, layer.word)], [inputs], [outputs])


def _windows(layer: LoopLayer) -> int:
    return layer.rows.windows * layer.columns.windows


def _coming(layer: LoopLayer, step: int) -> tuple[list[int], list[int]]:
    """Return the bytes of a position that come in each step, and what they take."""
    sizes = zip(layer.producers, layer.producer_bits, layer.passing)
    steps = [(each, bits * (coming > 0)) for size, bits, coming in sizes for each in pieces(size, step)]
    return [row_bytes(*each) for each in steps], [row_bytes(round_up(layer, count), bits) for count, bits in steps]


def _steps(layer: LoopLayer, step: int) -> list[tuple[int, int]]:
    """Return the channels of each step, those of one input, and how many operands that is."""
    often = [layer.operands.count(each) for each in range(len(layer.producers))]
    return [(channels, times) for size, times in zip(layer.producers, often) for channels in pieces(size, step)]
