"""Small ONNX models with what the models that come with onnx have not, for benchmarks.fuzz_readers to change."""

from __future__ import annotations

from typing import Any


def pieces() -> bytes:
    """Return a model with what the others have not: resizes, transposed convolutions, attention, slices, padding."""
    from onnx import TensorProto, helper

    stored = [
        helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
        for name, numbers in {
            "pads": [0, 0, 1, 1, 0, 0, 1, 1], "size": [1, 8, 16, 16], "rows": [1, 8, 256], "heads": [1, 256, 3, 2, 4],
            "joined": [1, 256, 8], "zero": [0], "one": [1], "two": [2], "many": [200], "axis": [-1],
        }.items()
    ]  # fmt: skip
    for name, dims in {"w": [8, 3, 3, 3], "up": [8, 8, 2, 2], "qkv": [8, 24], "table": [1, 256, 8]}.items():
        stored.append(TensorProto(name=name, data_type=1, dims=dims))
    node = helper.make_node
    nodes = [
        node("Pad", ["x", "pads"], ["p"]), node("Conv", ["p", "w"], ["c"], strides=[2, 2], dilations=[1, 1], group=1),
        node("ConvTranspose", ["c", "up"], ["t"], strides=[2, 2]), node("Relu", ["t"], ["r"]),
        node("Resize", ["r", "", "", "size"], ["z"], mode="linear"), node("Reshape", ["z", "rows"], ["f"]),
        node("Transpose", ["f"], ["s"], perm=[0, 2, 1]), node("Add", ["s", "table"], ["a"]),
        node("ReduceMean", ["a"], ["m"], axes=[-1]), node("Sub", ["a", "m"], ["d"]), node("Mul", ["d", "d"], ["v"]),
        node("ReduceMean", ["v"], ["n"], axes=[-1]), node("Sqrt", ["n"], ["q"]), node("Div", ["d", "q"], ["l"]),
        node("MatMul", ["l", "qkv"], ["k"]), node("Reshape", ["k", "heads"], ["h"]),
        node("Transpose", ["h"], ["y"], perm=[2, 0, 3, 1, 4]), node("Split", ["y"], ["y0", "y1", "y2"], axis=0),
        node("Squeeze", ["y0", "zero"], ["u0"]), node("Squeeze", ["y1", "zero"], ["u1"]),
        node("Squeeze", ["y2", "zero"], ["u2"]), node("Transpose", ["u1"], ["u3"], perm=[0, 1, 3, 2]),
        node("MatMul", ["u0", "u3"], ["e"]), node("Softmax", ["e"], ["g"], axis=-1), node("MatMul", ["g", "u2"], ["i"]),
        node("Transpose", ["i"], ["j"], perm=[0, 2, 1, 3]), node("Reshape", ["j", "joined"], ["o"]),
        node("Concat", ["o", "a"], ["b"], axis=1), node("Slice", ["b", "one", "many", "one", "two"], ["w0"]),
        node("Gather", ["w0", "zero"], ["w1"], axis=1), node("Shape", ["w1"], ["w2"]),
        node("Expand", ["w1", "w2"], ["w3"]), node("Flatten", ["w3"], ["out"]),
    ]  # fmt: skip
    ends = [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)]
    starts = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 16, 16])]
    model = helper.make_model(
        helper.make_graph(nodes, "pieces", starts, ends, stored), opset_imports=[helper.make_opsetid("", 17)]
    )
    data: bytes = model.SerializeToString()
    return data


def decoder() -> bytes:
    """Return a model of one step of attention: keys and values of earlier steps, of fewer heads than the queries."""
    from onnx import TensorProto, helper

    node = helper.make_node
    stored = [
        helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
        for name, numbers in {
            "four": [1, 1, 4, 8], "two": [1, 1, 2, 8], "at": [2], "wide": [1, 2, 2, 7, 8], "all": [1, 4, 7, 8],
        }.items()
    ]  # fmt: skip
    nodes = []
    for name, heads in (("q", "four"), ("k", "two"), ("v", "two")):
        stored.append(TensorProto(name=f"w{name}", data_type=1, dims=[32, 32 if name == "q" else 16]))
        nodes += [
            node("MatMul", ["x", f"w{name}"], [f"{name}0"]), node("Reshape", [f"{name}0", heads], [f"{name}1"]),
            node("Transpose", [f"{name}1"], [f"{name}2"], perm=[0, 2, 1, 3]),
        ]  # fmt: skip
    for name in "kv":
        nodes += [
            node("Concat", [f"past_{name}", f"{name}2"], [f"{name}3"], axis=2),
            node("Unsqueeze", [f"{name}3", "at"], [f"{name}4"]), node("Expand", [f"{name}4", "wide"], [f"{name}5"]),
            node("Reshape", [f"{name}5", "all"], [f"{name}6"]),
        ]  # fmt: skip
    nodes += [
        node("Transpose", ["k6"], ["k7"], perm=[0, 1, 3, 2]), node("MatMul", ["q2", "k7"], ["scores"]),
        node("Softmax", ["scores"], ["shares"], axis=-1), node("MatMul", ["shares", "v6"], ["out"]),
    ]  # fmt: skip
    shapes: dict[str, list[Any]] = {"x": [1, 1, 32], "past_k": ["N", 2, 6, 8], "past_v": ["N", 2, 6, 8]}
    starts = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("out", "k3", "v3")]
    graph = helper.make_graph(nodes, "decoder", starts, ends, stored)
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    return data


def choices() -> bytes:
    """Return a model with a branch that its shapes choose, products by letters, and what a map chooses of another."""
    from onnx import TensorProto, helper

    node = helper.make_node
    stored = [helper.make_tensor(name, TensorProto.INT64, [], [number]) for name, number in (("two", 2), ("one", 1))]
    stored += [TensorProto(name=name, data_type=1, dims=dims) for name, dims in (("w", [6, 4]),)]
    branches = {}
    for name, channels in (("then_branch", 8), ("else_branch", 4)):
        kernel = TensorProto(name=f"{name}.w", data_type=1, dims=[channels, 4, 1, 1])
        made = helper.make_tensor_value_info(f"{name}.y", TensorProto.FLOAT, None)
        branches[name] = helper.make_graph([node("Conv", ["x", f"{name}.w"], [made.name])], name, [], [made], [kernel])
    nodes = [
        node("Shape", ["x"], ["s"]), node("Gather", ["s", "two"], ["rows"]), node("Equal", ["rows", "one"], ["is_one"]),
        node("If", ["is_one"], ["c"], **branches), node("Einsum", ["c", "w"], ["e"], equation="bchw,oc->bhwo"),
        node("Einsum", ["e", "e"], ["a"], equation="bhwc,bhvc->bhwv"), node("ArgMax", ["a"], ["m"], axis=-1),
        node("GatherElements", ["e", "m"], ["out"], axis=-1),
    ]  # fmt: skip
    starts = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4, 6, 6])]
    ends = [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "choices", starts, ends, stored)
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    return data
