"""Plans that a search for the fastest starts from, beside those of other metrics."""

from __future__ import annotations

from dataclasses import replace

from cocco.latency.draft import Draft, layerwise
from cocco.latency.timed import Timed
from simulator.metrics import Metric
from simulator.model.price import Price
from simulator.model.priced import PricedPartition

CHUNKS = (16, 8, 4, 2)  #: in how many parts the weights of a layer may come; our choice: more gain next to nothing


def all_kept(timed: Timed, metric: Metric) -> Draft | None:
    """Return the layerwise plan with all maps kept but the largest where they do not fit; None if it does not run."""
    draft, sizes = layerwise(timed.network, metric), [tensor.size_bytes for tensor in timed.network.tensors]
    while True:
        priced = timed.priced(draft)
        if priced.fits:
            return draft
        step = next(i for i, price in enumerate(priced.prices) if not isinstance(price, Price))
        held = set(priced.steps[step].kept) if priced.steps else set()
        if not held:
            return None
        largest = max(held, key=lambda u: (sizes[u], u))
        draft = replace(draft, stays=frozenset(stay for stay in draft.stays if stay[0] != largest))


def in_chunks(timed: Timed, priced: PricedPartition, draft: Draft) -> Draft:
    """Return a plan in which each layer alone has its weights in as many chunks as do not add to its traffic."""
    spare = list(draft.spare)
    for i, (model, price) in enumerate(zip(priced.models, priced.prices)):
        assert isinstance(price, Price)
        if price.loops is None or len(model.subgraph.layers) > 1 or not price.weight_bytes:
            continue
        for left in leaving(timed, price):
            found = timed.price_of(priced, i, left)
            if isinstance(found, Price) and found.ema_bytes <= price.ema_bytes:
                spare[i] = left
                break
    return replace(draft, spare=tuple(spare))


def leaving(timed: Timed, price: Price) -> list[int]:
    """Return how many bytes a layer leaves free that has its weights in so many chunks, the most first."""
    weights = price.ema_weight_bytes // timed.accelerator.cores
    found = [price.weight_bytes - weights // count for count in CHUNKS]
    return [timed.free_bytes(price) + each for each in found if each > 0]
