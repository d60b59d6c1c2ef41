"""Mutated real files for the readers (ONNX, layer-graph/1, partitions in JSON and YAML): what they say, time, memory.

    python -m benchmarks.fuzz_readers [--count 20000] [--seed 0]

An input passes if it is read or refused by one line (ValueError) within 10 s; the process stays below 2 GB. Bytes are
flipped, cut, doubled and spliced; ONNX models are also changed field by field, so that they still parse.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import workloads
from simulator import Partition

SECONDS = 10.0
KINDS = ("onnx bytes", "onnx fields", "network json", "partition json", "partition yaml")
MODELS = ("squeezenet", "bvlc_alexnet", "zfnet512", "vgg19", "inception_v1", "shufflenet", "resnet50")
NETWORK = "resnet50"


class Slow(BaseException):
    """An input that takes longer than it may; no Exception, so that no reader can hold it back."""


def corpus(folder: Path) -> dict[str, list[bytes]]:
    """Return the real files by kind."""
    from onnx.backend.test import data

    light = Path(next(iter(data.__path__))) / "light"
    models = [(light / f"light_{name}.onnx").read_bytes() for name in MODELS]
    models += [pieces()] * 3
    networks, plans = [], []
    for name in ("googlenet", "transformer", NETWORK):
        workloads.save(workloads.load(name), folder / "network.json")
        networks.append((folder / "network.json").read_bytes())
    network = workloads.load(NETWORK)
    groups = [[layer.name for layer in network.layers[i : i + 6]] for i in range(0, len(network.layers), 6)]
    for suffix in (".json", ".yaml"):
        path = folder / f"plan{suffix}"
        Partition.from_groups(network, groups).save(path)
        plans.append([path.read_bytes()])
    return dict(zip(KINDS, (models, models, networks, *plans), strict=True))


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


def mutate_bytes(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return the bytes with one to eight changes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        at = rng.randrange(len(changed) + 1)
        length = rng.choice((1, 1, 2, 8, 64, 512))
        draw = rng.random()
        if draw < 0.4 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif draw < 0.55:
            changed[at : at + length] = rng.randbytes(length)
        elif draw < 0.7:
            del changed[at : at + length]
        elif draw < 0.8:
            changed[at:at] = changed[at : at + length] * rng.choice((1, 2, 50))
        elif draw < 0.9:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            changed[at : at + length] = other[start : start + length]
        else:
            del changed[at:]
    return bytes(changed)


NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**16, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))


def mutate_fields(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return an ONNX model with one to four fields changed: extents, attributes, edges, operators, nodes."""
    import onnx

    model = onnx.ModelProto.FromString(data)
    graph = model.graph
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change(rng, graph, rng.choice(graph.node))
    return model.SerializeToString()


def _change(rng: random.Random, graph: Any, node: Any) -> None:
    draw = rng.randrange(9)
    numbers = [a for a in node.attribute if a.type in (2, 7)]
    if draw == 0 and graph.initializer:
        dims = rng.choice(graph.initializer).dims
        dims[:] = [rng.choice(NUMBERS) if rng.random() < 0.5 else extent for extent in dims]
    elif draw == 1 and numbers:
        attribute = rng.choice(numbers)
        attribute.i = rng.choice(NUMBERS)
        attribute.ints[:] = [rng.choice(NUMBERS) if rng.random() < 0.4 else n for n in attribute.ints]
    elif draw == 2 and numbers:
        rng.choice(numbers).ints.append(rng.choice(NUMBERS))
    elif draw == 3 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice([rng.choice(graph.node).output[0], "", "nowhere"])
    elif draw == 4:
        node.op_type = rng.choice([rng.choice(graph.node).op_type, *OPERATORS])
    elif draw == 5 and len(graph.node) > 1:
        graph.node.remove(node)
    elif draw == 6 and node.input:
        node.input.append(rng.choice(graph.node).output[0])
    elif draw == 7:
        for info in graph.input:
            for dim in info.type.tensor_type.shape.dim:
                if rng.random() < 0.2:
                    dim.dim_value = rng.choice(NUMBERS)
    else:
        tensors = [tensor for tensor in graph.initializer if tensor.int64_data or tensor.raw_data]
        if tensors:
            tensor = rng.choice(tensors)
            tensor.int64_data[:] = [rng.choice(NUMBERS) for _ in tensor.int64_data]
            tensor.raw_data = rng.randbytes(len(tensor.raw_data))


#: put in the place of others, with whatever inputs and attributes are there
OPERATORS = (
    "Reshape Transpose Flatten Squeeze Unsqueeze Concat Split Slice Gather Pad Resize Upsample Expand Tile Where "
    "MatMul Gemm ConvTranspose Conv Softmax LayerNormalization ReduceMean Shape ConstantOfShape Range DepthToSpace "
    "InstanceNormalization LRN Mul Div Cast If Odd GlobalAveragePool AveragePool MaxPool Exp Sub Constant"
).split()


def read(kind: str, path: Path, network: workloads.Network) -> None:
    """Read a file of this kind as the commands do."""
    if kind.startswith("onnx"):
        workloads.load(path, unsupported="passthrough" if path.stat().st_size % 2 else "error")
    elif kind.startswith("network"):
        workloads.load(path)
    else:
        Partition.load(path, network)


def inputs(rng: random.Random, files: dict[str, list[bytes]], count: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield (kind, suffix, bytes), each kind as often as the others."""
    change: dict[str, Callable[[random.Random, bytes, list[bytes]], bytes]] = {"onnx fields": mutate_fields}
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        data = change.get(kind, mutate_bytes)(rng, rng.choice(files[kind]), files[kind])
        yield kind, f".{kind.split()[0 if kind.startswith('onnx') else 1]}", data


def fuzz(count: int, seed: int, keep: Path | None = None) -> tuple[Counter[tuple[str, str]], float]:
    """Return how many inputs of each kind ended how, and the longest time; what fails is kept in a folder."""
    ends: Counter[tuple[str, str]] = Counter()
    longest = 0.0
    network = workloads.load(NETWORK)
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, (kind, suffix, data) in enumerate(inputs(random.Random(seed), corpus(folder), count)):
            path = folder / f"input{suffix}"
            path.write_bytes(data)
            start = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                read(kind, path, network)
                end = "read"
            except ValueError as error:
                end = "refused" if "\n" not in str(error) and str(error) else "refused in several lines"
            except Slow:
                end = "too slow"
            except Exception as error:  # what the fuzzing is for
                end = f"crashed: {type(error).__name__}"
            signal.setitimer(signal.ITIMER_REAL, 0)
            longest = max(longest, time.perf_counter() - start)
            ends[kind, end] += 1
            if keep is not None and end not in ("read", "refused"):
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}_{i}{suffix}").write_bytes(data)
    return ends, longest


def _too_long(*_: object) -> None:
    raise Slow


def main() -> int:
    """Print the table; exit code 1 where an input crashed, hung or took too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for inputs that fail")
    options = parser.parse_args()
    ends, longest = fuzz(options.count, options.seed, options.keep)
    for kind in KINDS:
        row = {end: n for (k, end), n in sorted(ends.items()) if k == kind}
        print(f"{kind:16} {sum(row.values()):6}  " + ", ".join(f"{end} {n}" for end, n in row.items()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"longest {longest:.2f} s, peak memory {peak:.2f} GiB")
    bad = sum(n for (_, end), n in ends.items() if end not in ("read", "refused"))
    return int(bad > 0 or peak > 2)


if __name__ == "__main__":
    sys.exit(main())
