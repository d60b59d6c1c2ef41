"""What the layers of an epilogue move with each chunk of results: operands that pass, and maps between that leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.integers import row_bytes
from simulator.model.layer.loop_layer import LoopLayer
from simulator.timing.layer.nest import Term


def followed(
    layer: LoopLayer, done: Callable[[list[int]], list[Term]], chunks: Sequence[int]
) -> tuple[int, int, list[Term], list[Term]]:
    """Return the bytes of operands that are broadcast, of the whole batch, and their room, what passes, what leaves.

    done: what each chunk of outputs moves, from the bytes of a position. What passes has no region: it takes as many
    bytes as cross.
    """
    epilogue, positions = layer.epilogue, layer.rows.windows * layer.columns.windows
    passing, leaving = (
        [term for bits in widths for term in done([row_bytes(each, bits) for each in chunks])]
        for widths in (epilogue.passing, epilogue.leaving)
    )
    gates = epilogue.loaded - positions * sum(row_bytes(layer.outputs, bits) for bits in epilogue.passing)
    word = max((row_bytes(layer.word, bits) for bits in epilogue.passing), default=0)
    room = 0 if epilogue.in_order else epilogue.room - word  # a state is made here: it does not come
    return layer.batch * gates, room, passing, leaving
