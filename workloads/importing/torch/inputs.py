"""The arguments of a torch.export graph: parameters, buffers, and what the caller gives."""

from __future__ import annotations

from typing import Any

from workloads.errors import NetworkError, shown
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, constant
from workloads.network.layer import Note


def read_input(sketch: Sketch, program: Any, node: Any) -> Value:
    """Return a placeholder as a constant, a model input, or a cache that the module keeps."""
    signature = program.graph_signature
    stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    tensor = node.meta.get("val")
    if not hasattr(tensor, "shape"):
        return constant(())
    shape = tuple(tensor.shape)
    if not all(type(extent) is int for extent in shape):
        raise NetworkError(f"input {node.name!r} has the unknown shape {shown(list(map(str, shape)))}")
    if node.name in signature.user_inputs:
        return _given(sketch, node, tensor, shape)
    name = stored.get(node.name, node.name)
    is_real = tensor.dtype.is_floating_point
    value = Value(constant(shape).shape, origins=frozenset([name] if is_real else []), name=name)
    if is_real:
        sketch.sizes[name] = tensor.numel()
    if node.name in signature.inputs_to_parameters and len(shape) > 1:
        sketch.matrices[name] = tensor.numel()
    if is_real and len(shape) > 1 and name in signature.buffers_to_mutate.values():
        sketch.notes.append(Note(name, "buffer", "cache"))
        return sketch.fed(value)
    return value


def _given(sketch: Sketch, node: Any, tensor: Any, shape: tuple[int, ...]) -> Value:
    if not tensor.dtype.is_floating_point or len(shape) < 2:
        sketch.sizes[node.name] = tensor.numel()
        return Value(constant(shape).shape, is_given=True, origins=frozenset([node.name]), name=node.name)
    readers = [str(user.target) for user in node.users]
    slides = any(word in reader for reader in readers for word in ("conv", "pool", "batch_norm"))
    if shape[0] != 1:
        if len(shape) == 3 and shape[1] == 1 and not slides:  # sequence first
            return sketch.input(node.name, shape, [0])
        if len(shape) == 2 and sketch.inputs:  # rows beside an input that has a batch of 1
            return sketch.input(node.name, shape, [0])
        raise NetworkError(f"input {node.name!r} has batch {shape[0]}; give examples of batch 1")
    if len(shape) == 5:
        return sketch.input(node.name, shape, [2, 3], [4])
    if len(shape) == 4:
        return sketch.input(node.name, shape, [2], [3])
    along = [2] if len(shape) == 3 and slides else list(range(1, len(shape) - 1))
    return sketch.input(node.name, shape, along)
