"""The shape of one layer as seven nested loops, and which tensor each loop walks through (CoSA, Sec. III)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from workloads.errors import check_count
from workloads.network.layers.frames import Frames
from workloads.network.layers.layer import Layer

DIMENSIONS = "RSPQCKN"  #: filter width, height; output width, height; channels in, out; batch
LOOPS = DIMENSIONS + "G"  #: and groups, of which C and K are those of one
TENSORS = "WIO"
RELEVANT: Mapping[str, str] = {
    "W": "RSCKG",
    "I": "RSPQCNG",
    "O": "PQKNG",
}  #: loops that change it; R S by halo
MAX_EXTENT = 2**24  #: our choice: above any layer, and products of seven stay far from the limits of a float
MAX_STRIDE = 2**10


@dataclass(frozen=True)
class LayerShape:
    """Extents of one layer as seven nested loops (CoSA, Sec. III).

    Raises
    ------
    ValueError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> import workloads
    >>> from simulator.mapping import LayerShape
    >>> shape = LayerShape.of_layer(workloads.load("vgg16").layers[0])
    >>> shape
    LayerShape(r=3, s=3, p=224, q=224, c=3, k=64, n=1, stride=(1, 1), groups=1, dilation=(1, 1))
    >>> shape.macs, shape.weight_words
    (86704128, 1728)
    """

    r: int  #: width of the filter
    s: int  #: its height
    p: int  #: width of the output
    q: int  #: its height
    c: int  #: input channels of one group
    k: int  #: output channels of all groups
    n: int = 1  #: samples
    stride: tuple[int, int] = (1, 1)  #: width, height
    groups: int = 1
    dilation: tuple[int, int] = (1, 1)  #: width, height

    def __post_init__(self) -> None:
        for name in "rspqckn":
            check_count(name.upper(), getattr(self, name), MAX_EXTENT)
        check_count("groups", self.groups, MAX_EXTENT)
        for name in ("stride", "dilation"):
            pair = getattr(self, name)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"{name} must be a pair (width, height), got {pair!r}")
            for axis, value in zip(("width", "height"), pair):
                check_count(f"{name} ({axis})", value, MAX_STRIDE)
        if self.k % self.groups:
            raise ValueError(f"K must be a multiple of groups, got {self.k} and {self.groups}")

    @cached_property
    def bounds(self) -> dict[str, int]:
        """Extent of each loop; C and K of one group, G the groups."""
        return {d: getattr(self, d.lower()) for d in DIMENSIONS} | {"K": self.k // self.groups, "G": self.groups}

    @property
    def is_depthwise(self) -> bool:
        """Whether each output channel reads one input channel of its own."""
        return self.groups == self.k > 1 and self.c == 1

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all groups and samples."""
        return self.r * self.s * self.p * self.q * self.c * self.k * self.n

    @property
    def weight_words(self) -> int:
        """Words of W, all groups."""
        return self.r * self.s * self.c * self.k

    @property
    def output_words(self) -> int:
        """Words of O, all groups."""
        return self.p * self.q * self.k * self.n

    @cached_property
    def touched_words(self) -> int:
        """Words of I that some window covers, all groups; padding counts as data."""
        columns = _covered(self.p, self.r, self.stride[0], self.dilation[0])
        rows = _covered(self.q, self.s, self.stride[1], self.dilation[1])
        return columns * rows * self.c * self.groups * self.n

    def footprint(self, tensor: str, extents: Mapping[str, int]) -> int:
        """Return the words of a tensor in a tile of these extents, halo included; without G, of one group."""
        e, groups = extents, extents.get("G", 1)
        if tensor == "W":
            return e["R"] * e["S"] * e["C"] * e["K"] * groups
        if tensor == "O":
            return e["P"] * e["Q"] * e["K"] * e["N"] * groups
        width = (e["P"] - 1) * self.stride[0] + (e["R"] - 1) * self.dilation[0] + 1
        height = (e["Q"] - 1) * self.stride[1] + (e["S"] - 1) * self.dilation[1] + 1
        return width * height * e["C"] * e["N"] * groups

    @classmethod
    def of_layer(cls, layer: Layer, samples: int = 1, tile: tuple[int, int] | None = None) -> LayerShape:
        """Return the shape of a layer with multiply-accumulates; tile: rows and columns of its output, all if None.

        The heads of a product of activations are its groups, its second operand stands for W. Time and transposed
        convolutions become the same seven loops: see `_over_time` and `_by_phases`. Raises ValueError for a recurrent
        layer or a scan, whose rows wait for one another.
        """
        if layer.op in ("recurrent", "scan"):
            raise ValueError(f"layer {layer.name!r} is {layer.op}: its rows wait for one another, in no nest of loops")
        rows, columns = tile or (layer.height, layer.width)
        shape = cls(
            layer.kernel[1], layer.kernel[0], columns, rows, layer.in_channels // layer.groups, layer.channels,
            samples, (layer.stride[1], layer.stride[0]), layer.groups, (layer.dilation[1], layer.dilation[0]),
        )  # fmt: skip
        if layer.upsample != (1, 1):
            return _by_phases(shape, layer.upsample)
        return _over_time(shape, layer.frames) if layer.frames else shape


def _by_phases(shape: LayerShape, upsample: tuple[int, int]) -> LayerShape:
    """Return a transposed convolution as that of its source: every phase of the output is a channel of its own.

    Where the map is spread u times, an output element meets one tap in u, and which ones it meets repeats after u.
    Kernels and maps that u does not divide are rounded up. Depth-wise ones read the source once for each phase (ours).
    """
    taps, apart = [], []
    for kernel, dilation, spread in zip((shape.r, shape.s), shape.dilation, reversed(upsample)):
        common = math.gcd(spread, dilation)
        taps.append(-(-kernel // (spread // common)))
        apart.append(dilation // common)
    phases = upsample[0] * upsample[1]
    return replace(
        shape, r=taps[0], s=taps[1], p=-(-shape.p // upsample[1]), q=-(-shape.q // upsample[0]),
        k=shape.k * phases, groups=shape.groups * (phases if shape.is_depthwise else 1), dilation=(apart[0], apart[1]),
    )  # fmt: skip


def _over_time(shape: LayerShape, frames: Frames) -> LayerShape:
    """Return a layer over a stack of frames: frames are samples, a window over time alone is one over rows.

    A window over time and space has its frames as channels [ours]: MACs, weights and outputs are exact, and a frame
    that several windows share counts for each. Raises ValueError for such a window of depth-wise work.
    """
    rows = shape.q // frames.outputs
    if frames.kernel == 1:
        return replace(shape, q=rows, n=shape.n * frames.outputs)
    if (shape.r, shape.s, *shape.stride) == (1, 1, 1, 1):
        across = (1, frames.stride)
        return replace(shape, s=frames.kernel, p=shape.p * rows, q=frames.outputs, stride=across, dilation=(1, 1))
    if shape.is_depthwise:
        raise ValueError("a depth-wise window over time and space at once is no nest of seven loops")
    return replace(shape, q=rows, n=shape.n * frames.outputs, c=shape.c * frames.kernel)


def _covered(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """Return the distinct numbers x stride + i dilation: pairs (x, i) less those that another one repeats."""
    common = math.gcd(stride, dilation)
    repeated = max(0, outputs - dilation // common) * max(0, taps - stride // common)
    return outputs * taps - repeated
