"""Random attentions with their projections: of one sequence or over another, with shared heads of keys."""

from __future__ import annotations

import random
from typing import NamedTuple

from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.nests.heads import Projected, projected_attentions
from simulator.technology import Technology
from workloads import Builder, Network


def random_heads(rng: random.Random) -> Network:
    """Return a network of an attention: sources may differ, rows may leave as well, scores may be scaled."""
    b = Builder("heads")
    own, sharing = rng.choice((1, 2, 3)), rng.choice((1, 1, 2, 3))
    inner, made = rng.choice((4, 8, 12, 24)), rng.choice((4, 8, 16, 20))
    length, is_self = rng.randint(1, 13), rng.random() < 0.6
    x = b.input("x", length, 1, rng.choice((8, 12, 24, 40)))
    memory = x if is_self else b.input("memory", rng.randint(1, 15), 1, rng.choice((8, 16, 20)))
    heads, leaves = own * sharing, rng.random() < 0.3
    query = b.fc("q", x, heads * inner)
    key, value = (b.fc(part, memory, own * width, appended=leaves) for part, width in (("k", inner), ("v", made)))
    scores = b.matmul("scores", query, key, heads, transpose=True, operand_heads=own)
    if rng.random() < 0.15:
        scores = b.mul("scaled", [scores])
    context = b.matmul("context", b.softmax("softmax", scores), value, heads, operand_heads=own)
    b.fc("out", context, 8)
    if rng.random() < 0.2:  # something else reads the values
        b.fc("more", value, 8)
    return b.build()


class Question(NamedTuple):
    """A nest of a random network, and where its tensors lie."""

    network: Network
    nest: Projected
    layer: LoopLayer
    batch: int
    lies: Lies


def random_question(rng: random.Random) -> Question:
    """Return a random nest; sometimes sources or the output stay on chip."""
    network, batch = random_heads(rng), rng.choice((1, 1, 2))
    (nest,), lies, kept = projected_attentions(network), NOTHING_STAYS, None
    if rng.random() < 0.4:
        may_stay = {*nest.operands, nest.result}
        on_chip = frozenset(u for u in sorted(may_stay) if rng.random() < 0.5)
        there = frozenset(u for u in sorted(on_chip - {nest.result}) if rng.random() < 0.6)
        leave = {v for v in nest.layers if network.is_output[v] or set(network.consumers[v]) - set(nest.layers)}
        if nest.result in on_chip and rng.random() < 0.5:
            leave.remove(nest.result)
        lies = Lies(on_chip, there, frozenset(leave), on_chip)
        kept = Kept(on_chip, frozenset(nest.operands) - there, frozenset(leave))
    return Question(network, nest, nest.loops(network, batch, Technology(), kept), batch, lies)
