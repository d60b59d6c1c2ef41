"""An ONNX file without its weights: large tensor data are skipped before anything is parsed.

The bytes of a protobuf are walked through a memory map, so that a model of 2 GB costs no memory, and a malicious one no
more than its structure may take. Field numbers are those of onnx.proto (ONNX 1.15; they never change).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from os import PathLike

from workloads.errors import NetworkError
from workloads.files import open_regular

MAX_ONNX_BYTES = 2**31 - 1  #: what protobuf itself allows
MAX_STRUCTURE = 2**26  #: bytes that are left without weights; our choice, a graph of 100,000 nodes has about 2**24
MAX_ENTRIES = 2**20  #: fields that are walked, our choice; takes about a second
LARGE = 2**16  #: bytes of a field that is looked into, or skipped where it is data of a tensor

#: message -> {field: message inside}; the data of a tensor are those of `DATA`
INSIDE = {
    "model": {7: "graph"}, "graph": {1: "node", 5: "tensor", 15: "sparse"}, "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor"}, "sparse": {1: "tensor", 2: "tensor"}, "tensor": {},
}  # fmt: skip
DATA = (4, 5, 6, 7, 9, 10, 11)  #: float, int32, string, int64, raw, double, uint64


def without_weights(path: str | PathLike[str]) -> bytes:
    """Return the serialised model without large tensor data; raises NetworkError where it is no protobuf."""
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            if size > MAX_ONNX_BYTES:
                raise NetworkError(
                    f"has {size} bytes, more than {MAX_ONNX_BYTES}; save its weights as external data (it is not read)"
                )
            if not size:
                raise NetworkError("is no ONNX model: it is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Walk(data).copy("model", 0, size)
    except OSError as error:
        raise NetworkError(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, NetworkError):
            raise
        raise NetworkError(f"cannot be read: {error}") from None


class _Walk:
    """Copies messages, counting what it sees and what it keeps."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.entries = 0
        self.kept = 0

    def copy(self, message: str, start: int, stop: int) -> bytes:
        """Return a message without the large data in it."""
        pieces, run = [], start  # what is copied as it is, from `run` on
        for field, begin, inside, end in self._fields(start, stop):
            if end - inside <= LARGE:
                continue
            if message == "tensor" and field in DATA:
                pieces.append(self._keep(run, begin))
                run = end
            elif field in INSIDE[message]:
                pieces.append(self._keep(run, begin))
                inner = self.copy(INSIDE[message][field], inside, end)
                pieces += [_number(field << 3 | 2), _number(len(inner)), inner]
                run = end
        return b"".join([*pieces, self._keep(run, stop)])

    def _keep(self, start: int, stop: int) -> bytes:
        self.kept += stop - start
        if self.kept > MAX_STRUCTURE:
            raise NetworkError(f"has more than {MAX_STRUCTURE} bytes in addition to its weights")
        return self.data[start:stop]

    def _fields(self, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield (number, start, start of the content, end) of each field with a length."""
        at = start
        while at < stop:
            self.entries += 1
            if self.entries > MAX_ENTRIES:
                raise NetworkError(f"has more than {MAX_ENTRIES} entries")
            begin = at
            key, at = self._varint(at, stop)
            kind = key & 7
            if kind == 2:
                length, inside = self._varint(at, stop)
                at = inside + length
                if at <= stop:
                    yield key >> 3, begin, inside, at
            elif kind == 0:
                _, at = self._varint(at, stop)
            elif kind in (1, 5):
                at += 8 if kind == 1 else 4
            else:
                raise NetworkError(f"is no ONNX model: byte {begin} begins no field of a protobuf")
            if at > stop:
                raise NetworkError(f"is no ONNX model: the field at byte {begin} ends behind its message")

    def _varint(self, at: int, stop: int) -> tuple[int, int]:
        value = shift = 0
        while at < stop and shift < 64:
            byte = self.data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
        raise NetworkError(f"is no ONNX model: the number at byte {at} does not end")


def _number(value: int) -> bytes:
    """A number as protobuf writes it."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
