"""Reading a PyTorch module: torch.export (strict=False) traces it, and every node of its graph goes to its family.

Parameters, buffers and what is computed from them alone are constants; so are integer and boolean inputs (tokens,
masks). Extents come from the trace, so that nothing about shapes is left to guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workloads.errors import NetworkError, one_line, shown
from workloads.importing.sketch import Sketch
from workloads.importing.torch.call import Answer, TorchCall
from workloads.importing.values import Value, constant
from workloads.network.layer import Note
from workloads.network.network import Network


def read_module(module: Any, example_inputs: Any, name: str | None, unsupported: str) -> Network:
    """Return the network of a module as it runs on these inputs; see workloads.from_torch."""
    try:
        import torch
    except ImportError:
        raise NetworkError("reading PyTorch modules takes the package torch: pip install 'cocco[torch]'") from None
    if unsupported not in ("error", "passthrough"):
        raise NetworkError(f"unsupported is {shown(unsupported)}; it must be one of error, passthrough")
    if not isinstance(module, torch.nn.Module):
        raise NetworkError(f"reads {shown(module)}; it must be a torch.nn.Module")
    title = name or type(module).__name__
    inputs = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs)
    was_training = module.training
    try:
        program = torch.export.export(module.eval(), inputs, strict=False)
    except Exception as error:  # whatever a module does when it runs
        raise NetworkError(f"module {title!r} cannot be exported: {one_line(error)[:300]}") from None
    finally:
        module.train(was_training)
    try:
        return _Reader(program, title, unsupported).read()
    except NetworkError as error:
        raise NetworkError(one_line(f"module {title!r}: {error}")) from None


class _Reader:
    def __init__(self, program: Any, name: str, unsupported: str) -> None:
        self.program, self.unsupported = program, unsupported
        self.sketch = Sketch(name)
        self.values: dict[Any, Any] = {}

    def read(self) -> Network:
        """Return the network."""
        given = set(self.program.graph_signature.user_inputs)
        outputs: list[Value] = []
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = self._input(node, node.name in given)
            elif node.op == "get_attr":
                self.values[node] = constant(_shapes(node)[0])
            elif node.op == "call_function":
                self._read_node(node)
            elif node.op == "output":
                outputs = _flat(_replaced(node.args, self.values))
        self.sketch.at = "output"
        return self.sketch.finish(outputs)

    def _input(self, node: Any, is_given: bool) -> Value:
        value = node.meta.get("val")
        if not hasattr(value, "shape"):
            return constant((), is_given=is_given)
        shape = _shapes(node)[0]
        if not is_given or not value.dtype.is_floating_point or len(shape) < 2:
            return constant(shape, is_given=is_given)
        if shape[0] != 1:
            raise NetworkError(f"input {node.name!r} has batch {shape[0]}; give examples of batch 1")
        readers = [str(user.target) for user in node.users]
        slides = any(word in reader for reader in readers for word in ("conv", "pool", "batch_norm"))
        if len(shape) == 4:
            return self.sketch.input(node.name, shape, [2], [3])
        along = [2] if len(shape) == 3 and slides else list(range(1, len(shape) - 1))
        return self.sketch.input(node.name, shape, along)

    def _read_node(self, node: Any) -> None:
        from workloads.importing.torch.table import OPERATORS

        sketch = self.sketch
        if getattr(node.target, "__name__", "") == "getitem":
            parts, index = self.values[node.args[0]], node.args[1]
            self.values[node] = parts[index] if isinstance(parts, list) else parts
            return
        if not hasattr(node.target, "_schema"):
            raise NetworkError(f"node {node.name!r} ({str(node.target)[:64]}) is control flow or no operator of torch")
        op = node.target._schema.name.split("::")[-1]
        op = op[:-1] if op.endswith("_") and not op.startswith("_") else op
        if op.startswith("_assert") or op.startswith("sym_"):
            return
        sketch.at = _layer_name(node, op)
        layers = len(sketch.layers)
        shapes = _shapes(node)
        call = TorchCall(sketch, op, sketch.at, _arguments(node, self.values), shapes[0])
        values = call.values()
        try:
            answer, how = self._answer(call, OPERATORS.get(op), values, shapes)
        except NetworkError as error:
            raise NetworkError(f"node {node.name!r} (aten.{op}): {error}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise NetworkError(f"node {node.name!r} (aten.{op}) is not understood: {one_line(error)}") from None
        first = answer[0] if isinstance(answer, list) else answer
        if first.shape != shapes[0]:
            raise NetworkError(
                f"node {node.name!r} (aten.{op}) has shape {list(shapes[0])} in the trace and {list(first.shape)} here"
            )
        if len(sketch.layers) == layers and not first.is_constant:
            sketch.notes.append(Note(node.name, f"aten.{op}", how))
        self.values[node] = answer

    def _answer(self, call: TorchCall, operator: Any, values: Sequence[Value], shapes: list[Any]) -> tuple[Answer, str]:
        is_given = any(value.is_given for value in values)
        chooses = call.op == "embedding" and is_given
        if all(value.is_constant for value in values) and not chooses:
            made = [constant(shape, None, is_given) for shape in shapes]
            return (made if len(made) > 1 else made[0]), "folded"
        if operator is not None:
            return operator(call), "folded"
        if self.unsupported == "error":
            raise NetworkError("is not understood; let it hand its input on with unsupported='passthrough'")
        from workloads.importing.families.moving import expand, reshape
        from workloads.importing.sketch import size_of

        value = next(value for value in values if not value.is_constant)
        fits = size_of(value) == size_of(constant(call.shape))
        return (reshape if fits else expand)(call.sketch, value, call.shape), "passed"


def _arguments(node: Any, values: Mapping[Any, Any]) -> dict[str, Any]:
    """The arguments of a node by name, arrays in place of the nodes that make them."""
    found: dict[str, Any] = {}
    for position, argument in enumerate(node.target._schema.arguments):
        if position < len(node.args):
            given = node.args[position]
        else:
            given = node.kwargs.get(argument.name, argument.default_value if argument.has_default_value() else None)
        found[argument.name] = _replaced(given, values)
    return found


def _replaced(given: Any, values: Mapping[Any, Any]) -> Any:
    if isinstance(given, (list, tuple)):
        return [_replaced(each, values) for each in given]
    try:
        return values.get(given, given)
    except TypeError:  # what cannot be looked up is no node
        return given


def _flat(found: Any) -> list[Value]:
    if isinstance(found, Value):
        return [found]
    return [value for each in found for value in _flat(each)] if isinstance(found, (list, tuple)) else []


def _shapes(node: Any) -> list[tuple[int, ...]]:
    """The shapes of what a node makes."""
    made = node.meta.get("val")
    found = []
    for each in made if isinstance(made, (list, tuple)) else [made]:
        shape = tuple(getattr(each, "shape", ()))
        if not all(type(extent) is int for extent in shape):
            raise NetworkError(f"node {node.name!r} has the unknown shape {shown(list(map(str, shape)))}")
        found.append(shape)
    return found or [()]


def _layer_name(node: Any, op: str) -> str:
    """The path of the module that the node belongs to, with the operator where the module has several."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    is_leaf = any(word in op for word in ("conv", "linear", "pool", "norm"))
    return path if path and is_leaf else f"{path}.{node.name}" if path else node.name
