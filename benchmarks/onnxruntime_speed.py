"""Time of ResNet50 in INT8 in ONNX Runtime, beside that of a program of `cocco export` (docs/export.md).

    python -m benchmarks.onnxruntime_speed [PROGRAM]

Needs onnx and onnxruntime. The same layers, as QLinearConv and its like with any scales; one thread and all.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import workloads
from workloads.network.network import Network

SCALE, ZERO = ["scale", "zero"], np.uint8(0)


def model_of(network: Network) -> bytes:
    """Return convolutions, pools, sums and fully connected layers as an INT8 model."""
    rng, nodes = np.random.default_rng(0), []
    constants = {"scale": np.float32(0.1), "zero": ZERO, "scale_w": np.float32(0.01), "zero_w": np.int8(0)}
    for layer in network.layers:
        window = {
            "kernel_shape": layer.kernel, "strides": layer.stride,
            "pads": (*layer.padding[:2], *(_after(network, layer, axis) for axis in (0, 1))),
        }  # fmt: skip
        if layer.has_weights:
            shape = layer.channels, layer.in_channels // layer.groups, *layer.kernel
            constants[f"{layer.name}_w"] = rng.integers(-8, 8, shape, dtype=np.int8)
            inputs = [layer.inputs[0], *SCALE, f"{layer.name}_w", "scale_w", "zero_w", *SCALE]
            nodes.append(helper.make_node("QLinearConv", inputs, [layer.name], group=layer.groups, **window))
        elif layer.op == "add":
            inputs = [each for name in layer.inputs for each in (name, *SCALE)] + SCALE
            nodes.append(helper.make_node("QLinearAdd", inputs, [layer.name], domain="com.microsoft"))
        elif layer.op == "maxpool":
            nodes.append(helper.make_node("MaxPool", list(layer.inputs), [layer.name], **window))
        else:
            inputs = [layer.inputs[0], *SCALE, *SCALE]
            nodes.append(helper.make_node("QLinearAveragePool", inputs, [layer.name], domain="com.microsoft", **window))
    (image,), last = network.inputs, network.layers[-1].name
    graph = helper.make_graph(
        nodes, network.name,
        [helper.make_tensor_value_info(image.name, TensorProto.UINT8, [1, image.channels, image.height, image.width])],
        [helper.make_tensor_value_info(last, TensorProto.UINT8, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def _after(network: Network, layer: workloads.Layer, axis: int) -> int:
    """Return the padding behind an axis, which the outputs need."""
    of = network.tensors[network.operands[network.layers.index(layer)][0]]
    extent, outputs = (of.height, of.width)[axis], (layer.height, layer.width)[axis]
    return max(0, (outputs - 1) * layer.stride[axis] + layer.kernel[axis] - extent - layer.padding[axis])


def median_ms(run: Callable[[], object], repeats: int) -> float:
    """Return the median time of a run, ms, after one that warms up."""
    run()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    """Print milliseconds of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", metavar="PROGRAM", help="a program of ResNet50 that `make` has built")
    options = parser.parse_args()
    network = workloads.load("resnet50")
    model, image = model_of(network), network.inputs[0]
    x = np.full((1, image.channels, image.height, image.width), 7, dtype=np.uint8)
    for threads in (1, 0):
        how = onnxruntime.SessionOptions()
        how.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(model, how, providers=["CPUExecutionProvider"])
        spent = median_ms(partial(session.run, None, {image.name: x}), 20)
        print(f"onnxruntime {onnxruntime.__version__}, {threads or 'all'} threads: {spent:,.0f} ms")
    if options.program:
        spent = median_ms(lambda: subprocess.run([options.program], stdout=subprocess.DEVNULL, check=True), 3)
        print(f"program: {spent:,.0f} ms")


if __name__ == "__main__":
    main()
