"""From the nodes of a layer-graph/1 to a Network; every malformed node gets one line that names it.

The format is in layer_graph. Here are the rules of reading: which shapes a node may declare, how a pad goes into its
readers, which inputs an embedding drops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workloads.errors import NetworkError
from workloads.importing.layer_graph.marks import mark
from workloads.importing.layer_graph.node import Node, nodes_of
from workloads.network.builder import Builder
from workloads.network.layers.attention import MOST_INPUTS, keys_and_values, positions_of
from workloads.network.layers.frames import Frames
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import DENSE_OPS, ELEMENTWISE_OPS, SPREAD_OPS
from workloads.network.layers.shapes import MAX_BYTES, MAX_EXTENT, MAX_ROWS_OF, text, whole_operands
from workloads.network.layers.types import INT8, bits_of
from workloads.network.network import Network


def read_nodes(name: str, entries: Sequence[Any], bits: object = None) -> Network:
    """Return the network with these nodes; raises NetworkError naming the node, the rule and the value.

    bits: of all nodes that do not say their own.
    """
    nodes = nodes_of(entries)
    default = INT8 if bits is None else bits_of(bits)
    return mark(_Reader(name, nodes).read(), nodes, default)


class _Reader:
    """Hands the nodes to a Builder, one by one in their order."""

    def __init__(self, name: str, nodes: Sequence[Node]) -> None:
        self.builder = Builder(name)
        self.nodes = nodes
        self.by_name = {node.name: node for node in nodes}
        self.readers: dict[str, list[Node]] = {node.name: [] for node in nodes}
        for node in nodes:
            for source in node.inputs:
                self.readers[source].append(node)
        self.pads: dict[str, list[int]] = {}
        self.heads: dict[str, int] = {}  # of a matmul with 4-D output, and of element-wise nodes on it

    def read(self) -> Network:
        for node in self.nodes:
            if node.op in ("input", "embed"):
                self._read_input(node)
            elif node.op == "pad":
                self._read_pad(node)
            elif node.op == "concat":
                self._read_concat(node)
            elif node.op in ELEMENTWISE_OPS:
                self._read_elementwise(node)
            elif node.op == "matmul":
                self._read_matmul(node)
            elif node.op == "attention":
                self._read_attention(node)
            elif node.op == "rearrange":
                self._read_rearrange(node)
            elif node.op == "scan":
                self._read_scan(node)
            elif node.op == "fc":
                self._read_fc(node)
            else:
                self._read_window(node)
        return self.builder.build()

    def _read_input(self, node: Node) -> None:
        if node.op == "input" and node.inputs:
            raise node.wrong("inputs", list(node.inputs), "empty")
        for source in node.inputs:
            if self.by_name[source].op not in ("input", "embed"):
                raise NetworkError(f"node {node.name!r} (embed) reads {source!r}, a layer; it must read model inputs")
        readers = self.readers[node.name]
        if not readers or any(reader.op != "embed" for reader in readers):
            self.builder.input(node.name, *node.shape, kind="cache" if node.flag("cache") else "input")

    def _read_pad(self, node: Node) -> None:
        (source,) = self._sources(node, 1)
        sides = node.numbers("padding", 4, -MAX_EXTENT)
        height, width, channels = self.builder.shape(source)
        expected = (height + sides[0] + sides[2], width + sides[1] + sides[3], channels)
        if node.shape != expected:
            raise node.wrong("out_shape", list(node.out_shape), f"{text(expected)}, which follows from {source!r}")
        readers = self.readers[node.name]
        if not readers:
            raise NetworkError(f"node {node.name!r} (pad) has no reader; a conv or pool must read it")
        for reader in readers:
            if reader.op not in ("conv", "maxpool", "avgpool"):
                raise NetworkError(
                    f"node {node.name!r} (pad) is read by {reader.name!r} ({reader.op}); "
                    "only a conv or pool may read it"
                )
        self.pads[node.name] = sides

    def _read_concat(self, node: Node) -> None:
        name = self.builder.concat(node.name, self._sources(node))
        if self.builder.shape(name) != node.shape:
            expected = text(self.builder.shape(name))
            raise node.wrong("out_shape", list(node.out_shape), f"{expected}, which follows from its inputs")

    def _read_elementwise(self, node: Node) -> None:
        sources = self._sources(node)
        height, width, channels = node.shape
        heads = next((self.heads[source] for source in sources if source in self.heads), 0)
        if heads and len(node.out_shape) == 4:
            if node.out_shape[1] != heads:
                raise node.wrong("out_shape", list(node.out_shape), f"[1, {heads}, ...], the heads of its input")
            height, width, channels = node.shape_in_heads()
            self.heads[node.name] = heads
        operands = [self.builder.shape(source) for source in sources]
        whole = whole_operands(node.op, operands, height, width)
        self.builder.append(Layer(node.name, node.op, sources, height, width, channels, channels, whole=whole))

    def _read_matmul(self, node: Node) -> None:
        sources = self._sources(node, *range(2, MAX_ROWS_OF + 1))
        heads, (height, width, channels) = 1, node.shape
        if "heads" in node.content:
            heads = node.number("heads")
        elif len(node.out_shape) == 4:
            heads, (height, width, channels) = node.out_shape[1], node.shape_in_heads()
            self.heads[node.name] = heads
        inner, whole = self.builder.shape(sources[0])[2], tuple(range(1, len(sources)))
        own = node.number("operand_heads") if "operand_heads" in node.content else 0
        self.builder.append(
            Layer(node.name, "matmul", sources, height, width, channels, inner, groups=heads, whole=whole,
                  operand_heads=0 if own == heads else own)
        )  # fmt: skip

    def _read_attention(self, node: Node) -> None:
        sources, (height, width, channels) = self._sources(node, 3, MOST_INPUTS), node.shape
        heads, own = (node.number(key) if key in node.content else 0 for key in ("heads", "operand_heads"))
        keys = positions_of([self.builder.shape(each) for each in keys_and_values(sources)[0]])
        inner = self.builder.shape(sources[0])[2]
        self.builder.append(
            Layer(node.name, "attention", sources, height, width, channels, inner, groups=heads or 1,
                  whole=tuple(range(1, len(sources))), operand_heads=0 if own == heads else own, keys=keys)
        )  # fmt: skip

    def _read_rearrange(self, node: Node) -> None:
        self.builder.rearrange(node.name, self._sources(node), *node.shape)

    def _read_scan(self, node: Node) -> None:
        name = self.builder.scan(node.name, self._sources(node), *node.numbers("state", 2, 0))
        if self.builder.shape(name) != node.shape:
            raise node.wrong("out_shape", list(node.out_shape), "the shape of its first input")

    def _read_fc(self, node: Node) -> None:
        sources = self._sources(node)
        inputs, outputs = node.number("in_features", MAX_BYTES), node.number("out_features")
        if outputs != node.shape[2]:
            raise node.wrong("out_features", outputs, f"{node.shape[2]}, the last extent of its out_shape")
        height, width, _ = self.builder.shape(sources[0])
        channels = sum(self.builder.shape(source)[2] for source in sources)
        if inputs not in (channels, height * width * channels):
            raise node.wrong(
                "in_features", inputs, f"{channels} (each position) or {height * width * channels} (the whole map)"
            )
        kernel = (1, 1) if inputs == channels else (height, width)
        self.builder.append(Layer(node.name, "fc", sources, *node.shape, channels, kernel))

    def _read_window(self, node: Node) -> None:
        sources = self._sources(node)
        sides = node.numbers("padding", 4, -MAX_EXTENT)
        for source in node.inputs:
            if source in self.pads:
                if len(node.inputs) > 1:
                    raise NetworkError(
                        f"node {node.name!r} ({node.op}) reads the pad {source!r} and other nodes; "
                        "it must read it alone"
                    )
                sides = [self._folded(node, *pair) for pair in zip(sides, self.pads[source], strict=True)]
        kernel, stride, dilation, groups = node.pair("kernel"), node.pair("stride"), (1, 1), 1
        if node.op in DENSE_OPS or "dilation" in node.content:
            dilation = node.pair("dilation")
        upsample = node.pair("upsample") if node.op in SPREAD_OPS else (1, 1)
        if node.op not in DENSE_OPS:
            channels = sum(self.builder.shape(source)[2] for source in sources)
        else:
            channels, groups = node.number("in_channels"), node.number("groups")
        top, left, bottom, right = sides
        padding = (top, left, bottom, right)
        frames = Frames(*node.numbers("frames", 4, 0)) if "frames" in node.content else None
        self.builder.append(
            Layer(node.name, node.op, sources, *node.shape, channels, kernel, stride, padding, dilation, groups,
                  upsample=upsample, frames=frames)
        )  # fmt: skip

    def _folded(self, node: Node, own: int, pad: int) -> int:
        """Padding of a pad and of its reader on one side: they add up unless one crops what the other adds."""
        if own * pad < 0:
            raise node.wrong("padding", own, f"0 or of the sign of the pad it reads ({pad})")
        return own + pad

    def _sources(self, node: Node, *counts: int) -> tuple[str, ...]:
        """The inputs of a layer, through pads; as many as one of `counts`, or at least one."""
        if not node.inputs or (counts and len(node.inputs) not in counts):
            raise node.wrong("inputs", list(node.inputs), f"a list of {' or '.join(map(str, counts)) or 'at least 1'}")
        return tuple(self.by_name[name].inputs[0] if name in self.pads else name for name in node.inputs)
