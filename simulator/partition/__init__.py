"""Partitions: validity, order, patterns of names, what stays on chip between subgraphs, files."""

from simulator.partition.errors import PartitionError
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition

__all__ = ["KeptInterval", "Partition", "PartitionError"]
