"""What an ONNX file declares of its values: types, shapes; and how its inputs lie on maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

REAL_TYPES = (1, 10, 11, 16, 17, 18, 19, 20)  #: float, float16, double, bfloat16, float8: others are indices or masks
STORED_TYPES = (*REAL_TYPES, 2, 3)  #: and those of quantized weights, uint8 and int8
TYPES = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16", 2: "uint8", 3: "int8", 6: "int32", 7: "int64"}
LAST = ("NonMaxSuppression",)  #: at the end of a model its scores are its result
RESHAPING = (
    "NonMaxSuppression", "RoiAlign", "OneHot",
    "NonZero", "Unique", "Compress", "MaxUnpool", "MaxRoiPool", "Col2Im", "GatherND", "ScatterND", "DFT", "STFT",
    "SequenceConstruct", "SequenceInsert", "SequenceAt", "SequenceErase", "SplitToSequence", "ConcatFromSequence",
)  # fmt: skip


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
        return ([2], []) if slides else ([1], [])
    return ([], []) if rank == 2 else (list(range(1, rank - 1)), [])
