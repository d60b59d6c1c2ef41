"""Layer, Tensor and what else a network records: plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from workloads.network.layers.frames import Frames
from workloads.network.layers.mask import Mask
from workloads.network.layers.ops import DENSE_OPS, ELEMENTWISE_OPS, PRODUCT_OPS
from workloads.network.layers.state import STEPS, State
from workloads.network.layers.types import INT8, Bits, Experts, Number, NumberKind, TensorKind, row_bytes


@dataclass(frozen=True)
class Tensor:
    """A feature map of one sample: height x width x channels elements, of one byte (INT8) by default.

    Examples
    --------
    >>> from workloads import Tensor
    >>> Tensor("image", 224, 224, 3).size_bytes
    150528
    """

    name: str
    height: int  #: rows; the positions of a sequence
    width: int  #: columns; 1 for a sequence
    channels: int
    kind: TensorKind = "input"  #: of a model input: a cache has the rows of earlier positions, each sample its own
    bits: int = 8  #: of an element
    number_as: NumberKind = "int"  #: integers, or floating-point numbers of so many bits

    def __repr__(self) -> str:
        shape = f"name={self.name!r}, height={self.height}, width={self.width}, channels={self.channels}"
        more = f", kind={self.kind!r}" if self.kind != "input" else ""
        more += f", bits={self.bits}" if self.bits != INT8.activations else ""
        return f"Tensor({shape}{more}{f', number_as={self.number_as!r}' if self.number_as != 'int' else ''})"

    @property
    def number(self) -> Number:
        """What an element is."""
        return Number(self.bits, self.number_as)

    @property
    def elements(self) -> int:
        """Elements of one sample."""
        return self.height * self.width * self.channels

    @property
    def size_bytes(self) -> int:
        """Bytes of one sample, without channel rounding: a position has whole bytes."""
        return self.height * self.width * row_bytes(self.channels, self.bits)


@dataclass(frozen=True)
class Layer:
    """One operator and its output tensor (Cocco, Sec. 4.1.1: a vertex of the computation graph).

    `inputs` are its producers in operand order: layers or model inputs. conv, fc, pools and concat read the
    channels of several producers one after the other; element-wise ops combine producers of equal shape; a
    matmul multiplies operand 0 with operand 1. `whole` lists the operands (by position) that are needed in
    full for any output row: operand 1 of a matmul, and an element-wise operand that is broadcast over the map.
    A `rearrange` puts the elements of its producers, needed in full, in another order (and may leave some out or repeat
    some); a `slice` keeps some channels, and of the map what stride and negative padding leave. conv_transpose and
    resize slide their window over the map with `upsample` - 1 empty rows and columns between each two.
    An element-wise operand may have one channel, or height or width 1, where the output has more (broadcast).
    A matmul has `groups` heads and `in_channels` channels of operand 0; head by head its second operand is
    multiplied transposed where its channels are `in_channels` and its positions times heads are `channels`. The second
    operand may have fewer heads, each for several of operand 0 (grouped queries), and may be several inputs, whose rows
    stand one below the other: a cache, then the rows that this step makes. Rows that are appended to a cache go to
    DRAM in any case. With a mask, the pairs of query and key that it hides are not computed. With more heads in the
    second operand than in the first the positions of both are in as many blocks (windows), and a row meets the rows of
    its own block, head by head.
    A `recurrent` layer makes the rows of a sequence one after the other: row t follows from row t of its producer, its
    gates, and, through its weights, from its own row t - 1 (LSTM, GRU). The rows of a `scan` go through a state of some
    numbers for each channel, which decays (Mamba; `State`).

    Examples
    --------
    >>> from workloads import Layer
    >>> layer = Layer("conv1", "conv", ("image",), 112, 112, 64, 3, (7, 7), (2, 2), (3, 3, 3, 3))
    >>> layer
    Layer(conv1: conv 7x7/2x2 of image, 112x112x64)
    >>> layer.macs, layer.weight_bytes
    (118013952, 9408)
    """

    name: str
    op: str  #: one of workloads.network.layers.ops.OPS
    inputs: tuple[str, ...]
    height: int  #: of the output, as width and channels
    width: int
    channels: int
    in_channels: int  #: of all inputs together
    kernel: tuple[int, int] = (1, 1)  #: taps, rows x columns
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)  #: top, left, bottom, right; negative crops
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    whole: tuple[int, ...] = ()
    upsample: tuple[int, int] = (1, 1)  #: the window slides over the map with upsample - 1 empty rows in between
    frames: Frames | None = None  #: of a layer over time (conv, pools): its map is a stack of frames
    operand_heads: int = 0  #: of a matmul: heads of the second operand if not `groups`, those of all blocks together
    appended: bool = False  #: its rows are appended to a cache in DRAM
    experts: Experts | None = None  #: of an fc: `channels` or `in_channels` are those of the active ones together
    bits: Bits = INT8  #: of its weights, output and sums
    keys: int = 0  #: of an attention: positions of its keys, and of its values; so of a layer with a mask
    mask: Mask | None = None  #: which keys a query sees: of an attention, or of scores, softmax and context
    state: State | None = None  #: of a scan
    shared: str = ""  #: a name of its weights, by which other layers have the same ones

    def __repr__(self) -> str:
        window = "" if self.kernel == (1, 1) else f" {_pair(self.kernel)}"
        window += "" if self.stride == (1, 1) else f"/{_pair(self.stride)}"
        shape = f"{self.height}x{self.width}x{self.channels}"
        return f"Layer({self.name}: {self.op}{window} of {', '.join(self.inputs)}, {shape})"

    @property
    def output(self) -> Tensor:
        """The tensor this layer computes; it carries the layer's name."""
        bits, kind = self.bits.of_cache if self.appended else self.bits.of_activations
        return Tensor(self.name, self.height, self.width, self.channels, bits=bits, number_as=kind)

    @property
    def output_bits(self) -> int:
        """Bits of an element of the output."""
        return self.bits.cache if self.appended else self.bits.activations

    @property
    def elements(self) -> int:
        """Elements of the output, one sample."""
        return self.height * self.width * self.channels

    @property
    def size_bytes(self) -> int:
        """Bytes of the output, one sample: a position has whole bytes."""
        return self.height * self.width * row_bytes(self.channels, self.output_bits)

    @property
    def second_heads(self) -> int:
        """Heads of the second operand of a matmul: each is shared by groups / second_heads of the first."""
        return self.operand_heads or self.groups

    @property
    def blocks(self) -> int:
        """Blocks of positions of a matmul, which have heads of their own: windows of attention."""
        return max(1, self.second_heads // self.groups)

    @property
    def sharing(self) -> int:
        """Heads of operand 0 of a matmul that share one of the second."""
        return max(1, self.groups // self.second_heads)

    @property
    def reach(self) -> tuple[int, int]:
        """Rows and columns that one window spans: (F - 1) d + 1, dilation included."""
        return (self.kernel[0] - 1) * self.dilation[0] + 1, (self.kernel[1] - 1) * self.dilation[1] + 1

    @property
    def has_weights(self) -> bool:
        """Whether the layer reads a weight tensor (conv, fc, a scan with decays of its own)."""
        return self.op in DENSE_OPS or (self.state is not None and self.state.weights > 0)

    @property
    def is_depthwise(self) -> bool:
        """Whether each output channel reads only one input channel: no reduction over channels."""
        if self.op in DENSE_OPS:
            return self.groups == self.in_channels == self.channels and self.groups > 1
        return self.op not in PRODUCT_OPS

    @property
    def taps(self) -> int:
        """Input elements per output element and input channel: the window, or the number of operands."""
        if self.op in ELEMENTWISE_OPS:
            return len(self.inputs)
        rows, columns = (self._most_taps(axis) for axis in (0, 1))
        return rows * columns * (self.frames.kernel if self.frames else 1)

    def _most_taps(self, axis: int) -> int:
        """Taps that meet an element of the map, not an empty row: with upsample u and dilation d, one in u / gcd."""
        apart = self.upsample[axis] // gcd(self.upsample[axis], self.dilation[axis])
        taps = -(-self.kernel[axis] // apart)
        return min(taps, max(1, self._source_extent(axis))) if self.op == "resize" else taps  # a repeated row: 1

    @property
    def weight_elements(self) -> int:
        """kernel x in_channels / groups x out_channels of the experts in use, without bias; 0 without weights.

        The experts in use are those of one sample; a batch may use more (`Network.in_batch`).
        """
        elements, experts = self._reduced_elements, self.experts
        return elements if experts is None else elements // experts.active * experts.in_use(self.height * self.width)

    @property
    def parameters(self) -> int:
        """Weights of all experts, whether in use or not."""
        elements = self._reduced_elements
        return elements if self.experts is None else elements // self.experts.active * self.experts.count

    @property
    def _reduced_elements(self) -> int:
        """The number of weights that apply to one position."""
        if self.state is not None:
            return self.state.weights
        if not self.has_weights:
            return 0
        frames = self.frames.kernel if self.frames else 1
        return self.kernel[0] * self.kernel[1] * frames * (self.in_channels // self.groups) * self.channels

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights that are loaded, without bias; 0 for layers without weights."""
        return -(-self.weight_elements * self.bits.weights // 8)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one sample: conv, depth-wise, matmul and scan; 0 for pools and element-wise.

        In a transposed convolution every input element meets every tap, as in published counts.
        """
        if self.state is not None:  # each weight meets each row once
            return self.height * (STEPS * self.channels * self.state.size + self.state.weights)
        if self.op == "conv_transpose":
            rows, columns = (self._source_extent(axis) for axis in (0, 1))
            return rows * columns * self._reduced_elements
        if self.op == "matmul" and self.mask is not None:  # scores have channels for all keys, a context inputs
            return self.seen_pairs * (self.in_channels + self.channels - self.groups * self.keys)
        if self.has_weights or self.op == "matmul":
            return self.elements * self.taps * (self.in_channels // self.groups)
        if self.op == "attention":
            return self.seen_pairs * (self.in_channels + self.channels)
        return 0

    @property
    def seen_pairs(self) -> int:
        """Pairs of a query and a key that it sees, one head."""
        if self.mask is None:
            return self.height * self.width * self.keys
        return self.mask.pairs(self.height, self.keys)

    def _source_extent(self, axis: int) -> int:
        """Extent of the input that the windows span; all of it at stride 1, else at most so much.

        The last window may leave out the end of the padding, by less than a stride.
        """
        windows, after = (self.height, self.width)[axis], self.padding[axis + 2]
        spread = (windows - 1) * self.stride[axis] + self.reach[axis] - self.padding[axis] - after
        return (spread - 1 + min(max(0, after), self.stride[axis] - 1)) // self.upsample[axis] + 1

    @property
    def light_ops(self) -> int:
        """Operations of pools and element-wise layers, H W C taps, and of the softmax of an attention; else 0."""
        if self.op == "attention":
            return self.seen_pairs * self.groups
        if self.mask is not None and self.op == "softmax":
            return self.seen_pairs * (self.channels // self.keys)
        if self.has_weights or self.op in ("matmul", "scan"):
            return 0
        return self.elements * self.taps


@dataclass(frozen=True)
class Concat:
    """A concatenation by channel that is not a layer: its readers have several producers instead.

    Kept because scheduling whole tensors counts it as a copy; `concats.sources` finds its readers.

    Examples
    --------
    >>> import workloads
    >>> concat = workloads.load("googlenet").concats[0]
    >>> concat.name, len(concat.inputs), concat.position
    ('inception_3a_concat', 4, 12)
    """

    name: str
    inputs: tuple[str, ...]  #: layers, model inputs or earlier concats, as they were written
    position: int  #: how many layers stand before it in the order of the file or builder


class Note(NamedTuple):
    """A node of an imported graph that is not a layer, or an assumption about it; see `Network.notes`.

    Examples
    --------
    >>> from workloads import Note
    >>> Note("relu1", "Relu", "folded")
    Note(node='relu1', op='Relu', how='folded', weights=0)
    """

    node: str
    op: str  #: its operator, as the file names it
    how: str  #: what became of it, one of workloads.importing.notes.HOW
    weights: int = 0  #: elements of stored weights that this is about


def _pair(pair: tuple[int, int]) -> str:
    return f"{pair[0]}x{pair[1]}"
