"""Functions as modules of torch, read as networks; what imports this has checked that torch is there."""

from __future__ import annotations

from torch import nn

import workloads


class Call(nn.Module):
    """A function of its inputs as a module."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def read(function, *inputs, **parts):
    """Return the network of a function of the module and inputs, with these parts."""
    return workloads.from_torch(Call(function, **parts), inputs)


def ops(network):
    """Return the operators of the layers."""
    return [layer.op for layer in network.layers]
