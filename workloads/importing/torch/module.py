"""Reading a PyTorch module: torch.export (strict=False) traces it, and every node of its graph goes to its family.

Parameters, buffers and what is computed from them alone are constants; so are inputs of integers and booleans, and of
less than two dimensions (tokens, masks, steps of time). A layer with weights that meets such a constant reads it as a
model input. Extents come from the trace, so that nothing about shapes is left to guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workloads.errors import NetworkError, one_line, shown
from workloads.importing.families.moving import expand, reshape
from workloads.importing.finishing import finish, typed
from workloads.importing.masks import MASKS, masked
from workloads.importing.sketch import Sketch
from workloads.importing.torch.audit import ReadNodes, audited, needed_in
from workloads.importing.torch.batch import first_sample
from workloads.importing.torch.call import Answer, TorchCall
from workloads.importing.torch.counting import counted_macs
from workloads.importing.torch.export import exported, operator_name, taken_apart
from workloads.importing.torch.graph.archive import read_archive
from workloads.importing.torch.graph.cells import with_loops
from workloads.importing.torch.graph.functional import functional, has_branches
from workloads.importing.torch.graph.masks import masks_of
from workloads.importing.torch.graph.most import with_most
from workloads.importing.torch.graph.scans import with_scans
from workloads.importing.torch.inputs import Stored, read_input
from workloads.importing.torch.table import OPERATORS
from workloads.importing.torch.weighted import has_weights_of_its_own
from workloads.importing.values import Value, constant, derived, size_of
from workloads.network.layers.layer import Note
from workloads.network.network import Network

MAX_ROUNDS = 3  #: of taking operators apart: what they are made of may be unknown, too
ADVISED = 2000  #: layers from which a loop over a sequence is suspected, our choice: larger than any built-in network


class _Unknown(NetworkError):
    """An operator that no family understands."""


def read_module(module: Any, example_inputs: Any, name: str | None, unsupported: str, masks: str = "model") -> Network:
    """Return the network of a module as it runs on these inputs; see workloads.from_torch."""
    check_choices(unsupported, masks)
    import torch

    if not isinstance(module, torch.nn.Module):
        raise NetworkError(f"reads {shown(module)}; it must be a torch.nn.Module")
    title = name or type(module).__name__
    try:
        inputs, samples = first_sample(module, example_inputs)
        program, assumed = exported(module, inputs, title)
        counted = None if has_branches(program) else counted_macs(module, inputs)
        found = read_program(functional(with_scans(with_loops(program))), title, unsupported, counted, masks)
        notes = [Note(found.inputs[0].name, f"batch {samples}", "batch")] if samples > 1 else []
        notes += [Note(title, assumed, "extent")] if assumed else []
        return replace(found, notes=(*found.notes, *notes))
    except NetworkError as error:
        text = one_line(error)
        raise NetworkError(text if text.startswith("module ") else f"module {title!r}: {text}") from None


def read_exported(path: str, unsupported: str = "error", masks: str = "model") -> Network:
    """Return the network of a program that torch.export.save wrote; see workloads.load."""
    try:
        check_choices(unsupported, masks)
        program = functional(with_scans(with_loops(read_archive(path))))
        return read_program(program, Path(path).stem, unsupported, None, masks)
    except NetworkError as error:
        raise NetworkError(one_line(f"{path}: {error}")) from None


def check_choices(unsupported: str, masks: str) -> None:
    """Raise NetworkError where torch is not there, or a choice is none that we know."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise NetworkError("reading PyTorch modules takes the package torch: pip install 'cocco[torch]'") from None
    if unsupported not in ("error", "passthrough"):
        raise NetworkError(f"unsupported is {shown(unsupported)}; it must be one of error, passthrough")
    if masks not in MASKS:
        raise NetworkError(f"masks is {shown(masks)}; it must be one of {', '.join(MASKS)}")


def read_program(
    program: Any, title: str, unsupported: str, counted: int | None = None, masks: str = "model"
) -> Network:
    """Return the network of an exported program; unknown operators are taken apart first. counted: MACs, by torch."""
    unknown: _Unknown | None = None
    for _ in range(MAX_ROUNDS):
        try:
            return _Reader(program, title, "error", masks).read(counted)
        except _Unknown as error:
            unknown = unknown or error
            simpler = taken_apart(program, OPERATORS)
            if simpler is None:
                break
            program = simpler
    if unsupported == "passthrough":
        return _Reader(program, title, unsupported, masks).read(counted)
    assert unknown is not None
    raise unknown


