"""The stages of one layer that runs in a loop order: one for each step of its loops, or for several adjacent steps.

Each step is a tile, with a chunk of outputs, a slice of inputs, some channels or a row, as the order nests them. It
loads what the closed forms of model/layer/orders.py and groups.py count at that step, and stores what is finished.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import LoopPlan
from simulator.timing.course import Course, Stage
from simulator.timing.layer.apart import channels_moves, copy_moves, joined_moves, passing_twice, poured_moves
from simulator.timing.layer.attention import attention_moves, heads_moves
from simulator.timing.layer.chain import chain_moves
from simulator.timing.layer.dense import dense_moves
from simulator.timing.layer.nest import Moves, Term

REMEMBERED = 256  #: layers whose stages are kept, of several plans of a network; our choice: some tens of MB at most


def loop_course(layer: LoopLayer, plan: LoopPlan, v: int, compute_slots: int, most: int) -> Course:
    """Return the stages of a layer run by a plan: those of the core with the most, with what all cores move.

    Bytes add up to those of the plan, computing to compute_slots, which are spread over the stages by the outputs
    made and the inputs of their reduction. Weights that are loaded once and stay come in the first stage. most: the
    most stages: if there are more steps, adjacent steps form one stage.

    Examples
    --------
    VGG16's second layer in two chunks of outputs, one row after the other: 448 stages, two of which load weights. A row
    comes at each but the first of a chunk, where two do.

    >>> import workloads
    >>> from simulator.model.layer.loops import loop_layer
    >>> from simulator.model.layer.cheapest import Room, plans_of
    >>> layer = loop_layer(workloads.load("vgg16"), 1)
    >>> plan = next(each for each in plans_of(layer, Room(60_000, 20_000), "bands") if each.order == "KT")
    >>> course = loop_course(layer, plan, 1, 448_000, 10_000)
    >>> len(course.stages), [k for k, stage in enumerate(course.stages) if stage.weights]
    (448, [0, 224])
    >>> course.stages[1].input_bytes, course.stages[1].output_bytes, course.ahead_bytes, course.stages[224].chunk_bytes
    (14336, 7168, 28672, 18432)
    """
    steps = _steps(layer, plan, compute_slots, most)
    stages = tuple(
        Stage(rows, ((v, chunk),) if chunk else (), ((v, slots),), written, (), *rooms)
        for rows, chunk, slots, written, *rooms in zip(*steps[:9])
    )
    return Course(stages, steps.is_streamed)


class _Steps(NamedTuple):
    """The stages of any layer with these loops."""

    inputs: list[int]
    weights: list[int]
    work: list[int]
    outputs: list[int]
    ahead: list[int]
    behind: list[int]
    chunks: list[int]
    early: list[int]
    late: list[int]
    is_streamed: bool


@lru_cache(maxsize=REMEMBERED)
def _steps(layer: LoopLayer, plan: LoopPlan, compute_slots: int, most: int) -> _Steps:
    """Return what moves in each stage; cached, because a network repeats layers."""
    moves = moves_of(layer, plan)
    together = -(-moves.nest.count // most)

    def moved(terms: list[Term], total: int) -> list[int]:
        return _scaled(moves.nest.moved(terms, together), total)

    weights, arriving = (
        moved(moves.weights, plan.totals.ema_weight_bytes),
        layer.batch * layer.repeat * layer.stays.arriving_bytes,
    )
    inputs = moved(moves.inputs, plan.totals.ema_input_bytes - arriving)
    inputs[0] += arriving  # inputs kept from now on are loaded whole, before anything is computed
    own = weights
    if layer.team.cores > 1:  # of one core
        bits = layer.bits
        own = [
            -(-each * bits.weights * bits.used // (8 * bits.active))
            for each in moves.nest.moved(moves.weights, together)
        ]
    is_streamed, none = sum(own) > plan.weight_bytes, [0] * len(own)
    ahead, behind = moves.nest.moved(moves.ahead, together), moves.nest.moved(moves.behind, together)
    outputs = moved(moves.outputs, plan.totals.ema_output_bytes)
    return _Steps(
        inputs,
        weights,
        moved(moves.work, compute_slots),
        outputs,
        ahead,
        none if layer.stays.output else behind,
        own if is_streamed else none,
        [ahead[0] + arriving, *ahead[1:]] if ahead[0] >= inputs[0] - arriving else none,
        [max(pair) for pair in zip(behind, outputs)],
        is_streamed,
    )


def moves_of(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """Return what the steps of a layer's loops move."""
    if layer.kind == "copy":
        return copy_moves(layer)
    if layer.kind == "attention":
        return attention_moves(layer, plan)
    if layer.kind == "heads":
        return heads_moves(layer, plan)
    if layer.kind == "chain":
        return chain_moves(layer, plan)
    if plan.order == "RS":
        return poured_moves(layer)
    if plan.order == "TCC":
        return passing_twice(layer, plan)
    if layer.kind in ("join", "mixed", "norm"):
        return joined_moves(layer, plan)
    return channels_moves(layer, plan) if layer.kind == "apart" else dense_moves(layer, plan)


def _scaled(sizes: list[int], total: int) -> list[int]:
    """Return these sizes scaled to add up to a total; evenly if all are 0.

    Input that no window meets passes by with what is met.
    """
    whole = sum(sizes)
    if whole == total:
        return sizes
    ends, done = [0], 0
    for count, size in enumerate(sizes, 1):
        done += size
        ends.append(total * done // whole if whole else total * count // len(sizes))
    return [stop - start for start, stop in pairwise(ends)]
