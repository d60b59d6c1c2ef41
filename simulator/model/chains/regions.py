"""What a chain holds, map by map: rows of x, E (what the openers make), D (what the closer reads), results or sums."""

from __future__ import annotations

from typing import NamedTuple

from simulator.model.chains.orders import middle_bytes, rows_of, slice_bytes, x_bytes
from simulator.model.layer.axes import WHOLE
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import MT, TS, LoopPlan, Loops


class Piece(NamedTuple):
    """Rows and columns of a map that are there at once, at most, and their bytes."""

    shape: tuple[int, int]
    size: int


def chain_pieces(layer: LoopLayer, plan: LoopPlan) -> tuple[Piece, Piece, Piece, Piece]:
    """Return the pieces of x, E, D and the output; D is empty if it is E. Their bytes add up to those of the plan."""
    chain, rows = layer.chain, rows_of(layer.chain, plan)
    loops = Loops(plan.apart, plan.chunk, plan.slice, plan.inner, 1, plan.kept)
    cuts = -(-chain.inputs // plan.kept) - 1 if plan.order == TS else 0
    x = Piece((rows.x_most, chain.x_width), x_bytes(layer, rows))
    if plan.mode == WHOLE:
        x = Piece((chain.x_rows, chain.x_width), layer.batch * chain.x_rows * chain.x_width * layer.part.room)
    elif plan.order == TS:
        x = Piece((rows.x_tile, chain.x_width), slice_bytes(layer, rows, loops))
    both = middle_bytes(layer, rows, plan.chunk, cuts)
    d = middle_bytes(layer, rows._replace(e_most=0), plan.chunk, cuts)
    left, tall = plan.activation_bytes - x.size - both, plan.tile[0]
    if plan.order == TS and layer.loaded and plan.chunk >= chain.middle:  # results leave through the room of x
        x, left = x._replace(size=x.size + left), 0
    if plan.order == MT and plan.chunk < chain.middle:
        tall = layer.rows.windows
    of_e, of_d = Piece((rows.e_most, chain.e_width), both - d), Piece((rows.d_most, chain.d_width), d)
    return x, of_e, of_d, Piece((tall, plan.tile[1]), left)
