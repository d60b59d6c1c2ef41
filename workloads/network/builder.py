"""Builder: writes a network in forward order, infers shapes, and dissolves concatenations by channel."""

from __future__ import annotations

from collections.abc import Sequence

from workloads.errors import NetworkError, shown
from workloads.network.decoding import FeedForward, Mixer, add_decoder_layer
from workloads.network.layers.attention import positions_of
from workloads.network.layers.frames import Frames
from workloads.network.layers.layer import Layer
from workloads.network.layers.mask import Mask
from workloads.network.layers.shapes import matmul_forms, text
from workloads.network.layers.state import State
from workloads.network.layers.types import Experts
from workloads.network.layers.windows import (
    Inputs,
    Method,
    Padding,
    Pair,
    listed,
    pair_of,
    resize_window,
    sides_of,
    transposed_padding,
)
from workloads.network.written import Written


class Builder(Written):
    """Collects layers in the order they are written; every method returns the name of what it added.

    Raises NetworkError as soon as a layer does not fit its inputs. A `concat` does not become a layer if all its
    readers are conv, fc, pools or concat: they read its parts, and Network.concats records it. Otherwise (a model
    output, or any other reader) it becomes one layer, an ordinary 1x1 pool, for all its readers.

    Parameters
    ----------
    name : str
        Of the network.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("tiny")
    >>> x = b.conv("conv1", b.input("image", 32, 32, 3), 16, kernel=3, padding=1)
    >>> y = b.conv("conv2", b.depthwise("dw", x), 16)
    >>> _ = b.add("sum", [x, y])
    >>> b.build()
    Network(tiny, 4 layers, 851,968 MACs, 832 B of weights)
    """

    def conv(
        self,
        name: str,
        inputs: Inputs,
        channels: int,
        kernel: Pair = 1,
        stride: Pair = 1,
        padding: Padding = 0,
        dilation: Pair = 1,
        groups: int = 1,
        frames: Frames | None = None,
    ) -> str:
        """Add a convolution (weights: kernel * in_channels / groups * channels); with frames also over time."""
        return self._window(
            "conv", name, inputs, kernel, stride, padding, dilation, channels=channels, groups=groups, frames=frames
        )

    def conv_transpose(
        self,
        name: str,
        inputs: Inputs,
        channels: int,
        kernel: Pair = 2,
        stride: Pair = 2,
        padding: Padding = 0,
        output_padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
    ) -> str:
        """Add a transposed convolution: the map grows by the stride. Our fields of it: see windows.py."""
        taps, spread = pair_of(name, "kernel", kernel), pair_of(name, "stride", stride)
        apart, extra = pair_of(name, "dilation", dilation), pair_of(name, "output_padding", output_padding, least=0)
        reaches = [(taps[i] - 1) * apart[i] + 1 for i in (0, 1)]
        sides = transposed_padding(sides_of(name, padding, (1, 1), (1, 1), (1, 1)), extra, reaches)
        return self._window(
            "conv_transpose", name, inputs, taps, 1, sides, apart, channels=channels, groups=groups, upsample=spread
        )

    def resize(
        self,
        name: str,
        inputs: Inputs,
        height: int,
        width: int,
        method: Method = "nearest",
        align_corners: bool = False,
    ) -> str:
        """Add a resize of the map to height x width, without weights: nearest reads 1, linear 2x2, cubic 4x4."""
        extents = self._channels_joined(name, listed(inputs))[:2]
        pair_of(name, "size", (height, width))
        rows, columns = (resize_window(extents[i], (height, width)[i], method, align_corners) for i in (0, 1))
        sides = (rows.before, columns.before, rows.after, columns.after)
        return self._window(
            "resize", name, inputs, (rows.kernel, columns.kernel), (rows.stride, columns.stride), sides,
            upsample=(rows.upsample, columns.upsample),
        )  # fmt: skip

    def slice(
        self, name: str, inputs: Inputs, channels: int | None = None, stride: Pair = 1, padding: Padding = 0
    ) -> str:
        """Add what is left of some channels, every `stride`-th row and column, and negative padding; no weights."""
        return self._window("slice", name, inputs, 1, stride, padding, channels=channels)

    def rearrange(self, name: str, inputs: Inputs, height: int, width: int, channels: int) -> str:
        """Add the elements of its inputs in any other order and shape; all are needed whole."""
        sources = listed(inputs)
        whole = tuple(range(len(sources)))
        return self.append(Layer(name, "rearrange", sources, height, width, channels, channels, whole=whole))

    def depthwise(
        self,
        name: str,
        inputs: Inputs,
        kernel: Pair = 3,
        stride: Pair = 1,
        padding: Padding = "same",
        dilation: Pair = 1,
    ) -> str:
        """Add a depth-wise convolution: as many groups as channels."""
        channels = sum(self.shape(source)[2] for source in listed(inputs))
        return self.conv(name, inputs, channels, kernel, stride, padding, dilation, groups=channels)

    def separable(
        self,
        name: str,
        inputs: Inputs,
        channels: int,
        kernel: Pair = 3,
        stride: Pair = 1,
        padding: Padding = "same",
    ) -> str:
        """Add a depth-wise convolution `name`_dw and a 1x1 convolution `name`_pw; returns the latter."""
        return self.conv(f"{name}_pw", self.depthwise(f"{name}_dw", inputs, kernel, stride, padding), channels)

    def fc(
        self,
        name: str,
        inputs: Inputs,
        features: int,
        flatten: bool | None = None,
        experts: Experts | None = None,
        appended: bool = False,
    ) -> str:
        """Add a fully connected layer.

        It flattens a map, as a convolution with the kernel of that map; each row of a sequence (width 1) goes through
        a 1x1 convolution. `flatten` says which, where the map of width 1 is no sequence. With experts, `features` are
        those of the active ones together, or its inputs' are. appended: its rows are appended to a cache.
        """
        height, width, _ = self._channels_joined(name, listed(inputs))
        kernel = (height, width) if (width > 1 if flatten is None else flatten) else (1, 1)
        return self._window("fc", name, inputs, kernel, channels=features, experts=experts, appended=appended)

    def recurrent(self, name: str, source: str, channels: int) -> str:
        """Add a recurrent layer (weights: channels of the source * channels).

        The source is a sequence of gates, made of the input: 4 of an LSTM, 3 of a GRU, each of so many channels.
        """
        return self._window("recurrent", name, source, channels=channels)

    def scan(self, name: str, inputs: Sequence[str], state: int, weights: int | None = None) -> str:
        """Add a scan over the rows of sequences: u, gates if any, b and c (see `State`), which carries a state.

        state: numbers for each channel of u. weights: numbers that its decays are made of; one for each channel and
        number of the state unless given.

        Examples
        --------
        Mamba on 6 rows of 8 channels: each row takes 3 MACs for each of 8 x 16 numbers, and one for each weight.

        >>> from workloads import Builder
        >>> b = Builder("one")
        >>> parts = [b.input(each, 6, 1, width) for each, width in (("u", 8), ("step", 8), ("b", 16), ("c", 16))]
        >>> _ = b.scan("y", parts, state=16)
        >>> b.build()
        Network(one, 1 layers, 3,072 MACs, 128 B of weights)
        """
        sources = listed(inputs)
        height, width, in_channels = self._channels_joined(name, sources)
        channels = self.shape(sources[0])[2]
        if weights is None:
            weights = channels * state if type(state) is int else 0  # a wrong state is told of below
        return self.append(
            Layer(name, "scan", sources, height, width, channels, in_channels, state=State(state, weights))
        )

    def maxpool(
        self,
        name: str,
        inputs: Inputs,
        kernel: Pair,
        stride: Pair | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        frames: Frames | None = None,
    ) -> str:
        """Add a max pool; the stride is the kernel unless given. With frames it is also over time."""
        return self._window("maxpool", name, inputs, kernel, stride, padding, ceil_mode=ceil_mode, frames=frames)

    def avgpool(
        self,
        name: str,
        inputs: Inputs,
        kernel: Pair,
        stride: Pair | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
    ) -> str:
        """Add an average pool; the stride is the kernel unless given."""
        return self._window("avgpool", name, inputs, kernel, stride, padding, ceil_mode=ceil_mode)

    def global_avgpool(self, name: str, inputs: Inputs) -> str:
        """Add an average pool over the whole map."""
        return self._window("avgpool", name, inputs, self._channels_joined(name, listed(inputs))[:2])

    def add(self, name: str, inputs: Sequence[str]) -> str:
        """Add an element-wise sum; an operand with extents of 1 is broadcast."""
        return self._elementwise("add", name, inputs)

    def mul(self, name: str, inputs: Sequence[str]) -> str:
        """Add an element-wise product; an operand with extents of 1 is broadcast."""
        return self._elementwise("mul", name, inputs)

    def softmax(self, name: str, source: str, mask: Mask | None = None, heads: int = 1) -> str:
        """Add a softmax over the channels of each position (of each head, where a matmul has several).

        With a mask, over the keys that a query sees; `heads` are those of the scores.
        """
        keys = 0 if mask is None else self.shape(source)[2] // heads
        return self._elementwise("softmax", name, source, mask, keys)

    def layernorm(self, name: str, source: str) -> str:
        """Add a layer normalisation over the channels of each position."""
        return self._elementwise("layernorm", name, source)

    def lrn(self, name: str, source: str) -> str:
        """Add a local response normalisation across neighbouring channels."""
        return self._elementwise("lrn", name, source)

    def matmul(
        self,
        name: str,
        first: str,
        second: Inputs,
        heads: int = 1,
        transpose: bool = False,
        operand_heads: int | None = None,
        mask: Mask | None = None,
    ) -> str:
        """Add a product of two activations, head by head; every row needs all of `second`.

        `first` is L x (heads R). Transposed (scores), `second` is M x (heads R) and the output L x (heads M); else
        (context) `second` is R x (heads M) and the output L x (heads M) too. With fewer operand heads `second` has so
        many, each for heads / operand_heads of the first. `second` may be a cache and the rows below it. With b times
        the heads both are in b blocks of positions, and L and M are those of a block. mask: of the scores, or of what
        the softmax of masked scores weights.
        """
        sources = (first, *listed(second))
        operands = [self.shape(source) for source in sources]
        own = 0 if operand_heads in (None, heads) else operand_heads
        for value in (heads, operand_heads):
            if value is not None and (type(value) is not int or value < 1):
                raise NetworkError(f"layer {name!r} (matmul) has {shown(value)} heads; it must be an integer from 1")
        if own and heads % own and own % heads:
            rule = f"they must divide its {heads} heads, or be a multiple of them"
            raise NetworkError(f"layer {name!r} (matmul) has {own} operand heads; {rule}")
        forms = matmul_forms(operands, heads, own or 0)
        if transpose not in forms:
            raise NetworkError(
                f"layer {name!r} (matmul) cannot multiply {text(operands[0])} with "
                f"{' over '.join(map(text, operands[1:]))}{' transposed' if transpose else ''} in {shown(heads)} heads"
            )
        height, width, inner = operands[0]
        whole = tuple(range(1, len(sources)))
        keys = 0 if mask is None else positions_of(operands[1:])
        return self.append(
            Layer(name, "matmul", sources, height, width, forms[transpose], inner, groups=heads, whole=whole,
                  operand_heads=own or 0, keys=keys, mask=mask)
        )  # fmt: skip

    def attention(
        self,
        name: str,
        queries: str,
        keys: Inputs,
        values: Inputs,
        heads: int = 1,
        operand_heads: int | None = None,
        mask: Mask | None = None,
    ) -> str:
        """Add an attention as one layer: scores, softmax and context, head by head, in blocks of keys and values.

        `queries` is L x (heads R), `keys` S x (operand_heads R), `values` S x (operand_heads M), the output
        L x (heads M). `keys` and `values` may be a cache and the rows below it. mask: which keys a query sees.

        Examples
        --------
        Two heads of 4 channels, 6 queries: causal, they see 1 + 2 + .. + 6 = 21 keys of 36.

        >>> from workloads import Builder, Mask
        >>> b = Builder("one")
        >>> _ = b.attention("mix", *(b.input(each, 6, 1, 8) for each in "qkv"), heads=2, mask=Mask())
        >>> b.build()
        Network(one, 1 layers, 336 MACs, 0 B of weights)
        """
        for value in (heads, operand_heads):
            if value is not None and (type(value) is not int or value < 1):
                raise NetworkError(f"layer {name!r} (attention) has {shown(value)} heads; it must be an integer from 1")
        parts = [listed(each) for each in (keys, values)]
        found = [[self.shape(source) for source in each] for each in parts]
        own = 0 if operand_heads in (None, heads) else operand_heads or 0
        sources, (height, width, inner) = (queries, *parts[0], *parts[1]), self.shape(queries)
        channels = found[1][0][2] // (own or heads) * heads
        return self.append(
            Layer(name, "attention", sources, height, width, channels, inner, groups=heads,
                  whole=tuple(range(1, len(sources))), operand_heads=own, keys=positions_of(found[0]), mask=mask)
        )  # fmt: skip

    def decoder_layer(
        self,
        name: str,
        source: str,
        mixer: Mixer,
        feed_forward: FeedForward | None = None,
        past: int | Sequence[int] = 0,
        norms_after: bool = False,
        masks: bool = False,
        prefix: int = 0,
    ) -> str:
        """Add a layer of a language model: norm, mixer and residual sum, then norm, feed-forward part and residual sum.

        mixer: SelfAttention, LatentAttention or StateSpace, what mixes positions. past: rows of its cache, model inputs
        `name`_k_cache and so on; what the step makes of it is appended. Several pasts: sequences of unequal lengths,
        whose equally many rows stand one below the other in `source`; prefix: how many first rows of their pasts they
        share, `name`_k_prefix and so on. norms_after: norms in front of the sums too. masks: a row sees the rows before
        it and itself, as far as the window reaches; else all rows.
        Returns the name of the last sum; raises NetworkError where a part does not fit the width of `source`.

        Examples
        --------
        >>> from workloads import Builder, FeedForward, SelfAttention
        >>> b = Builder("step")
        >>> _ = b.decoder_layer("l1", b.input("x", 1, 1, 64), SelfAttention(4, 2, 16), FeedForward(192), past=100)
        >>> b.build()
        Network(step, 15 layers, 62,080 MACs, 49,152 B of weights)
        """
        pasts = (past,) if isinstance(past, int) else tuple(past)
        if not pasts or self.shape(source)[0] % len(pasts):
            raise NetworkError(f"layer {name!r} has {len(pasts)} pasts; they must divide the rows of {source!r}")
        if not 0 <= prefix <= min(pasts) or (prefix and len(pasts) == 1):
            rule = "it must be at most each of several pasts"
            raise NetworkError(f"layer {name!r} has prefix {shown(prefix)} and past {shown(past)}; {rule}")
        return add_decoder_layer(self, name, source, mixer, feed_forward, pasts, norms_after, masks, prefix)

    def concat(self, name: str, inputs: Sequence[str]) -> str:
        """Add a concatenation by channel; whether it is a layer follows from its readers."""
        return self._window("concat", name, inputs)
