"""A package of somebody else, as if it were installed: its code, and the entry points that it has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def install_package(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, **points: dict[str, str]) -> None:
    """Put a module `my_package` with this code on the path; points: by group ("cocco." before it), name: object."""
    (folder / "my_package.py").write_text(code, encoding="utf-8")
    info = folder / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n")
    lines = []
    for group, names in points.items():
        lines += [f"[cocco.{group}]", *(f"{name} = my_package:{made}" for name, made in names.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "my_package", raising=False)  # of another test
