"""Partitions as the command line names them: read, mapped, executed."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from simulator import Accelerator, Partition
from simulator.model.tiling import TileRule
from workloads import Network

if TYPE_CHECKING:
    from simulator.execution import Verification
    from simulator.execution.addressed import Addresses
    from simulator.mapping import Mapper


LAYERWISE = "layerwise"


def read_partition(
    text: str, network: Network, accelerator: Accelerator | None = None, tile_rule: TileRule = "exact"
) -> Partition:
    """Return the partition of a file, or 'layerwise'; what a file leaves to a search is found for the accelerator."""
    if text == LAYERWISE:
        return Partition.layerwise(network)
    from cocco.plans.files import load_partition

    return load_partition(text, network, accelerator, tile_rule=tile_rule)


def with_mapper(accelerator: Accelerator, name: str) -> Accelerator:
    """Return the hardware with the mapper of this name."""
    mapper = mapper_named(name)
    return accelerator if mapper is None else replace(accelerator, mapper=mapper)


def mapper_named(name: str) -> Mapper | None:
    """Return the mapper of this name, None for the default."""
    if name == "enumerate":
        return None
    from cocco.mapping import MAPPERS

    return MAPPERS[name]


def verify(
    network: Network,
    partition: Partition,
    accelerator: Accelerator,
    tile_rule: TileRule,
    addresses: Addresses | None = None,
) -> Verification:
    """Execute the partition, at addresses where they are given; say on stderr what was scaled, what failed first."""
    from simulator.execution import verify as execute

    verification = execute(network, partition, accelerator, tile_rule, addresses)
    for note in verification.notes:
        print(f"cocco: {note}", file=sys.stderr)
    if not verification.verified:
        print(f"cocco: verification failed: {verification.message}", file=sys.stderr)
    return verification
