"""Which code a result is of: its version, and a fingerprint of its text."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from cocco.output.folders.about import version

ROOMS = ("workloads", "simulator", "cocco")  #: whose code decides what a search answers
CODE = (".py", ".pyx", ".pxi")
ROOT = Path(__file__).resolve().parents[3]  #: where the rooms are


@cache
def code_version() -> str:
    """Return the version of the package and a fingerprint of its code, such as '0.2.0+1f2e3d4c'.

    What is stored is only taken up again by the code that stored it: an edit may change what it answers.
    """
    return f"{version('cocco')}+{fingerprint(ROOT)}"


def fingerprint(root: Path) -> str:
    """Return 8 hexadecimal digits that change with the name or the text of any file of code in the rooms below root."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted(path for path in (root / room).rglob("*") if path.suffix in CODE):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:8]
