"""Attention as one layer: every row of queries is multiplied with all keys and weights the values by the softmax.

The L x S scores of every head belong to no tensor: keys and values pass in blocks, with a running maximum and sum
(docs/language-models.md). As three layers it would be a matmul, a softmax and a matmul.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workloads.errors import NetworkError, shown

if TYPE_CHECKING:
    from workloads.network.layers.layer import Layer

MOST_INPUTS = 5  #: the queries; keys and values, each of them a cache and the rows below it

Shape = tuple[int, int, int]
Operand = TypeVar("Operand")


def keys_and_values(operands: Sequence[Operand]) -> tuple[Sequence[Operand], Sequence[Operand]]:
    """Return the keys and the values among the operands: equally many of each, after the queries.

    Examples
    --------
    >>> keys_and_values([7, 3, 4, 5, 6])
    ([3, 4], [5, 6])
    """
    middle = 1 + len(operands) // 2
    return operands[1:middle], operands[middle:]


def positions_of(shapes: Sequence[Shape]) -> int:
    """Return the number of positions of keys, or of values: the rows of all of them together."""
    return sum(height * width for height, width, _ in shapes)


def check_attention(layer: Layer, operands: Sequence[Shape]) -> None:
    """Raise NetworkError unless the fields of an attention follow from its queries, keys and values."""
    if len(operands) not in (3, MOST_INPUTS):
        raise _broken(layer, "must have 3 inputs, queries, keys and values, or a cache above each", len(operands))
    keys, values = ([operands[i] for i in each] for each in keys_and_values(range(len(operands))))
    own, (height, width, inner) = layer.second_heads, operands[0]
    if layer.in_channels != inner or inner % layer.groups:
        raise _broken(
            layer, f"must have the {inner} channels of its queries, divisible by its heads", layer.in_channels
        )
    if layer.groups % own:
        raise _broken(layer, f"must have operand heads that divide its {layer.groups} heads", layer.operand_heads)
    for what, each in (("keys", keys), ("values", values)):
        if len({channels for _, _, channels in each}) > 1 or each[0][2] % own:
            raise _broken(layer, f"must have {what} as wide as each other, divisible by {own} heads", each[0][2])
    if keys[0][2] // own != inner // layer.groups:
        raise _broken(layer, f"must have heads of {inner // layer.groups} channels of keys", keys[0][2] // own)
    if not positions_of(keys) == positions_of(values) == layer.keys:
        raise _broken(layer, f"must have {positions_of(keys)} keys, and as many values", layer.keys)
    expected = height, width, values[0][2] // own * layer.groups
    if (layer.height, layer.width, layer.channels) != expected:
        found = "x".join(map(str, (layer.height, layer.width, layer.channels)))
        raise NetworkError(
            f"layer {layer.name!r} (attention) has shape {found}; from its queries and values follows "
            f"{'x'.join(map(str, expected))}"
        )


def steps_of(layer: Layer) -> tuple[Layer, Layer, Layer]:
    """Return the three layers that compute the same: scores, softmax and context.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("one")
    >>> x = [b.input(name, 6, 1, 16) for name in "qkv"]
    >>> _ = b.attention("mix", *x, heads=2)
    >>> steps_of(b.build().layers[0])
    (Layer(mix: matmul of q, k, 6x1x12), Layer(mix: softmax of mix, 6x1x12), Layer(mix: matmul of mix, v, 6x1x16))
    """
    keys, values = keys_and_values(layer.inputs)
    scores = layer.groups * layer.keys
    plain = replace(layer, op="matmul", keys=0 if layer.mask is None else layer.keys)
    return (
        replace(plain, inputs=(layer.inputs[0], *keys), channels=scores),
        replace(plain, op="softmax", inputs=(layer.name,), channels=scores, in_channels=scores, groups=1,
                operand_heads=0, whole=()),
        replace(plain, inputs=(layer.name, *values), in_channels=scores),
    )  # fmt: skip


def _broken(layer: Layer, rule: str, value: object) -> NetworkError:
    return NetworkError(f"layer {layer.name!r} (attention) {rule}; found {shown(value)}")
