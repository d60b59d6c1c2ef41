"""Which sets of layers are a nest, and each as its loops see it (our choice: Cocco holds all tensors of a subgraph).

A kind of nest is a file of this room with a function that yields the `Nest`s of a network, listed in `KINDS`. Its
`LoopLayer` has a kind, by which `find_cheapest` (layer/cheapest.py) offers its plans, `needs` (layer/least_room.py)
says in what memory it runs, and `loop_regions` (subgraph/loop_regions.py) what it holds of each tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.nests.attention import attentions
from simulator.model.nests.chain import chains
from simulator.model.nests.epilogue import epilogues
from simulator.model.nests.heads import projected_attentions
from simulator.model.nests.nest import Nest
from simulator.technology import Technology
from workloads.network.network import Network

KINDS: dict[str, Callable[[Network], Iterator[Nest]]] = {
    "attention in blocks": attentions,
    "attention with its projections, head by head": projected_attentions,
    "dense layers with their epilogue": epilogues,
    "chains in chunks of middle channels": chains,
}  #: by name; no set of layers is of two kinds


@lru_cache(maxsize=32)  # every price of a plan asks
def nests_of(network: Network) -> Mapping[tuple[int, ...], Nest]:
    """Return every set of several layers that is a nest, by its ascending ids.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("gpt2", layers=1)
    >>> for layers in nests_of(network):
    ...     print(*network.names(layers))
    l1_scores l1_softmax l1_context
    l1_q l1_k l1_v l1_scores l1_softmax l1_context
    l1_out l1_add1
    l1_out l1_add1 l1_norm2
    l1_down l1_add2
    l1_up l1_down l1_add2
    l1_up l1_down
    """
    return {nest.layers: nest for kind in KINDS.values() for nest in kind(network)}


def nest_of(
    nests: Mapping[tuple[int, ...], Nest],
    network: Network,
    layers: tuple[int, ...],
    batch: int,
    technology: Technology,
    kept: Kept | None = None,
) -> LoopLayer | None:
    """Return a set of layers as its loops see it; None if it is no nest, or one of its inner tensors is kept.

    nests: from `nests_of`. layers: ids, ascending. kept: which tensors stay on chip, and which are written to DRAM.
    """
    nest = nests.get(layers)
    if nest is None or (kept is not None and kept.on_chip & nest.inner):
        return None
    return nest.loops(network, batch, technology, kept)
