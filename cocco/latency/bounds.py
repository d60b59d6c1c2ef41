"""Executed latencies that no plan undercuts: computing, traffic, and weights that cannot all come ahead.

Each holds for every partition, order, kept interval, loop order, nest and number of bytes left free (docs/bounds.md).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cocco.candidates.sets import Cones, members
from simulator.accelerator import Accelerator
from simulator.model.rules import PricingRules
from simulator.technology import Rate


class Bound(NamedTuple):
    """An executed latency that no plan undercuts; slots are those of a simulation."""

    slots: int
    why: str


def bounds_of(rules: PricingRules, accelerator: Accelerator, least_bytes: int) -> tuple[Bound, ...]:
    """Return the bounds of a network on an accelerator, the largest first.

    least_bytes: of off-chip traffic, which no plan undercuts.

    Examples
    --------
    VGG16 has 124 MB of weights in its classifier, of which 2 MB can be there when all before has computed:

    >>> import workloads
    >>> from simulator import Accelerator, KiB
    >>> from simulator.model.subgraph.subgraph import Geometry
    >>> vgg, chip = workloads.load("vgg16"), Accelerator(shared_buffer=2048 * KiB)
    >>> for bound in bounds_of(PricingRules(Geometry(vgg), chip, "exact"), chip, 138_495_720):
    ...     print(f"{bound.slots:,}", bound.why)
    357,865,472 weights behind conv5_2
    245,511,168 computing
    138,495,720 off-chip traffic
    """
    found = [Bound(accelerator.rate.slots(sum(rules.cycles)), "computing"), Bound(least_bytes, "off-chip traffic")]
    last = late_weights(rules, accelerator)
    return tuple(sorted([*found, *([last] if last else [])], key=lambda bound: -bound.slots))


def late_weights(rules: PricingRules, accelerator: Accelerator) -> Bound | None:
    """Return the largest bound by the weights of layers that come after another one; None where there are no weights.

    Let T be when a layer u and all that come before it have computed. Then no weight of a layer behind u has been
    released: it runs in the subgraph of u, which holds its weights to the end, or in a later one. So at T at most the
    capacity of them has been loaded, and the rest takes its time after T. Until T all layers up to u have computed, and
    their weights have been loaded. Layers that may share a nest, or groups of channels, with u do not count: there
    weights come and go before T.
    """
    shared = accelerator.activation_capacity if accelerator.is_shared else accelerator.weight_capacity
    capacity, best = shared * accelerator.cores, None
    for u, (start, behind) in enumerate(_weights_behind(rules, accelerator.rate)):
        slots = start + max(0, behind - capacity)
        if best is None or slots > best.slots:
            best = Bound(slots, f"weights behind {rules.geometry.network.layers[u].name}")
    return best


@lru_cache(maxsize=16)  # the same for all memories of a question
def _weights_behind(rules: PricingRules, rate: Rate) -> tuple[tuple[int, int], ...]:
    """Return for each layer the slots that all up to it take at least, and the bytes of weights that come after it."""
    network = rules.geometry.network
    count = len(network.layers)
    weights, cycles, cones = rules.geometry.brought_bytes, rules.cycles, Cones(network.producers)
    together = [0] * count  # the layers that may be in a nest with each
    for nest in rules.nests:
        for v in nest:
            together[v] |= sum(1 << w for w in nest)
    found = []
    for u in range(count):
        upto = list(members(cones.up[u]))
        behind = [
            v
            for v in members(cones.down[u] ^ 1 << u)
            if not together[u] >> v & 1 and min(rules.most_groups[u], rules.most_groups[v]) == 1
        ]
        start = max(rate.slots(sum(cycles[v] for v in upto)), sum(weights[v] for v in upto))
        found.append((start, sum(weights[v] for v in behind)))
    return tuple(found)
