"""Small ONNX models for the tests, and an oracle: counts from the shapes that the onnx package infers itself."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


class Graph:
    """Collects nodes; every method returns the name of what it added."""

    def __init__(self, opset: int = 17) -> None:
        self.opset = opset
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.stored: list[Any] = []
        self.declared: list[Any] = []

    def input(self, name: str, *shape: int | str, kind: int = TensorProto.FLOAT) -> str:
        """A graph input; a text is a symbolic extent."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def weight(self, *shape: int) -> str:
        """Weights without data: only their shape is in the file."""
        tensor = TensorProto(name=f"w{len(self.stored)}", data_type=TensorProto.FLOAT, dims=shape)
        self.stored.append(tensor)
        return tensor.name

    def numbers(self, *values: float, shape: tuple[int, ...] | None = None) -> str:
        """A constant with its numbers."""
        kind = TensorProto.FLOAT if any(isinstance(value, float) for value in values) else TensorProto.INT64
        name = f"c{len(self.stored)}"
        self.stored.append(helper.make_tensor(name, kind, (len(values),) if shape is None else shape, values))
        return name

    def node(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """A node; the names of its outputs, or the only one."""
        names = [f"{op.lower()}{len(self.nodes)}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], **attributes))
        return names if outputs > 1 else names[0]

    def model(self, *outputs: str) -> Any:
        """The model with these outputs."""
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, ends, self.stored, value_info=self.declared)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])

    def save(self, folder: Path, *outputs: str) -> Path:
        """Write the model and return its path."""
        path = folder / "model.onnx"
        path.write_bytes(self.model(*outputs).SerializeToString())
        return path


def counts_of(path: Path) -> tuple[int, int]:
    """Return (MACs, weights) of convolutions and matrix products, from the shapes that onnx infers."""
    model = onnx.shape_inference.infer_shapes(onnx.load(str(path), load_external_data=False))
    infos = [*model.graph.value_info, *model.graph.input, *model.graph.output]
    shapes = {info.name: [d.dim_value for d in info.type.tensor_type.shape.dim] for info in infos}
    shapes |= {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    macs = weights = 0
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            kernel = shapes[node.input[1]]
            weights += prod(kernel)
            macs += (
                prod(shapes[node.output[0]])
                * prod(kernel[1:] if node.op_type == "Conv" else kernel)
                // (1 if node.op_type == "Conv" else shapes[node.output[0]][1])
            )
    return macs, weights
