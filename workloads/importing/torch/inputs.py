"""The arguments of a torch.export graph: parameters, buffers, and what the caller gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.importing import views
from workloads.importing.sketch import Sketch
from workloads.importing.torch.export import operator_name
from workloads.importing.values import Value, constant


class Stored:
    """What the placeholders of a program stand for; recomputed on each request."""

    def __init__(self, program: Any) -> None:
        signature = program.graph_signature
        self.parameters: Mapping[str, str] = signature.inputs_to_parameters
        self.tensors = {**self.parameters, **signature.inputs_to_buffers}
        self.given = frozenset(signature.user_inputs)
        self.changed = frozenset(signature.buffers_to_mutate.values())
        first: dict[int, str] = {}
        self.names = {name: first.setdefault(id(tensor), name) for name, tensor in program.state_dict.items()}

    def name(self, node: Any) -> str:
        """Return the first name of a stored tensor: modules may share one."""
        name = self.tensors.get(node.name, node.name)
        return self.names.get(name, name)


def read_input(sketch: Sketch, stored: Stored, node: Any) -> Value:
    """Return a placeholder as a constant, a model input, or a cache that the module keeps."""
    tensor = node.meta.get("val")
    if not hasattr(tensor, "shape"):
        return constant(())
    shape = tuple(tensor.shape)
    if not all(type(extent) is int for extent in shape):
        raise NetworkError(f"input {node.name!r} has the unknown shape {shown(list(map(str, shape)))}")
    if node.name in stored.given:
        return _given(sketch, node, tensor, shape)
    name = stored.name(node)
    is_real = tensor.dtype.is_floating_point
    value = Value(constant(shape).shape, origins=frozenset([name] if is_real else []), name=name)
    if is_real:
        sketch.sizes[name] = tensor.numel()
    if node.name in stored.parameters and len(shape) > 1:
        sketch.matrices[name] = tensor.numel()
    if is_real and len(shape) > 1 and _is_grown(node, name in stored.changed):
        return sketch.cache(name, shape, len(shape) - 2)
    return value


def _given(sketch: Sketch, node: Any, tensor: Any, shape: tuple[int, ...]) -> Value:
    if not tensor.dtype.is_floating_point or len(shape) < 2:
        sketch.sizes[node.name] = tensor.numel()
        return Value(constant(shape).shape, is_given=True, origins=frozenset([node.name]), name=node.name)
    slides = _slides(node)
    if shape[0] != 1:
        if len(shape) == 3 and shape[1] == 1 and not slides:  # sequence first
            return sketch.input(node.name, shape, [0])
        if len(shape) == 2:  # rows next to an input that has a batch of 1, or nodes of a graph, that see each other
            return sketch.input(node.name, shape, [0])
        raise NetworkError(
            f"input {node.name!r} has batch {shape[0]}, of which one cannot be taken apart; export a batch of 1"
        )
    if len(shape) == 4 and _is_grown(node):
        return sketch.cache(node.name, shape, 2)
    if len(shape) == 4 and _is_attended(node):
        return sketch.input(node.name, shape, [2])
    if len(shape) == 5:
        return _clip(sketch, node, shape)
    if len(shape) == 4:
        return sketch.input(node.name, shape, [2], [3])
    along = [2] if len(shape) == 3 and slides else list(range(1, len(shape) - 1))
    return sketch.input(node.name, shape, along)


def _clip(sketch: Sketch, node: Any, shape: tuple[int, ...]) -> Value:
    """A clip [1, C, T, H, W], or as it is turned to that before it is cut into patches: frames of one lie together."""
    (_, _, frames, *lines), apart = _patches(node)
    split = (*shape[:frames], shape[frames] // apart, apart, *shape[frames + 1 :])
    rows, columns = (axis + (axis > frames) for axis in lines)
    found = sketch.input(node.name, split, [frames, rows], [columns])
    dims = views.reshape(found.dims, shape)
    assert dims is not None
    return replace(found, shape=shape, dims=dims)


def _patches(node: Any) -> tuple[list[int], int]:
    """The dimensions of a clip in the order of the one convolution that reads it, and the frames of its patches."""
    order = list(range(5))
    while len(found := _readers(node)) == 1:
        op, node = found[0]
        if op == "permute":
            order = [order[axis] for axis in node.args[1]]
        elif op == "conv3d":
            kernel, stride = node.args[1].meta["val"].shape[2], node.args[3][0] if len(node.args) > 3 else 1
            is_apart = kernel == stride and node.args[0].meta["val"].shape[2] % kernel == 0
            return order, kernel if is_apart else 1
        elif op not in ("to", "_to_copy", "contiguous", "clone", "alias"):
            break
    return list(range(5)), 1


#: operators that hand elements on as they are, those that multiply two maps, and what stands before a window
MOVING = frozenset(
    "cat expand unsqueeze squeeze view reshape _unsafe_view clone contiguous transpose permute to _to_copy alias "
    "detach repeat_interleave index_copy copy slice lift_fresh_copy".split()
)
MULTIPLYING = frozenset("scaled_dot_product_attention matmul bmm baddbmm".split())
PADDING = frozenset("pad constant_pad_nd to _to_copy dropout".split())


def _readers(node: Any) -> list[tuple[str, Any]]:
    """The operators that read a node, with their nodes."""
    found = [(operator_name(user.target), user) for user in node.users if hasattr(user.target, "_schema")]
    return [(op, user) for op, user in found if not op.startswith("_assert")]


def _slides(node: Any) -> bool:
    """Whether windows slide over an array, as it is or with padding around it."""
    return any(
        any(word in op for word in ("conv", "pool", "batch_norm")) or (op in PADDING and _slides(user))
        for op, user in _readers(node)
    )


def _is_attended(node: Any) -> bool:
    """Whether nothing but products of two maps reads an array, as it is or moved."""
    stack, seen = [node], {node}
    ends: set[str] = set()
    while stack:
        for op, user in _readers(stack.pop()):
            if op in MOVING and user not in seen:
                seen.add(user)
                stack.append(user)
            elif op not in MOVING:
                ends.add(op)
    return bool(ends) and ends <= MULTIPLYING


def _is_grown(node: Any, is_changed: bool = False) -> bool:
    """Whether an array is a cache: rows are put below its own, or written into it, and products read all of them."""
    rank = len(node.meta["val"].shape)
    for op, user in _readers(node):
        along = user.args[1] if len(user.args) > 1 else 0
        if op == "cat" and len(user.args[0]) == 2 and along % rank == rank - 2:
            first, second = user.args[0]
            if second is node and _is_empty(first):  # put below nothing first
                return _is_grown(user)
            if first is node:
                return is_changed or _is_attended(user)
        if op == "index_copy" and along % rank == rank - 2 and user.args[0] is node:
            return is_changed or _is_attended(user)
    return False


def _is_empty(node: Any) -> bool:
    return 0 in tuple(getattr(node.meta.get("val"), "shape", ()))
