"""The errors of the simulator: malformed input only; what does not fit is an answer."""

from __future__ import annotations


class PartitionError(ValueError):
    """A partition that is malformed or not valid: the message names the layer, the rule and the value."""
