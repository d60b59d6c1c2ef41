"""A layer and its loops scaled down, by kind of layer: the same structure on smaller maps, with fewer channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from simulator.execution.count.layer_facts import has_weights, is_depthwise, size_bytes, tensor_of
from simulator.execution.layer.common.plan import LayerPlan, key_blocks, kind_of
from simulator.execution.layer.common.windows import Line, lines_of, masks, union
from simulator.execution.layer.smaller import Axis, Parts, Small, shrink_axis, shrink_cut, shrink_parts
from workloads.network.layers.layer import Tensor
from workloads.network.layers.mask import Mask
from workloads.network.layers.ops import ELEMENTWISE_OPS, WINDOW_OPS
from workloads.network.network import Network

SAMPLES = Small(2)  #: that run at once
MORE_WORDS = 12  #: of inputs that are tried until they are as many slices, the last as short; our choice
Shape = tuple[int, int, int]


class Scale(NamedTuple):
    """How far a layer is scaled down."""

    most: int  #: steps of a loop
    tile: int | None = None  #: rows, and columns, of outputs of a tile; None: as many as a window reaches
    rounds: int = 3  #: of samples
    taps: int | None = None  #: of a kernel that makes one output, along each axis


class SmallLayer(NamedTuple):
    """A network of one layer, and its loops."""

    network: Network
    plan: LayerPlan
    batch: int


def shrink_layer(network: Network, v: int, plan: LayerPlan, batch: int, word: int, scale: Scale) -> SmallLayer:
    """Return a layer and its loops at this scale.

    Examples
    --------
    >>> import workloads
    >>> found = shrink_layer(workloads.load("vgg16"), 1, LayerPlan("KT", "ring", (1, 224), chunk=8), 1, 8, Scale(3))
    >>> found.network.layers, found.plan.tile, found.plan.chunk
    ((Layer(n: conv 3x3 of x0, 3x3x24),), (1, 3), 8)
    """
    small = Small(max(word, 2), word)
    is_single = plan.order == "RS" or network.layers[v].op not in WINDOW_OPS  # samples one by one
    cut = shrink_cut([batch], 1 if is_single else plan.at_once, SAMPLES, scale.rounds)
    one = _Shrinking(network, v, plan._replace(at_once=cut.step), word, small, scale)
    op = network.layers[v].op
    if op == "rearrange":
        found = one.copied()
    elif op in ELEMENTWISE_OPS:
        found = one.joined()
    elif op == "attention":
        found = one.attention()
    elif op == "scan":
        found = one.scan()
    elif op == "matmul":
        found = one.product()
    else:
        found = one.apart() if is_depthwise(network.layers[v]) else one.dense()
    return SmallLayer(*found, cut.lengths[0])


class _Shrinking:
    """A layer whose loops over samples are scaled down."""

    def __init__(self, network: Network, v: int, plan: LayerPlan, word: int, small: Small, scale: Scale) -> None:
        self.network, self.v, self.plan, self.word, self.small, self.scale = network, v, plan, word, small, scale
        self.layer, self.ids = network.layers[v], network.operands[v]
        self.tensors = [tensor_of(network, u) for u in self.ids]
        layer, self.whole_plan = self.layer, plan
        tile = (layer.height, plan.tile[1]) if plan.order == "RS" else plan.tile
        down, across = (
            shrink_axis(Axis(line, size, after), scale.tile, scale.taps, scale.most)
            for line, size, after in zip(lines_of(network, v), tile, layer.padding[2:])
        )
        self.axes = down, across
        self.plan = plan._replace(tile=(1 if plan.order == "RS" else down.tile, across.tile))

    def copied(self) -> tuple[Network, LayerPlan]:
        """Words, one after the other; the output keeps its size relative to the inputs."""
        sizes = {u: size_bytes(self.network, u) for u in self.ids}
        total, made = sum(sizes.values()), size_bytes(self.network, self.v)
        (count,), *_ = shrink_cut([total], self.word, Small(self.word), self.scale.most)
        count = max(count, len(sizes))
        ends = [0]
        for i, end in enumerate(accumulate(sizes.values())):
            ends.append(max(i + 1, min(count - (len(sizes) - 1 - i), end * count // total)))
        parts = dict(zip(sizes, (b - a for a, b in pairwise(ends))))
        rows = max(1, made * count // total, count + 1 if made > total else 1)
        rows = min(rows, count - 1) if made < total and count > 1 else rows
        shapes = [(parts[u], 1, 1) for u in self.ids]
        return self._build(shapes, height=rows, width=1, channels=1, in_channels=1), self.plan._replace(tile=(rows, 1))

    def joined(self) -> tuple[Network, LayerPlan]:
        """Channels that run together, and what is broadcast. The choices of other loops follow the channels."""
        layer, plan = self.layer, self.plan
        (channels,), apart, _ = shrink_cut([layer.channels], plan.apart, self.small, self.scale.most)
        (height, width), shapes = self._outputs(), []
        for t in self.tensors:
            rows, columns = (height if t.height == layer.height else 1), (width if t.width == layer.width else 1)
            shapes.append((rows, columns, channels if t.channels == layer.channels else 1))
        chunk, inputs, inner = (self._like_apart(size, apart) for size in (plan.chunk, plan.slice, plan.inner))
        network = self._build(shapes, height=height, width=width, channels=channels, in_channels=channels)
        return network, plan._replace(apart=apart, chunk=chunk, slice=inputs, inner=inner)

    def _like_apart(self, size: int, apart: int) -> int:
        if size == self.plan.apart:
            return apart
        return shrink_cut([self.layer.channels], size, self.small, self.scale.most).step

    def apart(self) -> tuple[Network, LayerPlan]:
        """Channels of one input at a time; for a slice, the first."""
        layer, distinct = self.layer, list(dict.fromkeys(self.ids))
        step = self.word if self.plan.order == "RS" else self.plan.apart
        lengths = [self.network.tensors[u].channels for u in distinct]
        found = shrink_cut(lengths, step, self.small, self.scale.most)
        channels = dict(zip(distinct, found.lengths))
        apart, inputs = found.step, sum(channels[u] for u in self.ids)
        outputs = inputs
        if layer.channels < layer.in_channels:
            outputs = self._first(layer.channels, channels, step, apart)
        network = self._build(
            self._with_channels([channels[u] for u in self.ids]), **self._window(), channels=outputs,
            in_channels=inputs, groups=inputs if has_weights(layer) else 1,
        )  # fmt: skip
        return network, self.plan._replace(apart=self.plan.apart if self.plan.order == "RS" else apart)

    def dense(self) -> tuple[Network, LayerPlan]:
        """Outputs in chunks, inputs in slices, groups one after the other."""
        outputs, plan = self._outputs_of_a_part(self.small)
        parts, plan = self._inputs(plan, [t.channels for t in self.tensors], outputs, False)
        network = self._build(
            self._with_channels(parts.channels), **self._window(), channels=parts.groups * outputs,
            in_channels=sum(parts.channels), groups=parts.groups,
        )  # fmt: skip
        return network, plan

    def product(self) -> tuple[Network, LayerPlan]:
        """The same for a product; its second operand must not be mistaken for the other kind."""
        is_plain = kind_of(self.network, self.v) == "product"
        for wide in (0, 1):
            outputs, plan = self._outputs_of_a_part(self.small._replace(least=self.small.least + wide * self.word))
            parts, plan = self._inputs(plan, [self.layer.in_channels], outputs, is_plain)
            if not is_plain or parts.inputs != outputs:
                break
        second = (parts.inputs, 1, parts.groups * outputs) if is_plain else (outputs, 1, parts.channels[0])
        height, width = self._outputs()
        shapes = [(height, width, parts.channels[0]), second]
        network = self._build(
            shapes, height=height, width=width, channels=parts.groups * outputs, in_channels=parts.channels[0],
            groups=parts.groups,
        )  # fmt: skip
        return network, plan

    def attention(self) -> tuple[Network, LayerPlan]:
        """Heads of one word of channels, and keys in as many blocks, the last still shorter."""
        layer, (height, width) = self.layer, self._outputs()
        (keys,), block, _ = shrink_cut([layer.keys], self.plan.slice, Small(self.word, self.word), self.scale.most)
        heads = min(layer.groups, self.scale.most)
        inner, made = (self.small.of(each // layer.groups) for each in (layer.in_channels, layer.channels))
        is_query = [u == self.ids[0] for u in self.ids]  # a map that is its own keys
        if any(is_query[1:]):
            keys = height * width
        mask = layer.mask and smaller_mask(layer.mask, max(keys, height) - height, block)
        if mask is not None:
            keys, block = max(keys, height), block if self._has_sums() else max(keys, height)
        shapes = [(height, width, heads * inner), (keys, 1, heads * inner), (keys, 1, heads * made)]
        shapes = [shapes[0] if own else each for own, each in zip(is_query, shapes)]
        network = self._build(
            shapes,
            height=height,
            width=width,
            channels=shapes[2][2],
            in_channels=heads * inner,
            groups=heads,
            keys=keys,
            mask=mask,
        )
        return network, self.plan._replace(chunk=made, slice=block, inner=made)

    def scan(self) -> tuple[Network, LayerPlan]:
        """Fewer rows; the state, all channels and their blocks stay."""
        height, channels = self._outputs()[0], [t.channels for t in self.tensors]
        shapes = [(height, 1, each) for each in channels]
        fields = {"channels": self.layer.channels, "in_channels": sum(channels), "state": self.layer.state}
        return self._build(shapes, height=height, width=1, **fields), self.plan

    def _has_sums(self) -> bool:
        """Return whether a tile of an attention has several blocks."""
        return max(map(len, key_blocks(self.layer, self.whole_plan).values())) > 1

    def _outputs_of_a_part(self, small: Small) -> tuple[int, LayerPlan]:
        """Return the outputs of a group or head, and their chunks, inner chunks and what is kept of them."""
        plan, outputs = self.plan, self.layer.channels // self.layer.groups
        lengths = [plan.kept, outputs - plan.kept] if plan.order == "TP" else [outputs]
        often = plan.inner if plan.order == "BC" else None
        found = shrink_cut(lengths, plan.chunk, small, self.scale.most, often)
        kept = found.lengths[0] if plan.order == "TP" else self._kept_rows() if plan.order == "KP" else plan.kept
        inner = found.step if plan.inner >= plan.chunk else found.inner
        return sum(found.lengths), plan._replace(chunk=found.step, inner=inner, kept=kept)

    def _kept_rows(self) -> int:
        """Return how many rows stay: the same share of the rows met as before."""
        before, after = (union(masks(line, 1)).bit_count() for line in (self._lines()[0], self.axes[0].line))
        kept = self.plan.kept
        if kept >= before:
            return after + kept - before
        return max(min(kept, 1), min(kept * after // before, after - 1))

    def _inputs(
        self, plan: LayerPlan, channels: Sequence[int], outputs: int, is_plain: bool
    ) -> tuple[Parts, LayerPlan]:
        """Return the inputs of each operand, cut into as many slices as before, the last still shorter."""
        groups, most = self.layer.groups, self.scale.most
        same = [self.ids.index(u) for u in self.ids]
        before = self._slices(plan, channels, groups, plan.slice)
        least = None
        for more in range(MORE_WORDS):
            parts = shrink_parts(channels, groups, self.small, most, more)
            if (is_plain and parts.inputs == outputs) or any(
                parts.channels[i] != parts.channels[j] for i, j in zip(range(len(parts.channels)), same)
            ):
                continue
            if plan.order not in ("TKC", "BC"):
                return parts, plan._replace(slice=parts.inputs)
            least = least or parts
            for size in range(self._least_slice(plan), parts.inputs + 2 * self.word, self.word):
                count, is_short = self._slices(plan, parts.channels, parts.groups, size)
                if (count, is_short) == (min(before[0], most), before[1]):
                    return parts, plan._replace(slice=size)
        return least or Parts(list(channels), self.layer.in_channels // groups, groups), plan

    def _least_slice(self, plan: LayerPlan) -> int:
        return self.word if plan.order == "BC" else plan.slice % self.word or self.word

    def _slices(self, plan: LayerPlan, channels: Sequence[int], groups: int, size: int) -> tuple[int, bool]:
        """Return the number of slices (of channels, or of words of an operand) and whether the last is shorter."""
        total, ends = sum(channels) // groups, [0, *accumulate(channels)]
        if plan.order == "BC":
            size, spans = max(1, size // self.word), [(i * total, (i + 1) * total) for i in range(groups)]
            overlaps = ([min(b, last) - max(a, first) for a, b in pairwise(ends)] for first, last in spans)
            total = max(sum(-(-max(0, each) // self.word) for each in group) for group in overlaps)
        return -(-total // size), total % size > 0

    def _first(self, count: int, channels: dict[int, int], step: int, apart: int) -> int:
        """Return how many channels a slice keeps: of the operand where it ends as many steps, and what is over."""
        found = 0
        for u in self.ids:
            mine = self.network.tensors[u].channels
            if count < mine:
                full, rest = divmod(count, step)
                return max(1, found + min(full * apart + self.small.of(rest), channels[u] - 1))
            found, count = found + channels[u], count - mine
        return found

    def _lines(self) -> tuple[Line, Line]:
        return lines_of(self.network, self.v)

    def _outputs(self) -> tuple[int, int]:
        return self.axes[0].line.outputs, self.axes[1].line.outputs

    def _window(self) -> dict[str, Any]:
        """Return the fields of a layer's windows."""
        down, across = (axis.line for axis in self.axes)
        return {
            "height": down.outputs, "width": across.outputs, "kernel": (down.taps, across.taps),
            "padding": (down.padding, across.padding, self.axes[0].after, self.axes[1].after),
            "dilation": (down.dilation, across.dilation),
        }  # fmt: skip

    def _with_channels(self, channels: Sequence[int]) -> list[Shape]:
        return [(self.axes[0].line.extent, self.axes[1].line.extent, each) for each in channels]

    def _build(self, shapes: Sequence[Shape], **fields: Any) -> Network:
        """Return the network of one layer; operands that are one tensor remain one.

        Only an attention keeps its mask: what others move does not depend on it.
        """
        fields = {"keys": 0, "mask": None} | fields
        names: dict[tuple[int, Shape], str] = {}
        for key in zip(self.ids, shapes):
            names.setdefault(key, f"x{len(names)}")
        tensors = tuple(Tensor(name, *shape) for (_, shape), name in names.items())
        layer = replace(self.layer, name="n", inputs=tuple(names[key] for key in zip(self.ids, shapes)), **fields)
        return Network("one", tensors, (layer,))


def smaller_mask(mask: Mask, past: int, block: int) -> Mask:
    """Return a mask over fewer keys, of which `past` come before the first query: each is seen by some query."""
    behind, ahead = (None if far is None else min(far, block) for far in (mask.behind, mask.ahead))
    chunk = max(min(mask.chunk, 2 * block), past + 1) if mask.chunk else 0
    return Mask(None if behind is None else max(behind, past), ahead, chunk)
