"""Partitions as the command line names them."""

from __future__ import annotations

from simulator.accelerator import Accelerator
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network

LAYERWISE = "layerwise"


def read_partition(
    text: str, network: Network, accelerator: Accelerator | None = None, tile_rule: TileRule = "exact"
) -> Partition:
    """Return the partition of a file, or 'layerwise'; what a file leaves to a search is found for the accelerator."""
    if text == LAYERWISE:
        return Partition.layerwise(network)
    from cocco.plans.files import load_partition

    return load_partition(text, network, accelerator, tile_rule=tile_rule)
