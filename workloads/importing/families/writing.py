"""Arrays that are written piece by piece: what is written last counts, and the pieces together are the array."""

from __future__ import annotations

from dataclasses import replace

from workloads.importing.families.moving import concat, part
from workloads.importing.sketch import Piece, Sketch
from workloads.importing.values import Value, position_dims
from workloads.importing.views import is_channels


def write(sketch: Sketch, target: Value, axis: int, kept: range, value: Value) -> Value:
    """Return the array with other elements at some steps of a dimension: its pieces one after the other.

    Pieces that are written later on go in the place of what they cover, so that of an array that is filled in a loop
    only the last form is put down.
    """
    steps = range(target.shape[axis])
    before = sketch.pieces_of(target, axis) or (Piece(steps, target, steps),)
    left = [rest for piece in before for rest in _without(piece, kept)]
    pieces = sorted([*left, Piece(kept, value, range(len(kept)))], key=lambda piece: piece.steps.start)
    parts = [part(sketch, each.value, axis, each.of.start, each.of.stop, each.of.step) for each in pieces]
    count = len(sketch.layers)
    maps = [each for each in parts if not each.is_constant]
    is_row = target.is_constant or not is_channels(target.dims[axis]) or not target.dims[axis]
    if is_row and axis < target.rank - 1 and not any(each.dims[axis] for each in maps):  # one step each
        rows = sorted({axis, *(i for each in maps for i in position_dims(each))})
        found = sketch.rearranged([sketch.settle(each) for each in maps], target.shape, rows)
    else:
        found = concat(sketch, parts, axis)
    if len(sketch.layers) > count and found.source == sketch.layers[-1].name:
        sketch.remember(found, axis, tuple(pieces))
    return found


def _without(piece: Piece, kept: range) -> list[Piece]:
    """What is left of a piece, in runs of even steps."""
    left = [i for i, step in enumerate(piece.steps) if step not in kept]
    if len(left) == len(piece.steps):
        return [piece]
    runs: list[list[int]] = []
    for i in left:
        if runs and (len(runs[-1]) == 1 or i - runs[-1][-1] == runs[-1][1] - runs[-1][0]):
            runs[-1].append(i)
        else:
            runs.append([i])
    return [_run(piece, run) for run in runs]


def _run(piece: Piece, run: list[int]) -> Piece:
    apart = run[1] - run[0] if len(run) > 1 else 1
    some = slice(run[0], run[-1] + 1, apart)
    return replace(piece, steps=piece.steps[some], of=piece.of[some])
