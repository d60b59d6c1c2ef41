"""Mutated real files for all readers: what they say, time, memory.

    python -m benchmarks.fuzz_readers [--count 20000] [--seed 0]

An input passes if it is read or refused by one line (ValueError) within 10 s; the process stays below 2 GB. Bytes are
flipped, cut, doubled and spliced; "fields" are changed one by one, so that the file still parses.
"""

from __future__ import annotations

import argparse
import json
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
from benchmarks.fuzz_fields import NUMBERS, mutate_cells, mutate_json, mutate_yaml
from benchmarks.fuzz_graphs import choices, decoder, pieces
from cocco.mapping.layer_lists import read_layers
from simulator import Partition
from simulator.allocation import read_buffers
from simulator.hardware_files import load_accelerator
from simulator.mapping.architecture import read_architecture
from simulator.memory.reading import TABLES_FOLDER, read_table
from simulator.partition.files import read_handwritten
from simulator.schedule import Schedule, read_schedule, write_schedule

SECONDS = 10.0
EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
MODELS = ("squeezenet", "bvlc_alexnet", "zfnet512", "vgg19", "inception_v1", "shufflenet", "resnet50")
NETWORK = "resnet50"


class Slow(BaseException):
    """An input that takes longer than it may; no Exception, so that no reader can hold it back."""


def corpus(folder: Path) -> dict[str, list[bytes]]:
    """Return the real files by kind."""
    from onnx.backend.test import data

    light = Path(next(iter(data.__path__))) / "light"
    models = [(light / f"light_{name}.onnx").read_bytes() for name in MODELS]
    models += [pieces(), decoder(), choices()] * 3
    networks: list[bytes] = []
    plans: list[list[bytes]] = []
    for name in ("googlenet", "transformer", NETWORK):
        workloads.save(workloads.load(name), folder / "network.json")
        networks.append((folder / "network.json").read_bytes())
    language = workloads.load("llama3_8b", phase="decode", past=64, layers=1)
    workloads.save(language, folder / "network.json")
    networks.append((folder / "network.json").read_bytes())
    network = workloads.load(NETWORK)
    groups = [[layer.name for layer in network.layers[i : i + 6]] for i in range(0, len(network.layers), 6)]
    for suffix in (".json", ".yaml"):
        path = folder / f"plan{suffix}"
        Partition.from_groups(network, groups).save(path)
        plans.append([path.read_bytes()])
    write_schedule(folder / "schedule.json", Schedule(tuple(layer.name for layer in network.layers), ()), {})
    order = json.loads((folder / "schedule.json").read_text())
    segment = {"tensor": "conv1", "first": 0, "last": 3, "address": 0, "size": 64, "enters": "created"}
    order["segments"] = [{**segment, "leaves": "dead"} for _ in range(3)]
    (tables,) = examples("tables.yaml")
    handwritten = examples("blocks.yaml", "deep.yaml", "kept.yaml")
    return {
        "onnx bytes": models, "onnx fields": models, "network bytes": networks, "network fields": networks,
        "partition.json bytes": plans[0], "partition.json fields": plans[0], "partition.yaml bytes": plans[1],
        "partition.yaml fields": [*plans[1], *handwritten],
        "hardware.yaml fields": [*examples("banks.yaml", "chip.yaml"), b"shared_buffer: 1MB\n" + tables],
        "architecture.yaml fields": examples("machine.yaml"),
        "schedule.json fields": [json.dumps(order).encode()],
        "buffers.csv fields": examples("buffers.csv"), "layers.csv fields": examples("layers.csv"),
        "table.csv fields": [min(TABLES_FOLDER.glob("*.csv")).read_bytes()],
    }  # fmt: skip


def examples(*names: str) -> list[bytes]:
    """Return files of the documentation."""
    return [(EXAMPLES / name).read_bytes() for name in names]


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
    "InstanceNormalization LRN Mul Div Cast If Odd GlobalAveragePool AveragePool MaxPool Exp Sub Constant "
    "Einsum ArgMax TopK GatherElements Attention LSTM CumSum GridSample"
).split()


def read(kind: str, path: Path, network: workloads.Network) -> None:
    """Read a file of this kind as the commands do."""
    what = kind.split()[0].split(".")[0]
    if what == "onnx":
        workloads.load(path, unsupported="passthrough" if path.stat().st_size % 2 else "error")
    elif what == "network":
        workloads.load(path)
    elif what == "partition":
        Partition.load(path, network) if path.suffix == ".json" else read_handwritten(path, network)
    else:
        READERS[what](path)


def inputs(rng: random.Random, files: dict[str, list[bytes]], count: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield (kind, suffix, bytes), each kind as often as the others."""
    kinds = list(files)
    for i in range(count):
        kind = kinds[i % len(kinds)]
        suffix = SUFFIXES.get(kind.split()[0], f".{kind.split()[0].split('.')[-1]}")
        change = CHANGES[suffix] if kind.endswith("fields") else mutate_bytes
        yield kind, suffix, change(rng, rng.choice(files[kind]), files[kind])


Change = Callable[[random.Random, bytes, list[bytes]], bytes]
CHANGES: dict[str, Change] = {
    ".onnx": mutate_fields, ".json": mutate_json, ".yaml": mutate_yaml, ".csv": mutate_cells
}  # fmt: skip
SUFFIXES = {"onnx": ".onnx", "network": ".json"}
READERS: dict[str, Callable[[Path], object]] = {
    "hardware": load_accelerator, "architecture": read_architecture, "schedule": read_schedule,
    "buffers": read_buffers, "layers": read_layers, "table": read_table,
}  # fmt: skip


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
    for kind in dict.fromkeys(kind for kind, _ in ends):
        row = {end: n for (k, end), n in sorted(ends.items()) if k == kind}
        print(f"{kind:26} {sum(row.values()):6}  " + ", ".join(f"{end} {n}" for end, n in row.items()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"longest {longest:.2f} s, peak memory {peak:.2f} GiB")
    bad = sum(n for (_, end), n in ends.items() if end not in ("read", "refused"))
    return int(bad > 0 or peak > 2)


if __name__ == "__main__":
    sys.exit(main())
