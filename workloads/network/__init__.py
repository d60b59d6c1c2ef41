"""Layers and networks: checked data, the builder, shapes."""

from workloads.network.builder import Builder
from workloads.network.layers.frames import Frames
from workloads.network.layers.layer import Concat, Layer, Note, Tensor
from workloads.network.network import Network
from workloads.network.rewriting.resize import shrink

__all__ = ["Builder", "Concat", "Frames", "Layer", "Network", "Note", "Tensor", "shrink"]
