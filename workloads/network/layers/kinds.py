"""What a layer has in addition to its shape (bits, shared heads, experts, rows of a cache), and which rules apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workloads.errors import NetworkError, shown
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.layers.types import Bits, check_experts, check_number

if TYPE_CHECKING:
    from workloads.network.layers.layer import Layer, Tensor


MAX_OPERAND_HEADS = 2**26  #: heads of all blocks of positions, our choice


def check_input(tensor: Tensor) -> None:
    """Raise NetworkError unless a model input is of a kind that there is, and its numbers have sane bits."""
    check_number(f"model input {tensor.name!r} has bits", tensor.bits, tensor.number_as)
    if tensor.kind not in ("input", "cache"):
        raise NetworkError(f"model input {tensor.name!r} has kind {shown(tensor.kind)}; it must be 'input' or 'cache'")


def check_kind(layer: Layer) -> None:
    """Raise NetworkError unless the fields of a layer that its shape does not show are sane."""
    if not isinstance(layer.bits, Bits):
        raise NetworkError(f"layer {layer.name!r} has bits {shown(layer.bits)}; it must be Bits")
    if type(layer.appended) is not bool:
        raise NetworkError(f"layer {layer.name!r} has appended {shown(layer.appended)}; it must be True or False")
    most = layer.groups if layer.op == "attention" else MAX_OPERAND_HEADS
    if type(layer.operand_heads) is not int or not 0 <= layer.operand_heads <= most:
        rule = f"it must be an integer from 0 to {most}"
        raise NetworkError(f"layer {layer.name!r} has operand_heads {shown(layer.operand_heads)}; {rule}")
    if layer.operand_heads and layer.op not in PRODUCT_OPS:
        raise NetworkError(f"layer {layer.name!r} ({layer.op}) has operand_heads; only a matmul or attention has them")
    if layer.keys != 0 and (type(layer.keys) is not int or layer.op != "attention"):
        raise NetworkError(
            f"layer {layer.name!r} ({layer.op}) has keys {shown(layer.keys)}; only an attention has them"
        )
    if layer.experts is not None:
        check_experts(layer.name, layer.experts)
        if layer.op != "fc" or layer.kernel != (1, 1) or layer.groups != 1:
            raise NetworkError(f"layer {layer.name!r} ({layer.op}) has experts; only an fc of each position has them")
        if layer.channels % layer.experts.active and layer.in_channels % layer.experts.active:
            raise NetworkError(
                f"layer {layer.name!r} has {layer.experts.active} active experts; they must divide its in_channels "
                f"{layer.in_channels} or its channels {layer.channels}"
            )
