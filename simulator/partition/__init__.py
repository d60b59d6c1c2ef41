"""Partitions: validity, patterns of names, files."""

from simulator.partition.errors import PartitionError
from simulator.partition.partition import Partition

__all__ = ["Partition", "PartitionError"]
