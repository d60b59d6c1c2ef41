"""Pictures as files: the same picture gives the same bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PICTURE_FORMATS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}  #: suffix -> what is left out, so that the same result gives the same bytes


PICTURE_DPI = 150


def save_picture(folder: Path, name: str, figure: Figure) -> list[Path]:
    """Write a picture as .png and .svg, and return their paths; the same picture gives the same bytes."""
    import matplotlib

    paths = []
    for suffix, left_out in PICTURE_FORMATS.items():
        temporary = folder / f".{name}.tmp{suffix}"
        try:
            with matplotlib.rc_context({"svg.hashsalt": name}):
                figure.savefig(temporary, dpi=PICTURE_DPI, metadata=left_out)
            os.replace(temporary, folder / f"{name}{suffix}")
        finally:
            temporary.unlink(missing_ok=True)
        paths.append(folder / f"{name}{suffix}")
    return paths
