"""The part of a network written so far: model inputs and layers in forward order, with inferred shapes.

Layers with windows, and those of each element, infer their shapes in one place each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from workloads.errors import NetworkError, shown
from workloads.network.layers.frames import Frames, check_frames, rows_of_a_frame
from workloads.network.layers.kinds import check_input
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.mask import Mask
from workloads.network.layers.shapes import (
    Shape,
    check_layer,
    check_name,
    check_tensor,
    joined_shape,
    output_extent,
    spread_extent,
    whole_operands,
)
from workloads.network.layers.types import Experts, TensorKind
from workloads.network.layers.windows import Inputs, Padding, Pair, listed, pair_of, sides_of
from workloads.network.network import Network
from workloads.network.rewriting.concats import dissolve


class Written:
    """Collects layers in the order they are written, each checked against its inputs, and makes the network."""

    def __init__(self, name: str) -> None:
        check_name("a network", name)
        self.name = name
        self._inputs: list[Tensor] = []
        self._layers: list[Layer] = []  # as written: concats are among the layers and among their inputs
        self._shapes: dict[str, Shape] = {}

    def input(self, name: str, height: int, width: int, channels: int, kind: TensorKind = "input") -> str:
        """Add a model input: a tensor in DRAM. A sequence of text is (length, 1, features); so is a cache."""
        self._check_new(name)
        check_tensor(name, (height, width, channels))
        tensor = Tensor(name, height, width, channels, kind)
        check_input(tensor)
        self._inputs.append(tensor)
        self._shapes[name] = (height, width, channels)
        return name

    def shape(self, name: str) -> Shape:
        """Return (height, width, channels) of anything added so far."""
        if name not in self._shapes:
            close = get_close_matches(str(name), self._shapes, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise NetworkError(f"network {self.name!r} has nothing named {shown(name)} so far{hint}")
        return self._shapes[name]

    def append(self, layer: Layer) -> str:
        """Add a finished layer, after checking it against its inputs (which may be concats)."""
        self._check_new(layer.name)
        check_layer(layer, [self.shape(name) for name in layer.inputs])
        self._layers.append(layer)
        self._shapes[layer.name] = (layer.height, layer.width, layer.channels)
        return layer.name

    def append_to_cache(self, name: str) -> str:
        """Let the rows of a layer be appended to a cache in DRAM, whoever reads them; returns its name."""
        at = next((i for i, layer in enumerate(self._layers) if layer.name == name), None)
        if at is None:
            raise NetworkError(f"network {self.name!r} has no layer {shown(name)} so far whose rows could be appended")
        self._layers[at] = replace(self._layers[at], appended=True)
        return name

    def build(self) -> Network:
        """Return the network; the builder can go on afterwards."""
        layers, concats = dissolve(self.name, self._layers)
        return Network(self.name, tuple(self._inputs), layers, concats)

    def _check_new(self, name: str) -> None:
        check_name("a layer", name)
        if name in self._shapes:
            raise NetworkError(f"{name!r} is defined twice in network {self.name!r}; names must be unique")

    def _channels_joined(self, name: str, inputs: Sequence[str]) -> Shape:
        """Return the shape of the inputs with their channels one after the other."""
        if not inputs:
            raise NetworkError(f"layer {name!r} has no inputs; it needs at least one")
        shapes = [self.shape(source) for source in inputs]
        return (*shapes[0][:2], sum(shape[2] for shape in shapes))

    def _window(
        self,
        op: str,
        name: str,
        inputs: Inputs,
        kernel: Pair = 1,
        stride: Pair | None = 1,
        padding: Padding = 0,
        dilation: Pair = 1,
        ceil_mode: bool = False,
        channels: int | None = None,
        groups: int = 1,
        upsample: tuple[int, int] = (1, 1),
        frames: Frames | None = None,
        experts: Experts | None = None,
        appended: bool = False,
    ) -> str:
        """Add a layer with windows; without a stride they touch, without channels it keeps those of its inputs."""
        sources = listed(inputs)
        *extents, in_channels = self._channels_joined(name, sources)
        if frames is not None:
            check_frames(name, frames)
            extents[0] = rows_of_a_frame(name, extents[0], frames.count)
        taps, steps = pair_of(name, "kernel", kernel), pair_of(name, "stride", kernel if stride is None else stride)
        apart = pair_of(name, "dilation", dilation)
        reaches = [(taps[i] - 1) * apart[i] + 1 for i in (0, 1)]
        sides = sides_of(name, padding, extents, reaches, steps)
        spread = [spread_extent(extents[i], upsample[i]) for i in (0, 1)]
        height, width = (
            output_extent(name, spread[i], reaches[i], steps[i], sides[i], sides[i + 2], ceil_mode) for i in (0, 1)
        )
        out = in_channels if channels is None else channels
        height *= frames.outputs if frames else 1
        return self.append(
            Layer(name, op, sources, height, width, out, in_channels, taps, steps, sides, apart, groups,
                  upsample=upsample, frames=frames, experts=experts, appended=appended)
        )  # fmt: skip

    def _elementwise(self, op: str, name: str, inputs: Inputs, mask: Mask | None = None, keys: int = 0) -> str:
        """Add an element-wise layer; operands with extents of 1 are broadcast."""
        sources = listed(inputs)
        operands = [self.shape(source) for source in sources]
        if not operands:
            raise NetworkError(f"layer {name!r} has no inputs; it needs at least one")
        height, width, channels = joined_shape(operands)
        whole = whole_operands(op, operands, height, width)
        return self.append(
            Layer(name, op, sources, height, width, channels, channels, whole=whole, keys=keys, mask=mask)
        )
