"""What a search leaves behind so that it can resume after being killed; removed when it has ended.

FOLDER/.resume/question.json     what was asked, and by which code
FOLDER/.resume/steps.jsonl       a line for each finished step: its key, its answer, a checksum
FOLDER/.resume/<key>.npz         the last state of a step that takes long, whole or not there
"""

from __future__ import annotations

import io
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cocco.candidates.code import code_version
from workloads.errors import FileFormatError, shown
from workloads.files import read_mapping, write_atomic, write_whole

FOLDER, QUESTION, STEPS = ".resume", "question.json", "steps.jsonl"
FORMAT = "cocco-resume/1"
STATE_SECONDS = 2.0  #: between two states of a running step; our choice: what a kill costs at most
STATE_SHARE = 20  #: and so many times what writing one took, so that it costs 5 % at most


class RunStore:
    """The steps of one search in the folder of its run (cocco.effort.work_units.Store).

    question: the question as plain data by name. Nothing is written before the first step has ended. If the disk is
    full, what was written stays, and the search continues without writing more.
    """

    def __init__(self, folder: Path, question: Mapping[str, Any]) -> None:
        self.folder = folder / FOLDER
        self.question = {"format": FORMAT, "code": code_version(), "question": dict(question)}
        self._found: dict[str, Any] = {}
        self._is_open = self._is_broken = False
        self._next = time.monotonic() + STATE_SECONDS

    def take_up(self) -> bool:
        """Read what an earlier search in this folder had done; return whether there was one.

        Raises FileFormatError, one line, where it had another question, or was of another version.
        """
        path = self.folder / QUESTION
        if not path.exists():
            return False
        self._check(read_mapping(path))
        if (self.folder / STEPS).exists():
            for line in (self.folder / STEPS).read_bytes().split(b"\n"):
                step = _step_of(line)
                if step is not None:  # else the line that was being written
                    self._found[step[0]] = step[1]
            self._rewrite()
        self._is_open = True
        return True

    def find(self, key: str) -> tuple[Any] | None:
        """Return the answer of a step, in a tuple; None where it had not ended."""
        return (self._found[key],) if key in self._found else None

    def keep(self, key: str, answer: Any) -> None:
        """Add the answer of a step."""
        if key in self._found:
            return
        self._found[key] = answer

        def write() -> None:
            with open(self.folder / STEPS, "ab") as file:
                file.write(_line(key, answer))
                file.flush()
                os.fsync(file.fileno())

        self._write(write)

    def is_due(self) -> bool:
        """Whether the last state was written long ago."""
        return not self._is_broken and time.monotonic() >= self._next

    def state(self, key: str) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Return the last state of a step; raises FileFormatError where the file is damaged."""
        path = self.folder / f"{key}.npz"
        if not self._is_open or not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            return json.loads(arrays.pop("plain").tobytes()), arrays
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise FileFormatError(f"{path}: is damaged; remove {self.folder} to start anew") from None

    def keep_state(self, key: str, plain: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Write the state of a step in place of its last."""
        start, buffer = time.monotonic(), io.BytesIO()
        everything: dict[str, Any] = {"plain": np.frombuffer(json.dumps(plain).encode(), np.uint8), **arrays}
        np.savez(buffer, **everything)
        self._write(lambda: write_whole(self.folder / f"{key}.npz", lambda file: file.write(buffer.getbuffer())))
        end = time.monotonic()
        self._next = end + max(STATE_SECONDS, STATE_SHARE * (end - start))

    def remove(self) -> None:
        """Remove all of it: the search has ended, or starts over."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._is_open = False

    def _write(self, write: Any) -> None:
        if self._is_broken:
            return
        try:
            if not self._is_open:
                self.remove()
                self.folder.mkdir()
                write_atomic(self.folder / QUESTION, json.dumps(self.question) + "\n")
                self._is_open = True
            write()
        except OSError:
            self._is_broken = True

    def _rewrite(self) -> None:
        """Keep only whole lines, so that the next one starts a new line."""
        text = b"".join(_line(key, answer) for key, answer in self._found.items())
        write_whole(self.folder / STEPS, lambda file: file.write(text))

    def _check(self, found: dict[str, Any]) -> None:
        """Raise FileFormatError if this is not our question."""
        where = f"{self.folder.parent}: cannot be resumed"
        anew = "leave --resume out to start anew"
        for name in ("format", "code"):
            if found.get(name) != self.question[name]:
                told = shown(found.get(name))
                raise FileFormatError(f"{where}: it is of {name} {told}, this is {self.question[name]}; {anew}")
        asked = found.get("question")
        theirs: dict[str, Any] = asked if isinstance(asked, dict) else {}
        ours = json.loads(json.dumps(self.question["question"]))
        for name in ours:
            if theirs.get(name) != ours[name]:
                told = f"{name} {shown(theirs.get(name))}, this one {shown(ours[name])}"
                raise FileFormatError(f"{where}: the search there has {told}; {anew}")
        if theirs != ours:
            raise FileFormatError(f"{where}: the search there has another question; {anew}")


def _line(key: str, answer: Any) -> bytes:
    text = json.dumps([key, answer], separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _step_of(line: bytes) -> tuple[str, Any] | None:
    """Return the key and the answer of a line, None where it is not whole."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    key, answer = json.loads(text)
    return key, answer
