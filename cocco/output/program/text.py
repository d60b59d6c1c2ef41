"""Pieces of C text: blocks with their indentation, the call of the operator of a layer, and its constants."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.network import Network

WORD = 8  #: channels that pass together
OPS = {
    "conv": "c", "fc": "c", "conv_transpose": "c", "matmul": "c", "maxpool": "m", "avgpool": "s", "concat": "s",
    "resize": "s", "slice": "s", "add": "+", "mul": "*", "softmax": "S", "layernorm": "N", "lrn": "L", "rearrange": "r",
    "attention": "c",
}  # fmt: skip


class Code:
    """Lines of C; a block indents what is written inside it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def __call__(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write a head, and in braces what the body writes; a block of one statement has no braces."""
        is_function = head.startswith(("void", "static", "int main"))
        start = len(self.lines)
        self(head)
        self.depth += 1
        yield
        self.depth -= 1
        if is_function:
            self.lines.insert(start + 1, "{")
            self("}")
        else:
            self.lines[start] += " {"
            self("}")


def call_of(
    layer: Layer, name: str, operands: Sequence[str], weights: str, out: str, follow: str = "NULL", tile: str = "tile"
) -> str:
    """Return the call that makes a tile of a layer: its operands, weights and result are regions."""
    x, op = regions_of(operands), OPS[layer.op]
    if op == "c":
        return f"convolve(&{name}_layer, {x}, &{weights}, &{out}, {follow}, {tile});"
    return f"{ {'m': 'slide', 's': 'slide', 'r': 'rearrange'}.get(op, 'join') }(&{name}_layer, {x}, &{out}, {tile});"


def regions_of(names: Sequence[str]) -> str:
    """Return regions and their number, as C."""
    return f"(struct region *const[]){{{', '.join(f'&{each}' for each in names)}}}, {len(names)}"


def seconds_of(name: str, count: int) -> list[str]:
    """Return the definitions of the weights of a product whose second operand is this many maps on chip."""
    names = [name, *(f"{name}_{number}" for number in range(1, count))]
    pairs = reversed([*zip(names, [*names[1:], ""])])
    return [f"static struct weights {each} = {{.next = {f'&{after}' if after else 'NULL'}}};" for each, after in pairs]


_PLAIN = frozenset(string.ascii_letters + string.digits + " _-./:,()[]+=")


def literal(text: str) -> str:
    """Return a string of C with this text; whatever could end it, or begin an escape or a trigraph, is in octal."""
    return '"' + "".join(chr(each) if chr(each) in _PLAIN else f"\\{each:03o}" for each in text.encode()) + '"'


def remark(text: str) -> str:
    """Return a comment of C with this text, which cannot end it, nor continue a line."""
    return "/* " + re.sub(r"[*\\?]|/(?=[*/])", "_", text) + " */"


def span(first: object, stop: object) -> str:
    """Return a span from the first to before the last, as C."""
    return f"(struct span){{{first}, {stop}}}"


def layer_text(layer: Layer, name: str, heads: int) -> str:
    """Return the constants of a layer. heads: that each have statistics of their own."""
    down, across = (
        f"{{{layer.kernel[axis]}, {layer.stride[axis]}, {layer.dilation[axis]}, {layer.padding[axis]}, "
        f"{layer.upsample[axis]}}}"
        for axis in (0, 1)
    )
    sharing = sharing_of(layer)
    heads = sharing if layer.op == "matmul" else heads
    used, active = experts_of(layer)
    return (
        f"static const struct layer {name}_layer = {{{literal(layer.name)}, '{OPS[layer.op]}', "
        f"{layer.height * sharing}, {layer.width}, {layer.channels}, {layer.in_channels}, {layer.groups}, {heads}, "
        f"{down}, {across}, {used}, {active}}};"
    )


def experts_of(layer: Layer) -> tuple[int, int]:
    """Return how many experts' weights come for so many that take part; 1 and 1 without experts."""
    experts = layer.experts
    return (1, 1) if experts is None else (experts.in_use(layer.height * layer.width), experts.active)


def sharing_of(layer: Layer) -> int:
    """Return how many heads of a product share one of its second operand; they are rows one below the other."""
    return layer.sharing if layer.op in PRODUCT_OPS else 1


def heads_of(network: Network, u: int) -> int:
    """Return the heads of a tensor: those of the product that element-wise layers lead back to."""
    if u >= len(network.layers):
        return 1
    layer = network.layers[u]
    if layer.op == "matmul":
        return layer.groups
    is_joined = OPS.get(layer.op, "") in tuple("+*SNL")
    return max(heads_of(network, p) for p in network.operands[u]) if is_joined else 1


def is_transposed(network: Network, v: int) -> bool:
    """Return whether a product's second operand is multiplied transposed: its rows are the outputs."""
    layer, second = network.layers[v], [network.tensors[u] for u in network.operands[v][1:]]
    has_rows = second[0].channels // layer.second_heads == layer.in_channels // layer.groups
    return has_rows and sum(each.height * each.width for each in second) * layer.groups == layer.channels
