"""Reading and writing small structured files (JSON, YAML) without trusting them.

Bounds, our choice: a JSON file of 16 MiB (a network of 700 layers has 0.14), a YAML file of 256 KiB (its reader takes
seconds for that; a partition of 2000 layers has 50 KiB), values nested 64 deep, and 10 YAML aliases: with so few, even
a nest of them repeats its contents about 40 times at most.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import uuid
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from workloads.errors import FileFormatError, one_line, shown

MAX_JSON_BYTES = 16 * 2**20
MAX_YAML_BYTES = 2**18
MAX_NESTING = 64
MAX_ALIASES = 10
DIGITS = 16  #: hexadecimal digits of a name; our choice: 64 bits never collide by chance
MAX_BITS = 1023  #: of an integer: such a one is still a finite number of 64-bit floating point


def read_mapping(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the mapping in a JSON (.json) or YAML (.yaml, .yml) file.

    Raises FileFormatError, one line that names the file, where it cannot be read, is too large, is not UTF-8 text or
    not JSON or YAML, repeats a key, nests too deep, has too many aliases, a number that is not finite, a key that is
    no text, or no mapping at its top.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _PARSERS:
        raise FileFormatError(f"{path}: has the suffix {suffix!r}; known are {', '.join(_PARSERS)}")
    parse, limit = _PARSERS[suffix]
    text = read_text(path, limit)
    try:
        content = parse(text)
        _check_values(content)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except RecursionError:
        raise FileFormatError(f"{path}: nests values more than {MAX_NESTING} deep") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"{path}: holds {shown(content)}; it must hold a mapping (keys and values)")
    return content


def write_atomic(path: str | PathLike[str], text: str) -> None:
    """Write a text file (UTF-8) whole or not at all, as `write_whole`."""
    data = text.encode()
    write_whole(path, lambda file: file.write(data))


def write_whole(path: str | PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file whole or not at all: into a temporary file of its own next to it, which then takes its name.

    Raises OSError, which names the path, where the folder does not exist, cannot be written or is full, or where the
    path is no regular file.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"{path}: is not a regular file")
    temporary = target.with_name(f".{target.name[:64]}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:  # with the permissions of any new file
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o777)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise


def open_regular(path: str | PathLike[str]) -> BinaryIO:
    """Return a regular file opened for reading; raises OSError for a pipe or a device, which may never end."""
    kind = os.stat(path).st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # of a directory the system says so
        raise OSError("it is no regular file")
    return open(path, "rb")


def read_bytes(path: str | PathLike[str], limit: int) -> bytes:
    """Return the bytes of a file; raises FileFormatError where it cannot be read or has more than the limit."""
    try:
        with open_regular(path) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a null character in the path
        raise FileFormatError(f"{shown(str(path))}: cannot be read: {error}") from None
    if len(data) > limit:
        raise FileFormatError(f"{path}: is larger than {limit} bytes, the most that is read")
    return data


def read_text(path: str | PathLike[str], limit: int) -> str:
    """Return the text of a file (UTF-8); raises FileFormatError where it is none, empty, or larger than the limit."""
    data = read_bytes(path, limit)
    if not data.strip():
        raise FileFormatError(f"{path}: is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: is not text: byte {error.start} is not UTF-8") from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_not_finite)
    except FileFormatError:
        raise
    except ValueError as error:  # malformed, or an integer of more than 4300 digits
        raise FileFormatError(f"is not JSON: {one_line(error)}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise FileFormatError(f"repeats the key {shown(key)}")
            seen.add(key)
    return found


def _not_finite(literal: str) -> None:
    raise FileFormatError(f"holds the number {literal}; numbers must be finite")


def _parse_yaml(text: str) -> Any:
    import yaml

    try:
        _check_events(text)
        return yaml.safe_load(text)
    except FileFormatError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # ValueError: an impossible date or number
        raise FileFormatError(f"is not YAML: {one_line(error)}") from None


def _check_events(text: str) -> None:
    """Check a YAML text before anything is built: aliases, nesting, tags, repeated keys."""
    import yaml

    aliases = 0
    open_nodes: list[tuple[str | None, set[str] | None, list[int]]] = []  # anchor, keys of a mapping, children so far
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise FileFormatError(f"has the tag {shown(tag)}; tags are not read")
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if aliases > MAX_ALIASES:
                raise FileFormatError(f"has more than {MAX_ALIASES} aliases (*{event.anchor}); write the values out")
            if any(anchor == event.anchor for anchor, _, _ in open_nodes):
                raise FileFormatError(f"has an alias (*{event.anchor}) inside what it names")
        if open_nodes:
            _, keys, children = open_nodes[-1]
            if keys is not None and children[0] % 2 == 0 and isinstance(event, yaml.ScalarEvent):
                if event.value in keys:
                    raise FileFormatError(f"repeats the key {shown(event.value)}")
                keys.add(event.value)
            children[0] += 1
        if isinstance(event, yaml.CollectionStartEvent):
            if len(open_nodes) == MAX_NESTING:
                raise FileFormatError(f"nests values more than {MAX_NESTING} deep")
            open_nodes.append((event.anchor, set() if isinstance(event, yaml.MappingStartEvent) else None, [0]))


def _check_values(content: Any) -> None:
    """Check a parsed value: nesting, keys that are text, finite numbers."""
    level, depth = [content], 0
    while level:
        inner: list[Any] = []
        for value in level:
            if type(value) is dict:
                for key in value:
                    if type(key) is not str:
                        raise FileFormatError(f"has the key {shown(key)}; keys must be text")
                inner += value.values()
            elif type(value) is list:
                inner += value
            elif type(value) is float and not math.isfinite(value):
                _not_finite(str(value))
            elif type(value) is int and value.bit_length() > MAX_BITS:
                raise FileFormatError(f"holds {shown(value)}; numbers must be below 2^{MAX_BITS}")
        level, depth = inner, depth + 1
        if depth > MAX_NESTING + 1:
            raise FileFormatError(f"nests values more than {MAX_NESTING} deep")


_PARSERS: dict[str, tuple[Callable[[str], Any], int]] = {
    ".json": (_parse_json, MAX_JSON_BYTES),
    ".yaml": (_parse_yaml, MAX_YAML_BYTES),
    ".yml": (_parse_yaml, MAX_YAML_BYTES),
}


def digest(text: str) -> str:
    """Return a name for a text, the same for the same text: the start of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
