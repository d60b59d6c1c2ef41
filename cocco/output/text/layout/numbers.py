"""Numbers with units and tables, for people. 1 KB = 1024 bytes, as everywhere in this program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cocco.output.text.layout.tables import laid_out
from simulator.technology import KiB


def capacity(size: int) -> str:
    """Return a buffer's capacity, exactly: in KB where that is a whole number."""
    return f"{size // KiB} KB" if size % KiB == 0 else f"{size} bytes"


def capacity_above(size: int) -> str:
    """Return the least whole number of KB that has room for this many bytes."""
    return f"{-(-size // KiB):,} KB"


def the_buffers(cores: int) -> str:
    """Return all buffers that there are, in words.

    Examples
    --------
    >>> the_buffers(1), the_buffers(4)
    ('the buffers', 'the buffers of all 4 cores')
    """
    return "the buffers" if cores == 1 else f"the buffers of all {cores} cores"


def percent(part: float, whole: float) -> str:
    """Return a share."""
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"


def buffer_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns of a table that hold the bytes of a buffer of one core, such as shared_buffer_bytes."""
    return [name for name in columns if name.endswith("_buffer_bytes")]


def buffer_name(column: str) -> str:
    """Return 'shared buffer' of 'shared_buffer_bytes'."""
    return column.removesuffix("_bytes").replace("_", " ")


def counted_as(method: str, generations: int) -> str:
    """Return what the `samples` of a result are: a proof without a search before it counts its steps."""
    return "steps" if method == "exact" and generations == 1 else "samples"


def counted(count: int, thing: str) -> str:
    """Return '1 subgraph' or '2 subgraphs'."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str:
    """Return columns under their heads, as `laid_out` does, which fits them to the terminal."""
    return laid_out(heads, rows, left)
