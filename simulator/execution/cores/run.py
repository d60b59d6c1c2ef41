"""The run of values: a team executes a subgraph in n memories of exactly the claimed elements, all channels.

A core gets the channels of a window that it reads by `share.wanted` from the memories that have them, and noise for all
others: an output that depends on noise is wrong. What comes from another core crosses and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from simulator.execution.cores.share import wanted
from simulator.execution.cores.team import Team
from simulator.execution.count.layer_facts import heads_of_channels
from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.part import ROWS
from simulator.execution.count.scheme import Cells
from simulator.execution.value.arithmetic import PRIME, Arithmetic, Block
from simulator.execution.value.executor import TensorMemory
from simulator.model.subgraph.regions import Region

Place = Callable[[int, int, TensorMemory], TensorMemory]  #: of a core and a tensor id


@dataclass
class Ran:
    """What a run counted, in bytes of one sample; updates by layer, for each core."""

    loads: int = 0
    stores: int = 0
    reads: int = 0
    crossing: int = 0
    restored: int = 0
    updates: dict[int, list[int]] = field(default_factory=dict)


class HeadedArithmetic(Arithmetic):
    """Operators with all channels; a product of several heads multiplies head by head."""

    def block(self, v, rows, columns, read, whole, *leave):  # type: ignore[no-untyped-def]
        """Return rows x columns of layer v's output."""
        layer, operands = self.network.layers[v], self.network.operands[v]
        if layer.op != "matmul":
            return super().block(v, rows, columns, read, whole, *leave)
        left = read(operands[0], rows, columns) if 0 not in layer.whole else whole(operands[0])
        rows = [np.split(whole(u), heads_of_channels(layer)) for u in operands[1:]]
        second = [np.concatenate([part.reshape(-1) for part in parts]) for parts in zip(*rows)]
        outputs, shared = self.channels[v] // layer.groups, layer.groups // heads_of_channels(layer)
        parts = enumerate(np.split(left, layer.groups))
        found = [Arithmetic._matmul(self, part, second[i // shared], outputs) for i, part in parts]
        return self.hide(v, rows, np.concatenate(found))


def run_team(
    team: Team,
    arithmetic: Arithmetic,
    dram: Mapping[int, Block],
    stays: Mapping[int, Block] | None = None,
    place: Place | None = None,
) -> tuple[dict[int, Block], Ran]:
    """Return the outputs of a subgraph that a team executes, and what was counted; raises Miss.

    dram: whole maps by tensor id. stays: maps that an earlier step left on chip. place: puts a core's part of a tensor
    into its memory.
    """
    return _Run(team, arithmetic, dram, stays or {}, place).run()


class _Run:
    """The memories of all cores, and what is in them."""

    def __init__(
        self,
        team: Team,
        arithmetic: Arithmetic,
        dram: Mapping[int, Block],
        stays: Mapping[int, Block],
        place: Place | None,
    ) -> None:
        self.place = place
        self.team, self.part, self.arithmetic, self.dram = team, team.part, arithmetic, dram
        self.memory = [self._memories(core) for core in range(len(team.shares))]
        self.noise = np.random.default_rng(1)
        shapes, channels = self.part.network.tensors, arithmetic.channels
        self.made = {u: np.zeros((shapes[u].height, shapes[u].width), dtype=bool) for u in self.part.tensors}
        maps = {v: (channels[v], shapes[v].height, shapes[v].width) for v in self.part.outputs}
        self.stored = {v: np.full(shape, -1) for v, shape in maps.items()}
        self.counts = Ran(updates={v: [0] * len(team.shares) for v in self.part.layers})
        for u in self.part.lies.there & set(self.part.tensors):
            self._fill(u, stays[u])

    def run(self) -> tuple[dict[int, Block], Ran]:
        """Run all updates."""
        scheme, part = self.team.scheme, self.part
        room = {u: each.rows for u, each in scheme.cells.items()}
        height = part.extent[ROWS]
        if scheme.is_alone:
            pieces = {sweep.tensor: sweep.pieces for sweep in self.team.sweeps}
            for event in scheme.rows.events(room):
                self._advance(event.tensor, (event.start, event.stop), pieces[event.tensor])
        else:
            everything = [{u: (0, height[u]) for u in part.tensors}]
            for operation in everything if scheme.is_single else scheme.rows.operations(room):
                for sweep in self.team.sweeps:
                    self._advance(sweep.tensor, operation[sweep.tensor], sweep.pieces)
        for u, made in self.made.items():
            if not made.all() and u not in part.lies.there:
                raise Miss(f"tensor {part.name(u)!r}: element {tuple(np.argwhere(~made)[0])} is never made")
        return self.stored, self.counts

    def _memories(self, core: int) -> dict[int, TensorMemory]:
        """Return the memories of a core: exactly the claimed elements, or the whole map if that is on chip."""
        share, found = self.team.shares[core], {}
        for u in self.part.tensors:
            cells = self.team.cells[core][u]
            if u in self.part.lies.on_chip:
                cells = Cells(self.part.extent[ROWS][u], share.extent(u), 0, 0, cells.channels)
            name, count = self.part.name(u), len(share.channels[u])
            if count > cells.channels:
                raise Miss(f"tensor {name!r}: {count} channels exceed the {cells.channels} of a core's region")
            region = Region((cells.rows, cells.columns), (cells.kept, cells.width), 0, 0)
            found[u] = TensorMemory(name, count, region)
            if self.place is not None and u not in self.part.lies.on_chip:
                found[u] = self.place(core, u, found[u])
        return found

    def _fill(self, u: int, values: Block) -> None:
        for core, share in enumerate(self.team.shares):
            channels = share.channels[u]
            if channels:
                height, width = values.shape[1:]
                self.memory[core][u].write((0, height), (0, width), values[channels.start : channels.stop])

    def _advance(self, u: int, rows: Span, pieces: tuple[Span, ...]) -> None:
        """Make all cores restore rows, make or load their piece, and save the last rows; then they synchronize."""
        if u in self.part.lies.there:
            return
        made: list[tuple[int, Span, Span, Block]] = []
        for core, columns in enumerate(pieces):
            channels = self.team.shares[core].channels[u]
            if columns[0] == columns[1] or not channels:
                continue
            self.counts.restored += self.memory[core][u].restore(rows, columns) * len(channels)
            if rows[0] == rows[1]:
                continue
            at_once = rows[1] - rows[0] if self.part.readers[u] else self.team.scheme.tile[ROWS]
            for first in range(rows[0], rows[1], at_once):
                part_rows = (first, min(first + at_once, rows[1]))
                if u in self.counts.updates:
                    self.counts.updates[u][core] += 1
                if self.part.readers[u]:
                    made.append((core, part_rows, columns, self._values(core, u, part_rows, columns)))
                else:  # whose region has one tile
                    self._put(core, u, part_rows, columns, self._values(core, u, part_rows, columns))
        for core, part_rows, columns, values in made:  # after all have read what they need
            self._put(core, u, part_rows, columns, values)
        for core, columns in enumerate(pieces):
            if columns[0] < columns[1] and self.team.shares[core].channels[u] and u not in self.part.lies.on_chip:
                self.memory[core][u].save(rows, columns)

    def _values(self, core: int, u: int, rows: Span, columns: Span) -> Block:
        """Return a block of tensor u, only the core's channels: loaded from DRAM if u is an input, else computed."""
        share = self.team.shares[core]
        channels, place = share.channels[u], share.place(u, columns)
        if u in self.part.loaded:
            self.counts.loads += (rows[1] - rows[0]) * (columns[1] - columns[0]) * len(channels)
            values = self.dram[u][channels.start : channels.stop, rows[0] : rows[1], place[0] : place[1]]
        else:
            values = self.arithmetic.block(
                u, rows, place,
                lambda p, r, c: self._window(core, p, u, r, c),
                lambda p: self._window(core, p, u, *((0, extent[p]) for extent in self.part.extent)),
            )[channels.start : channels.stop]  # fmt: skip
        return values[:, :, ::-1] if share.is_mirrored else values

    def _put(self, core: int, u: int, rows: Span, columns: Span, values: Block) -> None:
        share, memory = self.team.shares[core], self.memory[core][u]
        memory.write(rows, columns, values)
        place, channels = share.place(u, columns), share.channels[u]
        cells = np.s_[rows[0] : rows[1], place[0] : place[1]]
        if channels.start == 0:
            if self.made[u][cells].any():
                raise Miss(f"tensor {self.part.name(u)!r}: rows {rows}, columns {place} are made twice")
            self.made[u][cells] = True
        if u in self.stored:
            self.counts.stores += (rows[1] - rows[0]) * (columns[1] - columns[0]) * len(channels)
            back = memory.read(rows, columns)
            self.stored[u][(slice(channels.start, channels.stop), *cells)] = (
                back[:, :, ::-1] if share.is_mirrored else back
            )

    def _window(self, core: int, u: int, v: int, rows: Span, columns: Span) -> Block:
        """Return a block as a core reads it: its channels from the memories that have them, noise in all others."""
        channels = wanted(self.part.network, v, u, self.team.shares[core].channels[v], self.arithmetic.channels)
        shape = (self.arithmetic.channels[u], rows[1] - rows[0], columns[1] - columns[0])
        block = self.noise.integers(0, PRIME, shape)
        for other, share in enumerate(self.team.shares):
            begin, end = share.own(u, columns)
            mine = [each for each in share.channels[u] if each in channels]
            if begin == end or not mine:
                continue
            values = self.memory[other][u].read(rows, (begin, end))[[each - share.channels[u].start for each in mine]]
            first, stop = share.place(u, (begin, end))
            block[mine, :, first - columns[0] : stop - columns[0]] = values[:, :, ::-1] if share.is_mirrored else values
            self.counts.reads += values.size
            self.counts.crossing += values.size * (other != core)
        return block
