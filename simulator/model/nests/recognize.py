"""Which sets of layers are a nest, and each as its loops see it (our choice: Cocco holds all tensors of a subgraph).

A kind of nest is a file of this room with a function that yields the `Nest`s of a network, listed in `KINDS`. Its
`LoopLayer` has a kind, by which `find_cheapest` (layer/cheapest.py) offers its plans, `needs` (layer/least_room.py)
says in what memory it runs, and `loop_regions` (subgraph/loop_regions.py) what it holds of each tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.nests.attention import attentions
from simulator.model.nests.nest import Nest
from simulator.technology import Technology
from workloads.network.network import Network

KINDS: tuple[Callable[[Network], Iterator[Nest]], ...] = (attentions,)  #: no set of layers is a nest of two kinds


def nests_of(network: Network) -> dict[tuple[int, ...], Nest]:
    """Return every set of several layers that is a nest, by its ascending ids.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("gpt2", layers=2)
    >>> [network.names(layers) for layers in nests_of(network)]
    [('l1_scores', 'l1_softmax', 'l1_context'), ('l2_scores', 'l2_softmax', 'l2_context')]
    """
    return {nest.layers: nest for kind in KINDS for nest in kind(network)}


def nest_of(
    nests: Mapping[tuple[int, ...], Nest],
    network: Network,
    layers: tuple[int, ...],
    batch: int,
    technology: Technology,
    kept: Kept | None = None,
) -> LoopLayer | None:
    """Return a set of layers as its loops see it; None if it is no nest, or one of its inner tensors is kept.

    Parameters
    ----------
    nests : mapping
        From `nests_of`.
    network : Network
        The network of the layers.
    layers : tuple of int
        Their ids, ascending.
    batch : int
        Samples.
    technology : Technology
        Channel alignment and PE array.
    kept : Kept, optional
        Which tensors stay on chip, and which are written to DRAM.
    """
    nest = nests.get(layers)
    if nest is None or (kept is not None and kept.on_chip & nest.inner):
        return None
    return nest.loops(network, batch, technology, kept)
