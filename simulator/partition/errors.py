"""The errors of the simulator: malformed input only; what does not fit is an answer."""

from __future__ import annotations


class PartitionError(ValueError):
    """A partition that is malformed or not valid: the message names the layer, the rule and the value.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Partition
    >>> Partition.from_groups(workloads.load("vgg16"), [["conv1_1", "conv9"]])
    Traceback (most recent call last):
    simulator.partition.errors.PartitionError: subgraph 0 names unknown layer 'conv9'; did you mean 'conv5_3'?
    """
