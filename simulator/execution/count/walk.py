"""Runs a scheme on intervals: which rows and columns are made, read, kept and restored, and whether they are there.

Rows and columns are independent, because every row operation sweeps the same columns. So each axis runs once, in
regions of exactly the claimed size. A read that finds nothing, a write without room, or an element that is made twice
or never is a Miss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.part import COLUMNS, ROWS, Part, Reading
from simulator.execution.count.scheme import Scheme

Pieces = dict[int, list[Span]]  #: by tensor id, what each of its updates makes along an axis
Operation = dict[int, Span]  #: by tensor id, the rows that one sweep over all columns makes


@dataclass
class Walk:
    """What a run of a scheme makes, and the rows that it restores, by tensor id."""

    rows: Pieces
    columns: Pieces
    restored: dict[int, int] = field(default_factory=dict)  #: rows taken out of SIDE


def walk(scheme: Scheme) -> Walk:
    """Run a scheme; raises Miss."""
    part = scheme.part
    for u in part.tensors:
        room, channels = scheme.cells[u].channels, part.network.tensors[u].channels
        if room < channels:
            raise Miss(f"tensor {part.name(u)!r}: {channels} channels exceed the {room} of its region")
    if scheme.is_alone:
        return walk_rows(scheme, {u: [(0, part.extent[COLUMNS][u])] for u in part.tensors})
    return walk_rows(scheme, _run_updates(scheme, COLUMNS))


def walk_rows(scheme: Scheme, columns: Pieces) -> Walk:
    """Run the rows of a scheme whose columns ran in these pieces; raises Miss."""
    if scheme.is_alone:
        return Walk(_run_updates(scheme, ROWS), columns)
    found = Walk({}, columns)
    _run_operations(scheme, found)
    return found


class _Line:
    """The regions of all tensors along one axis, and what was made in them."""

    def __init__(self, scheme: Scheme, axis: int) -> None:
        self.part, self.axis = scheme.part, axis
        self.room = {u: (cells.rows, cells.columns)[axis] for u, cells in scheme.cells.items()}
        self.done = dict.fromkeys(self.part.tensors, 0)
        self.pieces: Pieces = {u: [] for u in self.part.tensors}

    def ring(self, u: int) -> Span:
        """Return what a ring holds: the last elements made; for a tensor on chip whole, all that is there."""
        if u in self.part.lies.on_chip:
            return _whole(self.part, self.axis, u, self.done[u])
        return max(0, self.done[u] - self.room[u]), self.done[u]

    def make(self, u: int, span: Span, held: Callable[[int], Span]) -> None:
        """Make elements of a tensor from the parts of its operands that are held; raises Miss."""
        name, size = self.part.name(u), span[1] - span[0]
        if span[0] != self.done[u]:
            raise Miss(f"tensor {name!r}: {span[0]} to {span[1]} is made where {self.done[u]} is next")
        if size > self.room[u] and u not in self.part.lies.on_chip:
            raise Miss(f"tensor {name!r}: an update of {size} {self.unit} exceeds the {self.room[u]} of MAIN")
        for reading in self.part.operands.get(u, ()):
            self._read(reading, span, held(reading.tensor))
        self.pieces[u].append(span)
        self.done[u] = span[1]

    def finished(self) -> Pieces:
        """Return what was made; raises Miss if an element never was."""
        for u, stop in self.done.items():
            if stop != self.part.extent[self.axis][u]:
                raise Miss(f"tensor {self.part.name(u)!r}: {stop} of its {self.unit} are made")
        return self.pieces

    @property
    def unit(self) -> str:
        """The name of what the axis counts."""
        return ("rows", "columns")[self.axis]

    def _read(self, reading: Reading, outputs: Span, held: Span) -> None:
        extent = self.part.extent[self.axis][reading.tensor]
        first, end = (0, extent) if reading.whole else self.part.window(reading, self.axis, outputs)
        if first < end and not held[0] <= first <= end <= held[1]:
            reader, name = self.part.name(reading.layer), self.part.name(reading.tensor)
            raise Miss(f"tensor {name!r}: {reader!r} reads {self.unit} {first}:{end}, MAIN holds {held[0]}:{held[1]}")


def _run_updates(scheme: Scheme, axis: int) -> Pieces:
    """Run the updates of one axis one by one, in regions that are rings."""
    line = _Line(scheme, axis)
    for event in (scheme.rows, scheme.columns)[axis].events(line.room):
        line.make(event.tensor, (event.start, event.stop), line.ring)
    return line.finished()


def _run_operations(scheme: Scheme, found: Walk) -> None:
    """Run the row operations; in each, a tensor holds its new rows and those in SIDE or MAIN."""
    part, line = scheme.part, _Line(scheme, ROWS)
    everything = [{u: (0, part.extent[ROWS][u]) for u in part.tensors}]
    for operation in everything if scheme.is_single else scheme.rows.operations(line.room):
        held = {u: _held(scheme, operation, u) for u in part.tensors}
        for u in part.tensors:
            for span in _pieces(scheme, u, operation[u]):
                line.make(u, span, held.__getitem__)
            if u not in part.lies.on_chip:
                _count_again(scheme, found, u, operation[u][0] - held[u][0])
    found.rows = line.finished()


def _held(scheme: Scheme, operation: Operation, u: int) -> Span:
    """Return the rows that MAIN holds while a row of tiles passes: the new ones, and those above that are read."""
    cells, (start, stop) = scheme.cells[u], operation[u]
    if u in scheme.part.lies.on_chip:
        return _whole(scheme.part, ROWS, u, stop)
    oldest = min([_first_row(scheme.part, each, operation) for each in scheme.part.readers[u]], default=stop)
    above = max(0, stop - cells.rows)
    if cells.columns < cells.width:
        above = max(above, start - cells.kept)
    return min(start, max(above, oldest)), stop


def _whole(part: Part, axis: int, u: int, done: int) -> Span:
    """Return the part present of a tensor that is on chip whole: all, or what was made or loaded here."""
    return 0, part.extent[axis][u] if u in part.lies.there else done


def _first_row(part: Part, reading: Reading, operation: Operation) -> int:
    """Return the first row that a layer reads in an operation; the end of the map if it makes nothing."""
    rows = operation[reading.layer]
    if rows[0] == rows[1]:
        return part.extent[ROWS][reading.tensor]
    return 0 if reading.whole else part.window(reading, ROWS, rows)[0]


def _pieces(scheme: Scheme, u: int, rows: Span) -> Iterator[Span]:
    """Yield what is made at once: the rows of an operation, or one tile for an output, whose region holds one tile."""
    at_once = max(1, rows[1] - rows[0]) if scheme.part.readers[u] else scheme.tile[ROWS]
    for first in range(rows[0], rows[1], at_once):
        yield first, min(first + at_once, rows[1])


def _count_again(scheme: Scheme, found: Walk, u: int, rows: int) -> None:
    """Count rows that MAIN no longer holds and that come out of SIDE."""
    cells = scheme.cells[u]
    if rows and cells.columns < cells.width:
        found.restored[u] = found.restored.get(u, 0) + rows
