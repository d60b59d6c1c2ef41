"""What an ONNX file declares of its values: types, shapes; which inputs are caches, and how they lie on maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: operators that hand elements on as they are, or scaled; what only asks for a shape does not read
MOVING = frozenset("Cast Concat Div Expand Identity Mul Reshape Squeeze Tile Transpose Unsqueeze".split())
MULTIPLYING = frozenset(("Attention", "FusedMatMul", "MatMul"))
PAST = (4, 5)  #: inputs of Attention: earlier keys and values

Readers = Mapping[str, list[tuple[Any, int]]]
REAL_TYPES = (1, 10, 11, 16, 17, 18, 19, 20)  #: float, float16, double, bfloat16, float8: others are indices or masks
STORED_TYPES = (*REAL_TYPES, 2, 3)  #: and those of quantized weights, uint8 and int8
TYPES = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16", 2: "uint8", 3: "int8", 6: "int32", 7: "int64"}
LAST_OPERATORS = ("NonMaxSuppression",)  #: at the end of a model its scores are its result
RESHAPING = (
    "NonMaxSuppression", "OneHot",
    "NonZero", "Unique", "Compress", "MaxUnpool", "MaxRoiPool", "Col2Im", "GatherND", "ScatterND", "DFT", "STFT",
    "SequenceConstruct", "SequenceInsert", "SequenceAt", "SequenceErase", "SplitToSequence", "ConcatFromSequence",
)  # fmt: skip


def readers_of(nodes: Iterable[Any]) -> dict[str, list[tuple[Any, int]]]:
    """Return for each name the nodes that read it, and as which input."""
    found: dict[str, list[tuple[Any, int]]] = {}
    for node in nodes:
        for position, name in enumerate(node.input):
            found.setdefault(name, []).append((node, position))
    return found


def first_reader(name: str, readers: Readers) -> tuple[Any, int] | None:
    """Return the node that reads a value first, and as which input; of padding, that of what is padded."""
    found = next(iter(readers.get(name, [])), None)
    return first_reader(found[0].output[0], readers) if found and found[0].op_type == "Pad" else found


def is_cache(name: str, rank: int, readers: Readers) -> bool:
    """Whether new rows are put below those of an input [1, heads, rows, features], and products read all of them."""
    for node, position in readers.get(name, []):
        if rank != 4:
            return False
        if node.op_type == "Attention" and position in PAST:
            return True
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        is_pair = node.op_type == "Concat" and len(node.input) == 2 and len(node.output) == 1
        if is_pair and position == 0 and axis % rank == rank - 2:
            return _is_attended(node.output[0], readers)
    return False


def _is_attended(name: str, readers: Readers) -> bool:
    """Whether nothing but products reads an array, as it is or moved."""
    stack, seen, is_multiplied = [name], {name}, False
    while stack:
        for node, _ in readers.get(stack.pop(), []):
            if node.op_type in MULTIPLYING:
                is_multiplied = True
            elif node.op_type in MOVING:
                stack += [each for each in node.output if each not in seen]
                seen.update(node.output)
            elif node.op_type != "Shape":
                return False
    return is_multiplied


def declared(info: Any) -> tuple[int, ...]:
    """Return the shape that a value_info gives, empty where it gives a part only; a symbolic batch is 1."""
    if info is None or not info.type.HasField("tensor_type"):
        return ()
    dims = list(info.type.tensor_type.shape.dim)
    found = [dim.dim_value if dim.HasField("dim_value") else (1 if i == 0 else 0) for i, dim in enumerate(dims)]
    return tuple(found) if all(extent > 0 for extent in found) else ()


def lie(shape: Sequence[int], reader: tuple[Any, int] | None) -> tuple[list[int], list[int]]:
    """Return which dimensions of a model input run along rows and along columns: as its first reader takes them."""
    rank = len(shape)
    op = reader[0].op_type if reader else ""
    slides = op in ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "BatchNormalization")
    if rank == 4:
        turns = [list(a.ints) for a in reader[0].attribute if a.name == "perm"] if reader and op == "Transpose" else []
        if turns == [[0, 3, 1, 2]] or (not slides and shape[3] <= 4 and shape[1] >= 16):
            return [1], [2]
        return [2], [3]
    if rank == 5 and slides:
        return [2, 3], [4]  # the frames of a clip, one below the other
    if rank == 3:
        is_sequence_first = shape[0] > 1 == shape[1]
        return ([2] if slides else [0] if is_sequence_first else [1]), []
    return ([0] if shape[0] > 1 else [], []) if rank == 2 else (list(range(1, rank - 1)), [])
