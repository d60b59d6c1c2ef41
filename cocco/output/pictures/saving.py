"""Pictures as files: the same picture gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workloads.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE_FORMATS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}  #: suffix -> what is left out, so that the same result gives the same bytes
PICTURE_DPI = 150


def save_picture(folder: Path, name: str, figure: Figure) -> list[Path]:
    """Write a picture as .png and .svg, and return their paths."""
    paths = [folder / f"{name}{suffix}" for suffix in PICTURE_FORMATS]
    for path in paths:
        write_picture(path, lambda: figure, name)
    return paths


def write_picture(path: Path, draw: Callable[[], Figure], salt: str, hatch_width: float = 1.0) -> None:
    """Draw and write to a .png or .svg file, whole or not at all; salt: what names inside an SVG are made from."""
    import matplotlib

    suffix = path.suffix.lower()
    with matplotlib.rc_context({"svg.hashsalt": salt, "hatch.linewidth": hatch_width}):
        save = partial(draw().savefig, format=suffix[1:], dpi=PICTURE_DPI, metadata=PICTURE_FORMATS[suffix])
        write_whole(path, save)
