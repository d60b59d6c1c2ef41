"""Reading an ONNX file without trusting it: shapes and short constants, never weights, never another file.

Limits, our choice: 2**17 nodes, constants of 2**16 numbers, and those of onnx_wire; a batch that is symbolic is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workloads.errors import NetworkError, one_line, shown
from workloads.importing.finishing import finish, typed
from workloads.importing.masks import MASKS, masked
from workloads.importing.onnx.audit import audited
from workloads.importing.onnx.declared import (
    LAST_OPERATORS,
    REAL_TYPES,
    RESHAPING,
    STORED_TYPES,
    TYPES,
    declared,
    first_reader,
    is_cache,
    lie,
    readers_of,
)
from workloads.importing.onnx.masks import masks_of
from workloads.importing.onnx.order import check_names, chosen_branch, ordered, title
from workloads.importing.onnx.tensors import EXTERNAL, attribute_value, tensor_value
from workloads.importing.onnx.wire import without_weights
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, constant, derived, size_of
from workloads.network.layers.layer import Note
from workloads.network.network import Network

if TYPE_CHECKING:
    from workloads.importing.onnx.operators.call import Call

MAX_NODES = 2**17
ON_UNSUPPORTED = ("error", "passthrough")
WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "BatchNormalization", "LayerNormalization", "InstanceNormalization")


def read(
    path: str | PathLike[str],
    unsupported: str = "error",
    extents: Mapping[str, int] | None = None,
    masks: str = "model",
) -> Network:
    """Return the network of an ONNX file, with notes on what was folded or passed.

    unsupported: "error", or "passthrough": an operator that is not understood hands its first input on. extents: of
    symbolic dimensions by name; that of the batch is 1. masks: "model", or "none": attentions in full. Raises
    NetworkError, one line, for whatever cannot be loaded.
    """
    if unsupported not in ON_UNSUPPORTED:
        raise NetworkError(f"unsupported is {shown(unsupported)}; it must be one of {', '.join(ON_UNSUPPORTED)}")
    if masks not in MASKS:
        raise NetworkError(f"masks is {shown(masks)}; it must be one of {', '.join(MASKS)}")
    try:
        found = _Reader(_parse(path), Path(path).stem, unsupported, dict(extents or {}))
        network = found.read()
        return masked(network, masks_of(found.made, found.values)) if masks == "model" else network
    except NetworkError as error:
        raise NetworkError(one_line(f"{path}: {error}")) from None
    except RecursionError:
        raise NetworkError(f"{path}: is nested too deep") from None


def _parse(path: str | PathLike[str]) -> Any:
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise NetworkError("reading ONNX takes the package onnx: pip install 'cocco[onnx]'") from None
    try:
        model = onnx.ModelProto.FromString(without_weights(path))
    except DecodeError as error:
        raise NetworkError(f"is no ONNX model: {one_line(error) or 'it does not parse'}") from None
    if not model.HasField("graph") or not model.graph.node:
        raise NetworkError("is no ONNX model: it has no graph with nodes")
    if len(model.graph.node) > MAX_NODES:
        raise NetworkError(f"has {len(model.graph.node)} nodes; at most {MAX_NODES} are read")
    return model


class _Reader:
    """Walks the nodes in order and hands each to its operator."""

    def __init__(self, model: Any, name: str, unsupported: str, extents: dict[str, int]) -> None:
        self.graph = model.graph
        self.sketch = Sketch("".join(c if c.isprintable() else "_" for c in name)[:128] or "model")
        self.unsupported, self.extents = unsupported, extents
        self.kinds: Counter[str] = Counter()  # types of stored matrices
        self.named: set[str] = set()  # extents that were used
        self.nodes = 0  # of branches
        self.symbols: set[str] = set()  # extents that could be given
        self.unknown: dict[str, str] = {}  # extents that must be given, and an input that has each
        stored = {tensor.name for tensor in model.graph.initializer}
        shapes = [info.type.tensor_type.shape.dim for info in model.graph.input if info.name not in stored]
        self.firsts = {dims[0].dim_value for dims in shapes if len(dims) > 1}
        firsts = [dims[:1] for dims in shapes]
        self.batches = {dim.dim_param for dims in firsts for dim in dims if "batch" in dim.dim_param.lower()}
        versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
        self.opset = max(versions, default=1)
        self.values: dict[str, Value] = {}
        self.made: list[tuple[Any, list[str]]] = []  #: nodes, and the layers that they were read as
        self.infos = {info.name: info for info in self.graph.value_info}

    def read(self) -> Network:
        """Return the network."""
        check_names(self.graph)
        self._read_stored(self.graph)
        self._read_inputs()
        self._check_extents()
        for node in ordered(self.graph.node, self.values.keys()):
            self._read_node(node)
        outputs = self._made(self.graph)
        self.sketch.at = "output"
        is_lenient = self.unsupported != "error"
        found = audited(finish(self.sketch, outputs), self.sketch, self.graph, self.values, is_lenient)
        return typed(found, self.kinds)

    def _made(self, graph: Any) -> list[Value]:
        """The outputs of the graph, or of a branch."""
        missing = [info.name for info in graph.output if info.name not in self.values]
        if missing:
            raise NetworkError(f"has the output {shown(missing[0])}, which no node makes")
        return [self.values[info.name] for info in graph.output]

    def _read_stored(self, graph: Any) -> None:
        self.sketch.outside |= {tensor.name for tensor in graph.initializer if tensor.data_location == EXTERNAL}
        for tensor in graph.initializer:
            self._define(tensor.name, self._stored(tensor.name, tensor_value(tensor), tensor.data_type))
        for sparse in graph.sparse_initializer:
            self._define(sparse.values.name, constant(tuple(sparse.dims)))

    def _define(self, name: str, value: Value) -> None:
        if name in self.values:
            raise NetworkError(f"defines {shown(name)} twice")
        self.values[name] = value

    def _stored(self, name: str, value: Value, kind: int) -> Value:
        """A constant of the file; what is no index or mask is read where a layer reads it."""
        if kind not in STORED_TYPES:
            return replace(value, name=name)
        self.sketch.sizes[name] = size_of(value)
        if value.rank > 1:
            self.sketch.matrices[name] = size_of(value)
            self.kinds[TYPES.get(kind, "others")] += 1
        return replace(value, name=name, origins=frozenset([name]))

    def _check_extents(self) -> None:
        """Raise NetworkError for extents that are not known, and for one that names nothing: it is a slip."""
        if self.unknown:
            *others, last = (f"the input {shown(name)} with the unknown extent {shown(key)}"
                             for key, name in self.unknown.items())  # fmt: skip
            raise NetworkError(
                f"has {', '.join(others)}{' and ' * bool(others)}{last}; give {'them' if others else 'it'}: --extent "
                f"{' --extent '.join(f'{key}=N' for key in self.unknown)} (load(..., extents={{"
                f"{', '.join(f'{key!r}: N' for key in self.unknown)}}})), or export fixed shapes"
            )
        spare = [name for name in self.extents if name not in self.named]
        if spare:
            known = ", ".join(sorted(self.symbols)) or "none"
            raise NetworkError(f"has no symbolic extent {shown(spare[0])}; it has {known}")

    def _read_inputs(self) -> None:
        readers = readers_of(self.graph.node)
        parameters = self._parameters()
        for info in self.graph.input:
            if info.name in self.values:
                continue  # older files list initialisers among the inputs
            if info.name in parameters:
                value = constant(declared(info))
                self._define(info.name, self._stored(info.name, value, info.type.tensor_type.elem_type))
                continue
            shape = self._input_shape(info)
            if len(shape) < 2 or info.type.tensor_type.elem_type not in REAL_TYPES:
                self.sketch.sizes[info.name] = prod(shape)
                value = constant(shape, is_given=True)
                self._define(info.name, replace(value, origins=frozenset([info.name]), name=info.name))
            elif is_cache(info.name, len(shape), readers):
                self._define(info.name, self.sketch.cache(info.name, shape, 2))
            else:
                rows, columns = lie(shape, first_reader(info.name, readers))
                self._define(info.name, self.sketch.input(info.name, shape, rows, columns))

    def _parameters(self) -> set[str]:
        """Inputs that are weights: where a file has some in the place of weights, all but those of symbolic batch.

        Where no input has a symbolic batch, the first that is no weight is the only data.
        """
        inputs = [info for info in self.graph.input if info.name not in self.values]
        places = {name for node in self.graph.node if node.op_type in WEIGHTED for name in node.input[1:]}
        if not any(info.name in places for info in inputs):
            return set()
        rest = [info for info in inputs if info.name not in places]
        data = [info.name for info in rest if any(dim.dim_param for dim in info.type.tensor_type.shape.dim)]
        data = data or [info.name for info in rest[:1]]
        return {info.name for info in inputs} - set(data)

    def _input_shape(self, info: Any) -> tuple[int, ...]:
        if not info.type.HasField("tensor_type"):
            raise NetworkError(f"has the input {shown(info.name)}, which is no tensor")
        shape = []
        for i, dim in enumerate(info.type.tensor_type.shape.dim):
            shape.append(dim.dim_value if dim.dim_value > 0 else self._extent(info.name, i, dim.dim_param))
        if len(shape) > 1 and shape[0] > 1 and self._is_batch(shape, info.type.tensor_type.elem_type):
            self.sketch.notes.append(Note(info.name, f"batch {shape[0]}", "batch"))
            shape[0] = 1
        return tuple(shape)

    def _extent(self, name: str, axis: int, symbol: str) -> int:
        """A symbolic extent: given by its name, or by input and axis; that of the batch is 1, wherever it stands."""
        place = f"{name}.{axis}"
        self.symbols.add(symbol or place)
        for key in (symbol, place):
            if key in self.extents:
                self.named.add(key)
                self.sketch.notes.append(Note(name, f"{key} = {self.extents[key]}", "extent"))
                return self.extents[key]
        if axis == 0 or symbol in self.batches:
            self.sketch.notes.append(Note(name, f"{symbol or place} = 1", "extent"))
            return 1
        self.unknown.setdefault(symbol or place, name)
        return 1

    def _is_batch(self, shape: Sequence[int], kind: int) -> bool:
        """Whether the first extent of an input is its batch: not of rows that stand before a batch of 1, or a graph."""
        is_graph = len(shape) == 2 and len(self.firsts - {0}) > 1
        return kind in REAL_TYPES and not is_graph and not (len(shape) == 3 and shape[1] == 1)

    def _read_node(self, node: Any) -> None:
        sketch, named = self.sketch, title(node)
        sketch.at = node.name or next(iter(node.output), "") or node.op_type
        layers = len(sketch.layers)
        try:
            answer, how = self._answer(node)
        except NetworkError as error:
            raise NetworkError(f"{named}: {error}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise NetworkError(f"{named} is malformed: {one_line(error)}") from None
        self.made.append((node, [layer.name for layer in sketch.layers[layers:]]))
        values = answer if isinstance(answer, list) else [answer]
        for i, name in enumerate(node.output):
            if name:
                # what else an operator makes (indices of a pool, statistics of a norm) is nothing that a layer reads
                value = values[i] if i < len(values) else constant(values[0].shape)
                self._define(name, replace(value, name=value.name or name) if value.is_constant else value)
        if len(sketch.layers) == layers and not values[0].is_constant:
            sketch.notes.append(Note(sketch.at, node.op_type, how))

    def _answer(self, node: Any) -> tuple[Value | list[Value], str]:
        from workloads.importing.onnx.operators.call import Call
        from workloads.importing.onnx.operators.constants import evaluate
        from workloads.importing.onnx.operators.table import CONTROL_FLOW, OPERATORS

        if node.op_type in CONTROL_FLOW or any(a.HasField("g") or a.graphs for a in node.attribute):
            return self._branch(node), "folded"
        inputs: list[Value | None] = []
        for name in node.input:
            if name and name not in self.values:
                raise NetworkError(f"reads {shown(name)}, which nothing defines")
            inputs.append(self.values[name] if name else None)
        attributes = {a.name: attribute_value(a) for a in node.attribute}
        call = Call(self.sketch, node.op_type, self.sketch.at, inputs, attributes, node.output, self.opset)
        known = evaluate(call)
        if known is not None:
            return derived(known.shape, known.data, call.present()), "folded"
        operator: Callable[[Call], Value | list[Value]] | None = OPERATORS.get(node.op_type)
        if operator is not None:
            return operator(call), "folded"
        return self._pass(call), "passed"

    def _branch(self, node: Any) -> list[Value]:
        """What a branch makes that stands in the place of its node, or all steps of a loop."""
        from workloads.importing.onnx.steps import unrolled

        if node.op_type == "If":
            return self._inside(chosen_branch(node, self.values.get(next(iter(node.input), ""))))
        return unrolled(self.sketch, node, [self.values.get(name) for name in node.input], self._step)

    def _step(self, graph: Any, inputs: Sequence[Value]) -> list[Value]:
        """What one step of a loop makes of its inputs; its names are its own."""
        outside, made = dict(self.values), len(self.made)
        for info, value in zip(graph.input, inputs):
            self._define(info.name, value)
        found = self._inside(graph)
        self.values = outside
        del self.made[made:]
        return found

    def _inside(self, graph: Any) -> list[Value]:
        at = self.sketch.at
        self.nodes += len(graph.node)
        if self.nodes > MAX_NODES:
            raise NetworkError(f"has more than {MAX_NODES} nodes in branches and steps of loops")
        self._read_stored(graph)
        for inner in graph.node:
            self._read_node(inner)
        self.sketch.at = at
        return self._made(graph)

    def _pass(self, call: Call) -> Value:
        """What an unknown operator hands on: its first map, in the shape that the file declares."""
        maps = [value for value in call.present() if not value.is_constant]
        weights = [value for value in call.present() if value.is_constant and value.rank > 1 and value.origins]
        info = self.infos.get(call.outputs[0]) if call.outputs else None
        shape = declared(info) or (call.present()[0].shape if call.present() else ())
        if not maps:
            return derived(shape, None, call.present())
        value = maps[0]
        is_last = set(call.outputs) <= {info.name for info in self.graph.output} and call.op in LAST_OPERATORS
        keeps = len(maps) == 1 and not weights and declared(info) in ((), value.shape)
        keeps = keeps and call.op not in RESHAPING and len(call.outputs) == 1
        if is_last or (keeps and self.unsupported == "passthrough"):
            return value
        way = (
            ", or let it hand its input on: --unsupported passthrough (load(..., unsupported='passthrough'))"
            if keeps
            else ""
        )
        raise NetworkError(f"is not understood; export the model without it{way}")
