"""A program that torch.export.save wrote (.pt2), of which the graph and the shapes are read: JSON, and no pickle.

Tensors have no numbers, so what a graph computes of stored masks is not known. What torch would evaluate while it reads
(expressions of symbolic extents) or could call later (anything but its own operators) is refused before it sees it.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from os import PathLike
from typing import Any

from workloads.errors import NetworkError, one_line, shown

MAX_TEXT = 2**26  #: bytes of one text in the archive, our choice: as the structure of an ONNX file
OPERATORS = re.compile(r"torch\.ops\.(aten|higher_order|torchvision)\.(?!from_file)\w+(\.\w+)?|_operator\.getitem")


def read_archive(path: str | PathLike[str]) -> Any:
    """Return the exported program; raises NetworkError, one line, where it is none that can be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            model = _text(archive, "/models/", ".json")
            tensors = [_text(archive, "/data/", f"/model_{kind}_config.json") for kind in ("weights", "constants")]
    except OSError as error:
        raise NetworkError(f"cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, ValueError, RecursionError) as error:
        if isinstance(error, NetworkError):
            raise
        raise NetworkError(f"is no archive of torch.export.save: {one_line(error)}") from None
    _check(model)
    try:
        from torch._export.serde import schema, serialize

        weights, constants = ({name: _empty(each) for name, each in found["config"].items()} for found in tensors)
        program = serialize._dict_to_dataclass(schema.ExportedProgram, model | {"guards_code": []})
        return serialize.ExportedProgramDeserializer().deserialize(program, weights, constants)
    except Exception as error:  # whatever torch makes of another version's file
        raise NetworkError(f"is not read by this version of torch: {one_line(error)[:200]}") from None


def _text(archive: zipfile.ZipFile, folder: str, end: str) -> Any:
    """The only JSON text of a folder, of a sane length."""
    found = [each for each in archive.infolist() if folder in f"/{each.filename}" and each.filename.endswith(end)]
    if len(found) != 1:
        raise NetworkError(f"has {len(found)} files {folder}*{end}; an archive of torch.export.save has one")
    if found[0].file_size > MAX_TEXT:
        raise NetworkError(f"has {found[0].file_size:,} bytes of {found[0].filename}; at most {MAX_TEXT:,} are read")
    return json.loads(archive.read(found[0]))


def _check(model: Any) -> None:
    """Raise NetworkError for symbolic extents, and for targets that are no operators of torch."""
    for key, value in _pairs(model):
        if key == "as_expr" or (key in ("range_constraints", "sym_int_values") and value):
            raise NetworkError("has symbolic extents; export it with fixed shapes")
        if key == "target" and isinstance(value, str) and not OPERATORS.fullmatch(value):
            raise NetworkError(f"calls {shown(value)}; only operators of torch are read")


def _pairs(found: Any) -> Iterator[tuple[str, Any]]:
    """All keys of nested mappings with what they hold; the signature's targets are names of tensors."""
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        if key not in ("signature", "metadata"):
            yield str(key), value
            yield from _pairs(value)


def _empty(entry: Any) -> Any:
    """A tensor of the shape and type that the archive says, without numbers."""
    import torch
    from torch._export.serde.serialize import _SERIALIZE_TO_TORCH_DTYPE

    meta = entry["tensor_meta"]
    kind, shape = _SERIALIZE_TO_TORCH_DTYPE[meta["dtype"]], [extent["as_int"] for extent in meta["sizes"]]
    tensor = torch.empty(shape, dtype=kind, device="meta")
    return torch.nn.Parameter(tensor, requires_grad=False) if entry["is_param"] else tensor
