"""What a folder holds: a run of `cocco explore`, or a front of `cocco pareto` or under limits."""

from __future__ import annotations

from pathlib import Path

from cocco.output.folders.read.front import FrontRun, read_front
from cocco.output.folders.read.reading import about_of, result_file
from cocco.output.folders.read.run import Run, read_run
from workloads.errors import FileFormatError


def read(folder: Path) -> Run | FrontRun:
    """Return what a search wrote into a folder.

    Raises FileFormatError, one line that names the file, if it is missing, cut off or something else.
    """
    if not folder.is_dir():
        raise FileFormatError(f"{folder}: is no directory; give one that 'cocco explore' or 'cocco pareto' wrote (-o)")
    content = result_file(folder)
    result = content.inner("result")
    about = about_of(content)
    is_front = "front" in result.content or "minimize" in result.content
    return read_front(folder, about, result) if is_front else read_run(folder, about, result)