class _Reader:
    def __init__(self, program: Any, name: str, unsupported: str, masks: str = "none") -> None:
        self.program, self.unsupported, self.masks = program, unsupported, masks
        self.sketch = Sketch(name)
        self.sketch.notes += with_most(program)
        self.values: dict[Any, Any] = {}
        self.reading = ReadNodes(program, self.sketch, self.values)

    def read(self, counted: int | None) -> Network:
        """Return the network, held against the MACs that torch counts."""
        outputs: list[Value] = []
        stored, needed = Stored(self.program), needed_in(self.program.graph, {})
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = read_input(self.sketch, stored, node)
            elif node.op == "get_attr":
                self.values[node] = constant(shapes_of(node)[0])
            elif node.op == "call_function" and node in needed:
                count = len(self.sketch.layers)
                self._read_node(node)
                self.reading.made[node] = [layer.name for layer in self.sketch.layers[count:]]
            elif node.op == "output":
                outputs = self._outputs(node)
        kinds = Counter(str(each.dtype).removeprefix("torch.") for each in self.program.parameters() if each.ndim > 1)
        self.sketch.at = "output"
        network = audited(finish(self.sketch, outputs), self.reading, counted, self.unsupported != "error")
        if self.masks == "model":
            softmaxes = {layer.name for layer in network.layers if layer.op == "softmax"}
            network = masked(network, masks_of(self.program, self.values, self.reading.made, softmaxes))
        return self._advised(typed(network, kinds))

    def _outputs(self, node: Any) -> list[Value]:
        """What the module returns; buffers that it has changed are none of it."""
        specs = self.program.graph_signature.output_specs
        given = list(node.args[0])
        if len(specs) == len(given):
            given = [each for each, spec in zip(given, specs) if "MUTATION" not in spec.kind.name]
        return _flat(_replaced(given, self.values))

    def _advised(self, network: Network) -> Network:
        """The network with advice where it seems to be a loop that was unrolled."""
        if len(network.layers) < ADVISED:
            return network
        text = f"{len(network.layers)} layers: a loop over a sequence seems to be unrolled; give a shorter one"
        return replace(network, notes=(*network.notes, Note(network.name, text, "advice")))

    def _read_node(self, node: Any) -> None:
        sketch = self.sketch
        if getattr(node.target, "__name__", "") == "getitem":
            parts, index = self.values[node.args[0]], node.args[1]
            self.values[node] = parts[index] if isinstance(parts, list) else parts
            return
        if not hasattr(node.target, "_schema"):
            if not hasattr(node.meta.get("val"), "shape"):
                self.values[node] = node.meta.get("val")
                return  # arithmetic of numbers, and what checks them
            raise NetworkError(f"node {node.name!r} ({str(node.target)[:64]}) is control flow or no operator of torch")
        op = operator_name(node.target)
        if op.startswith("_assert") or op.startswith("sym_") or op == "_guards_fn":
            self.values[node] = node.meta.get("val")
            return
        sketch.at = _layer_name(node, op)
        layers = len(sketch.layers)
        shapes = shapes_of(node)
        call = TorchCall(sketch, op, sketch.at, _arguments(node, self.values), shapes[0], tuple(shapes))
        try:
            answer, how = self._answer(call, node)
        except _Unknown:
            raise
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
        answer = [_named(each, node) for each in answer] if isinstance(answer, list) else _named(answer, node)
        self.values[node] = answer
        if call.op in IN_PLACE and isinstance(node.args[0], type(node)):
            self.values[node.args[0]] = answer  # a trace that is not functional reads the first argument again

    def _answer(self, call: TorchCall, node: Any) -> tuple[Answer, str]:
        values = call.values()
        operator = OPERATORS.get(call.op)
        if all(value.is_constant for value in values) and not (operator and has_weights_of_its_own(call)):
            made = [derived(shape, None, values) for shape in call.shapes]
            return (made if len(made) > 1 else made[0]), "folded"
        if operator is not None:
            return operator(call), "folded"
        keeps = _keeps_shape(call)
        if self.unsupported == "error" or not keeps:
            way = "; let it hand its input on with unsupported='passthrough'" if keeps else ""
            raise _Unknown(f"node {node.name!r} (aten.{call.op}): is not understood{way}")
        value = next(value for value in values if not value.is_constant)
        fits = size_of(value) == size_of(constant(call.shape))
        return (reshape if fits else expand)(call.sketch, value, call.shape), "passed"


IN_PLACE = ("copy", "index_copy", "index_put", "fill", "zero", "masked_fill", "clamp", "relu")


def _keeps_shape(call: TorchCall) -> bool:
    """Whether an unknown operator may hand its input on: one map in, one of the same shape out, and no weights."""
    values = call.values()
    maps = [value for value in values if not value.is_constant]
    weights = [value for value in values if value.is_constant and value.rank > 1 and value.origins]
    return len(maps) == 1 and not weights and call.shapes == (maps[0].shape,)


def _named(value: Value, node: Any) -> Value:
    """A constant under the name of the node that makes it, which a model input of it will have."""
    return replace(value, name=node.name) if value.is_constant else value


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


def shapes_of(node: Any) -> list[tuple[int, ...]]:
    """Return the shapes of what a node makes."""
    made = node.meta.get("val")
    found = []
    for each in made if isinstance(made, (list, tuple)) else [made]:
        shape = tuple(getattr(each, "shape", ()))
        if not all(type(extent) is int for extent in shape):
            text = f"node {node.name!r} has the shape {shown(list(map(str, shape)))}, whose extents numbers decide"
            raise NetworkError(f"{text}; they must be at most 2**20")
        found.append(shape)
    return found or [()]


def _layer_name(node: Any, op: str) -> str:
    """The path of the module that the node belongs to, with the operator where the module has several."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    is_leaf = any(word in op for word in ("conv", "linear", "pool", "norm"))
    return path if path and is_leaf else f"{path}.{node.name}" if path else node.name
