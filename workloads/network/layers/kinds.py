"""What a layer has in addition to its shape (bits, shared heads, experts, rows of a cache), and which rules apply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workloads.errors import NetworkError, shown
from workloads.network.layers.mask import Mask
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.layers.state import MAX_STATE, State
from workloads.network.layers.types import Bits, check_experts, check_number

if TYPE_CHECKING:
    from workloads.network.layers.layer import Layer, Tensor

MAX_DISTANCE = 2**20  #: of a mask: that of a map's rows (shapes.MAX_EXTENT)
MASKED_OPS = ("attention", "matmul", "softmax")


MAX_OPERAND_HEADS = 2**26  #: heads of all blocks of positions, our choice


def check_input(tensor: Tensor) -> None:
    """Raise NetworkError unless a model input is of a kind that there is, and its numbers have sane bits."""
    check_number(f"model input {tensor.name!r} has bits", tensor.bits, tensor.number_as)
    if tensor.kind not in ("input", "cache"):
        raise NetworkError(f"model input {tensor.name!r} has kind {shown(tensor.kind)}; it must be 'input' or 'cache'")


def check_shared(layers: Iterable[Layer]) -> None:
    """Raise NetworkError unless layers whose weights have one name have weights of one size."""
    found: dict[str, Layer] = {}
    for layer in layers:
        if type(layer.shared) is not str or (layer.shared and (not layer.has_weights or layer.experts is not None)):
            rule = "a name of weights is text, and of a layer with weights and without experts"
            raise NetworkError(f"layer {layer.name!r} ({layer.op}) has shared {shown(layer.shared)}; {rule}")
        if not layer.shared:
            continue
        first = found.setdefault(layer.shared, layer)
        if (first.weight_elements, first.bits.of_weights) != (layer.weight_elements, layer.bits.of_weights):
            raise NetworkError(
                f"layer {layer.name!r} ({layer.op}) has {layer.weight_bytes} bytes of weights {layer.shared!r}, and "
                f"{first.name!r} {first.weight_bytes}; layers that share weights must have as many, of one type"
            )


def check_recurrent(layer: Layer) -> None:
    """Raise NetworkError unless a recurrent layer has a sequence of gates, each as wide as its state."""
    window = layer.kernel, layer.stride, layer.padding, layer.dilation, layer.groups, layer.width, len(layer.inputs)
    if window != ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1, 1, 1):
        raise NetworkError(
            f"layer {layer.name!r} (recurrent) has width {layer.width}, kernel {shown(layer.kernel)} and "
            f"{len(layer.inputs)} inputs; it must read one sequence (width 1) position by position"
        )
    if layer.in_channels % layer.channels:
        raise NetworkError(
            f"layer {layer.name!r} (recurrent) has in_channels {layer.in_channels}; they must be a multiple of its "
            f"{layer.channels} channels, one for each gate"
        )


def fits_state(count: int, channels: int, size: int) -> bool:
    """Return whether so many numbers are one for each (channel, n), for each channel or head, or for head and n."""
    heads = count if channels % max(count, 1) == 0 else count // size
    return count > 0 and channels % max(heads, 1) == 0 and count in (heads, heads * size)


def check_state(layer: Layer) -> None:
    """Raise NetworkError unless a scan, and no other layer, has a state of sane numbers."""
    state = layer.state
    if not isinstance(state, State) or layer.op != "scan":
        raise NetworkError(f"layer {layer.name!r} ({layer.op}) has state {shown(state)}; a scan has a State, no other")
    for what, value, least, most in (("size", state.size, 1, MAX_STATE), ("weights", state.weights, 0, 2**40)):
        if type(value) is not int or not least <= value <= most:
            rule = f"it must be an integer from {least} to {most}"
            raise NetworkError(f"layer {layer.name!r} (scan) has a state with {what} {shown(value)}; {rule}")


def check_scan(layer: Layer, operands: Sequence[tuple[int, int, int]]) -> None:
    """Raise NetworkError unless a scan reads sequences that belong to its state."""
    state = layer.state
    assert state is not None, "check_state"
    if len(operands) < 3:
        raise NetworkError(f"layer {layer.name!r} (scan) has {len(operands)} inputs; it must have u, gates, b and c")
    rows, channels = operands[0][0], operands[0][2]
    if any(each[:2] != (rows, 1) for each in operands) or (layer.height, layer.width) != (rows, 1):
        raise NetworkError(f"layer {layer.name!r} (scan) must read sequences (width 1) of as many rows as its own")
    if layer.channels != channels or layer.in_channels != sum(each[2] for each in operands) or layer.groups != 1:
        raise NetworkError(
            f"layer {layer.name!r} (scan) has channels {layer.channels} and in_channels {layer.in_channels}; they must "
            f"be the {channels} of its first input and those of all inputs, in one group"
        )
    for each in operands[-2:]:
        if each[2] % state.size or channels % (each[2] // state.size):
            raise NetworkError(
                f"layer {layer.name!r} (scan) has b and c of {operands[-2][2]} and {operands[-1][2]} channels; they "
                f"must be {state.size} for each of some heads that divide its {channels} channels"
            )
    counts = [*(each[2] for each in operands[1:-2]), *([state.weights] if state.weights else [])]
    if wrong := next((each for each in counts if not fits_state(each, channels, state.size)), None):
        raise NetworkError(
            f"layer {layer.name!r} (scan) has {wrong} gates or weights; they must be one for each of its {channels} "
            f"channels or of heads of them, or {state.size} for each"
        )


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
    has_keys = layer.op == "attention" or layer.mask is not None
    if layer.keys != 0 and (type(layer.keys) is not int or layer.keys < 0 or not has_keys):
        raise NetworkError(
            f"layer {layer.name!r} ({layer.op}) has keys {shown(layer.keys)}; only an attention has them"
        )
    if layer.mask is not None:
        _check_mask(layer)
    if layer.experts is not None:
        check_experts(layer.name, layer.experts)
        if layer.op != "fc" or layer.kernel != (1, 1) or layer.groups != 1:
            raise NetworkError(f"layer {layer.name!r} ({layer.op}) has experts; only an fc of each position has them")
        if layer.channels % layer.experts.active and layer.in_channels % layer.experts.active:
            raise NetworkError(
                f"layer {layer.name!r} has {layer.experts.active} active experts; they must divide its in_channels "
                f"{layer.in_channels} or its channels {layer.channels}"
            )


def _check_mask(layer: Layer) -> None:
    """Raise NetworkError unless a mask is sane, of a layer that can have one, and every key is seen by some query."""
    mask = layer.mask
    if not isinstance(mask, Mask):
        raise NetworkError(f"layer {layer.name!r} has mask {shown(mask)}; it must be a Mask")
    for what, value, least in (
        ("behind", 0 if mask.behind is None else mask.behind, 0), ("ahead", mask.ahead or 0, 0),
        ("chunk", mask.chunk, 0), ("together", mask.together, 1),
    ):  # fmt: skip
        if type(value) is not int or not least <= value <= MAX_DISTANCE:
            raise _broken(layer, f"must have a mask with {what} from {least} to 2**20", value)
    if layer.op not in MASKED_OPS or layer.width != 1:
        raise _broken(layer, "must have no mask; an attention, matmul or softmax of a sequence may", mask)
    if layer.blocks > 1:
        raise _broken(layer, "must have no mask, for its positions are in blocks", layer.blocks)
    scores = layer.groups * layer.keys
    if layer.op != "attention" and scores not in (layer.channels, layer.in_channels):
        if layer.op == "matmul" or not layer.keys or layer.channels % layer.keys:
            raise _broken(layer, "must have as many keys as its mask is over: channels of scores by heads", layer.keys)
    queries, rest = divmod(layer.height, mask.together)
    if rest or layer.keys < queries:
        raise _broken(layer, f"must have a mask with at least as many keys as its {queries} queries", layer.keys)
    unseen = mask.seen(0, layer.height, layer.keys).start
    if unseen:
        raise _broken(layer, "must have no keys that no query sees, such as rows of a cache before its window", unseen)


def _broken(layer: Layer, rule: str, value: object) -> NetworkError:
    return NetworkError(f"layer {layer.name!r} ({layer.op}) {rule}; found {shown(value)}")
