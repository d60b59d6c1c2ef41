"""What the loops of a chain move, step by step (simulator/model/chains/orders.py has the orders)."""

from __future__ import annotations

from math import prod

from simulator.integers import row_bytes
from simulator.model.chains.orders import chain_weights
from simulator.model.chains.rows import tiles_of
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import LoopPlan
from simulator.timing.layer.followed import followed
from simulator.timing.layer.nest import Moves, Nest, Sizes, Term
from simulator.timing.layer.passes import pieces

LOOPS: dict[str, tuple[str, ...]] = {
    "TM": ("samples", "tiles", "slices", "chunks"),
    "TW": ("samples", "tiles"),
    "TS": ("samples", "tiles", "slices", "chunks", "cuts"),
    "MT": ("chunks", "samples", "tiles"),
}  #: from the outermost; slices of outputs, cuts of inputs


class _Steps:
    """The steps of the loops of a chain, and their sizes."""

    def __init__(self, layer: LoopLayer, plan: LoopPlan) -> None:
        self.layer, self.plan, self.chain = layer, plan, layer.chain
        chain, order = layer.chain, plan.order
        of = tiles_of(chain.axes, plan.tile[0], order in ("TW", "MT"), bool(chain.adds_x))
        self.made, self.apart, self.out = (
            [each.bit_count() for each in of.e_made], [each.bit_count() for each in of.d_made],
            pieces(layer.rows.windows, plan.tile[0]),
        )  # fmt: skip
        self.met, self.new, seen = [each.bit_count() for each in of.x], list[int](), 0
        for each in of.wanted:
            self.new.append((each & ~seen).bit_count())
            seen |= each
        self.kept = plan.kept if order in ("TM", "TW") else 0
        self.chunks = pieces(self.kept, plan.chunk) + pieces(chain.middle - self.kept, plan.chunk)
        self.coming = [0] * len(pieces(self.kept, plan.chunk)) + pieces(chain.middle - self.kept, plan.chunk)
        self.slices = pieces(chain.outputs, plan.slice)
        self.cuts = pieces(chain.inputs, plan.kept) if order == "TS" else [chain.inputs]
        counts = {
            "samples": layer.batch, "tiles": len(self.out), "slices": len(self.slices), "chunks": len(self.chunks),
            "cuts": len(self.cuts),
        }  # fmt: skip
        self.nest = Nest({name: counts[name] for name in LOOPS[order]})

    def term(self, sizes: dict[str, Sizes], times: int = 1, over: int = 1) -> Term:
        """Return a term; loops that the order does not have are one step."""
        has = {name: each for name, each in sizes.items() if name in self.nest.steps}
        missing = [sum(each) for name, each in sizes.items() if name not in has and not isinstance(each, str)]
        return self.nest.term(has, times * prod(missing), over)


def chain_moves(layer: LoopLayer, plan: LoopPlan) -> Moves:
    """Return what the loops of a chain move."""
    steps, chain = _Steps(layer, plan), layer.chain
    end: dict[str, Sizes] = {"cuts": "last"}
    inputs, ahead = _inputs(steps) if layer.loaded else ([], [])
    done: dict[str, Sizes] = {"tiles": steps.out, "chunks": "last", "cuts": "last"}

    def leave(sizes: list[int]) -> list[Term]:
        return [steps.term(done | {"slices": sizes}, chain.out_width)]

    gates, rooms, passing, left = followed(layer, leave, steps.slices)
    start: dict[str, Sizes] = dict.fromkeys(steps.nest.steps, "first")
    opens: dict[str, Sizes] = {"tiles": steps.made, "chunks": steps.chunks, "cuts": steps.cuts}
    closes: dict[str, Sizes] = {"tiles": steps.out, "chunks": steps.chunks, "slices": steps.slices} | end
    work = [
        steps.term(opens, chain.openers * chain.opener_taps * chain.e_width),
        steps.term(closes, chain.closer_taps * chain.out_width),
    ]
    if chain.has_middle:
        makes: dict[str, Sizes] = {"tiles": steps.apart, "chunks": steps.chunks} | end
        work.append(steps.term(makes, max(1, chain.middle_taps) * chain.d_width))
    results = [row_bytes(each, layer.bits.output) for each in steps.slices]
    rooms_behind = [results_of(layer, each) for each in steps.slices]
    outputs, behind = (leave(each) * layer.stays.is_written for each in (results, rooms_behind))
    return Moves(
        steps.nest,
        [*inputs, steps.nest.term(start, gates), *passing],
        _weights(steps),
        outputs + left,
        work,
        [*ahead, steps.nest.term(start, rooms), *passing],
        behind + left,
    )


def _inputs(steps: _Steps) -> tuple[list[Term], list[Term]]:
    """Return what is loaded of x, and what it takes on chip."""
    layer, plan, chain = steps.layer, steps.plan, steps.chain
    if plan.order == "TS":
        sizes: dict[str, Sizes] = {"tiles": steps.met}
        again: dict[str, Sizes] = {"tiles": steps.out, "chunks": "last", "cuts": "last"}
        cuts, rooms = ([row_bytes(each, chain.x_bits) for each in of] for of in (
            steps.cuts, [round_up(layer, each) for each in steps.cuts]
        ))  # fmt: skip
        coming, taken = (steps.term(sizes | {"cuts": each}, chain.x_width) for each in (cuts, rooms))
        slices = [row_bytes(each, chain.x_bits) for each in steps.slices]
        added = [steps.term(again | {"slices": slices}, chain.out_width)] * bool(chain.adds_x)
        return [coming, *added], [taken, *added]  # what is added passes: it takes as many bytes as cross
    new: dict[str, Sizes] = {"tiles": steps.new, "slices": "first"}
    if plan.order != "MT" or plan.mode == "whole":
        new["chunks"] = "first"
    coming = steps.term(new, chain.x_width * layer.loaded)
    return [coming], [] if plan.mode == "whole" else [steps.term(new, chain.x_width * layer.part.room)]


def _weights(steps: _Steps) -> list[Term]:
    """Return what is loaded of the weights: with a chunk in MT, before all else if they stay, or in each tile."""
    chain, plan = steps.chain, steps.plan
    first: dict[str, Sizes] = {"samples": "first", "tiles": "first", "slices": "first", "chunks": "first"}
    if plan.order == "MT":
        return [steps.term(first | {"chunks": steps.chunks}, chain_weights(chain, chain.middle), chain.middle)]
    found = [steps.term(first, chain_weights(chain, steps.kept))] if steps.kept else []
    end: dict[str, Sizes] = {"cuts": "last", "chunks": steps.coming}
    opens: dict[str, Sizes] = {
        "tiles": [min(1, each) for each in steps.made],
        "cuts": steps.cuts,
        "chunks": steps.coming,
    }
    makes: dict[str, Sizes] = {"tiles": [min(1, each) for each in steps.apart]} | end
    bits = chain.opener_bits + chain.second_bits * (chain.openers - 1)
    return [
        *found,
        steps.term(opens, chain.opener_taps * bits, 8),
        steps.term(makes, chain.middle_taps * chain.middle_bits, 8),
        steps.term(end | {"slices": steps.slices}, chain.closer_taps * chain.closer_bits, 8),
    ]
