"""What evaluate --explain prints for people: where the bytes are, the best split, the capacity that suffices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import capacity, counted, table
from cocco.output.text.plans.evaluation import SCHEME_WORDS, group_text, tile_text
from cocco.output.text.plans.kept import reasons_text
from simulator.units import ENERGY, SIZE, TRAFFIC

if TYPE_CHECKING:
    from cocco.plans.explain import Explained, Explanation
    from simulator.views.breakdown import Breakdown
    from workloads import Network

TENSORS_NAMED = 8  #: tensors and weights of a subgraph that the text names; our choice
CAPACITIES = {
    "shared_buffer": "a shared buffer", "global_buffer": "a global buffer", "weight_buffer": "a weight buffer",
}  # fmt: skip


def explanation_text(found: Explanation, is_listed: bool = False) -> Iterator[str]:
    """Yield a paragraph for each subgraph that is explained, on kept tensors, and what the repaired partition costs.

    is_listed: whether the kept tensors are listed already.
    """
    assert found.evaluation.source is not None, "evaluate() made it"
    network = found.evaluation.source[0]
    for each in found.subgraphs:
        yield "\n".join([_head(each), _tensors(each.bytes, network), *(f"  {line}" for line in _advice(each))])
    if found.kept is not None:
        yield from reasons_text(found.kept, is_listed)
    if found.repaired_evaluation is not None and found.repaired is not None:
        cost = found.repaired_evaluation
        yield (
            f"With every subgraph that does not fit split like that: {counted(len(found.repaired), 'subgraph')}, "
            f"off-chip traffic {TRAFFIC.text(cost.ema_bytes)}, energy {ENERGY.text(cost.energy_pj)} "
            "(--json prints the partition)."
        )


def _head(each: Explained) -> str:
    name, here = group_text(each.bytes.layers), each.bytes
    if here.status == "infeasible":
        return f"#{each.position} {name} does not fit: {here.reason}"
    how = "is held" if here.status == "held" else "is streamed"
    if here.order is not None:
        how = f"runs in order {here.order}"
    if here.scheme:
        how += f" ({SCHEME_WORDS[here.scheme]})"
    moved = "" if each.ema_bytes is None else f" and moves {SIZE.text(each.ema_bytes)} off chip"
    return f"#{each.position} {name} {how}{moved}"


def _tensors(here: Breakdown, network: Network) -> str:
    tensors, weights = here.tensors[:TENSORS_NAMED], here.weights[:TENSORS_NAMED]
    main = SIZE.texts([*(each.main_bytes for each in tensors), *(each.weight_bytes for each in weights)])
    side, moved = (SIZE.texts([each.side_bytes for each in tensors]), SIZE.texts([each.dram_bytes for each in tensors]))
    names = [*((each.tensor, each.role) for each in tensors), *((each.layer, "weights") for each in weights)]
    rows = [(*name, *sizes) for name, sizes in zip(names, zip_longest(main, side, moved, fillvalue=""))]
    more = max(0, len(here.tensors) - TENSORS_NAMED) + max(0, len(here.weights) - TENSORS_NAMED)
    tile = "" if here.tile is None else f" at tiles of {tile_text(here.tile, network, here.layers)}"
    total = (
        f"  in all {SIZE.text(here.activation_bytes)} of activations{tile}, {SIZE.text(here.weight_bytes)} of weights"
    )
    heads = ("tensor", "is", "MAIN or weights", "SIDE", "off-chip")
    return table(heads, rows, left=2) + (f"\n  and {more} smaller" if more else "") + f"\n{total}"


def _advice(each: Explained) -> Iterator[str]:
    here = each.bytes
    if here.fits_from is not None:
        sizes = " and ".join(f"{CAPACITIES[name]} of {capacity(size)}" for name, size in here.fits_from.items())
        yield f"{'held' if here.order is None else 'moves everything once'} from: {sizes}"
    elif here.status == "infeasible":
        yield "held from: no memory is enough"
    if each.split is not None:
        change = "" if each.ema_bytes is None else f" ({each.split.ema_bytes - each.ema_bytes:+,} bytes)"
        parts = " | ".join(map(group_text, each.split.parts))
        yield f"best split: {parts}: {SIZE.text(each.split.ema_bytes)} off chip{change}"
    elif len(here.layers) > 1:
        yield "best split: none"
