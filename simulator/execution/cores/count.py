"""The counting run on several cores, with the real shapes: what each memory holds, and what crosses between them.

A team is a set of cores that share a sample; other teams run other samples at the same time, in lock-step. A window is
read from the memories of the cores that have its elements, and each must have them in MAIN at that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from simulator.accelerator import Accelerator
from simulator.execution.cores.mirrored import mirror_team
from simulator.execution.cores.share import wanted
from simulator.execution.cores.team import Team, deal_team
from simulator.execution.cores.weights import hold_weights
from simulator.execution.count.array import array_cycles, works_of
from simulator.execution.count.count import Count, Plan, extra_units
from simulator.execution.count.layer_facts import bits_of, elements, operations, position_bytes, row_bytes, size_bytes
from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.part import COLUMNS, ROWS, Part, Reading
from simulator.execution.count.walk import Walk, walk_rows
from simulator.technology import Technology

CoreScheme = Literal["channels", "rotated", "held"]
SCHEMES: tuple[CoreScheme, ...] = (
    "channels",
    "rotated",
    "held",
)  #: the last two share columns


class Moves(NamedTuple):
    """What the cores of a team move for one sample. updates: by layer, for each core."""

    updates: dict[int, list[int]]
    loads: int
    stores: int
    results: int
    reads: int  #: windows and whole operands, a read for each core that hears it
    crossing: int  #: of these reads, from the memory of another core
    copies: int
    operations: int
    extra: int  #: what operations take beyond INT8

    @property
    def buffered(self) -> int:
        """Bytes read from and written to the buffers."""
        return self.loads + self.stores + self.results + self.reads + self.copies

    @property
    def written(self) -> int:
        """Bytes written to the buffers."""
        return self.loads + self.results + self.copies // 2


def derive_team(part: Part, plan: Plan, accelerator: Accelerator, channels: Sequence[int] | None = None) -> Team:
    """Return the team that runs a part: all cores if channels are dealt, else the cores that share a sample.

    channels: of each tensor, if fewer are executed than there are.
    """
    counts = channels or [tensor.channels for tensor in part.network.tensors]
    word = accelerator.technology.channel_alignment
    if plan.cores == "channels":
        return deal_team(part, plan.tile, word, plan.at_once, accelerator.cores, counts)
    if plan.cores not in SCHEMES:
        raise Miss(f"no scheme of several cores: {plan.cores!r}")
    if part.lies.on_chip:
        raise Miss("samples and columns are not shared where a tensor is on chip whole")
    if accelerator.bands == 1:  # each has samples of its own
        return deal_team(part, plan.tile, word, plan.at_once, 1, counts)
    return mirror_team(part, plan.tile, word, plan.at_once, accelerator.bands, counts)


def count_cores(part: Part, plan: Plan, accelerator: Accelerator, room: int, weight_room: int) -> Count:
    """Return what several cores take and move for the whole batch.

    room, weight_room: bytes of one core; raises Miss if a memory has too little room, or an element is not where it is
    read.
    """
    team = derive_team(part, plan, accelerator)
    samples = samples_of(plan, accelerator)
    weights = hold_weights(part, plan.cores, team.shares, accelerator.cores, len(samples))
    held, stays = team.activation_bytes(), weights.held()
    for core, size in enumerate(stays):
        activations = held[core % len(team.shares)]
        if activations > room:
            raise Miss(f"core {core}: activations take {activations} bytes, the buffer has {room}")
        left = room - activations if accelerator.is_shared else weight_room
        if size > left:
            raise Miss(f"core {core}: weights take {size} bytes, {left} are left")
    moves = count_moves(team)
    rounds = [-(-each // plan.at_once) for each in samples]
    used, passed = weights.moved(moves.updates, rounds)
    batch = accelerator.batch
    return Count(
        activation_bytes=max(held),
        weight_bytes=max(stays),
        ema_weight_bytes=weights.loaded,
        ema_input_bytes=batch * moves.loads,
        ema_output_bytes=batch * moves.stores,
        global_buffer_bytes=batch * moves.buffered,
        weight_buffer_bytes=weights.written + used,
        crossbar_bytes=batch * moves.crossing + passed,
        operations=batch * moves.operations,
        global_written_bytes=batch * moves.written,
        weight_written_bytes=weights.written,
        operation_extra=batch * moves.extra,
        compute_cycles=max(samples) * sum(layer_cycles(team, accelerator.technology).values()),
    )


def layer_cycles(team: Team, technology: Technology) -> dict[int, int]:
    """Return the cycles of one sample in each layer, in which all cores wait for the slowest."""
    works = {v: works_of(team.part.network, v)[0] for v in team.part.layers}  # an attention is not shared this way
    return {
        v: max(
            array_cycles(work._replace(channels=len(each.channels[v]), columns=each.extent(v)), technology)
            for each in team.shares
        )
        for v, work in works.items()
    }


def samples_of(plan: Plan, accelerator: Accelerator) -> list[int]:
    """Return the samples of each team: one team if channels are dealt, else as many teams as can have a core."""
    teams = 1 if plan.cores == "channels" else min(accelerator.cores, accelerator.batch)
    return [accelerator.batch * (i + 1) // teams - accelerator.batch * i // teams for i in range(teams)]


def count_moves(team: Team) -> Moves:
    """Run rows and columns on intervals, and return what moves; raises Miss."""
    part = team.part
    check_columns(team)
    found = walk_rows(team.scheme, {u: [(0, part.extent[COLUMNS][u])] for u in part.tensors})
    updates = {}
    for v in part.layers:
        columns = [0] * len(team.shares)
        for sweep in team.sweeps:
            if sweep.tensor == v:
                columns = [count + (a < b) for count, (a, b) in zip(columns, sweep.pieces)]
        has_any = [bool(share.channels[v]) for share in team.shares]
        updates[v] = [len(found.rows[v]) * count * any_ for count, any_ in zip(columns, has_any)]
    sizes = {u: size_bytes(part.network, u) for u in part.tensors}
    work = {v: operations(part.network, v, elements(part.network.layers[v])) for v in part.layers}
    moved = [_reads(team, found, each) for v in part.layers for each in part.operands[v]]
    return Moves(
        updates,
        loads=sum(sizes[u] for u in part.loaded),
        stores=sum(sizes[v] for v in part.outputs),
        results=sum(sizes[v] for v in part.layers),
        reads=sum(reads for reads, _ in moved),
        crossing=sum(crossing for _, crossing in moved),
        copies=2
        * sum(rows * part.extent[COLUMNS][u] * position_bytes(part.network, u) for u, rows in found.restored.items()),
        operations=sum(work.values()),
        extra=sum(extra_units(part.network, v, count) for v, count in work.items()),
    )


def check_columns(team: Team) -> None:
    """Run the columns: every window must find its elements in MAIN in time, and every column is made once."""
    part = team.part
    done = {u: [0] * len(team.shares) for u in part.tensors}
    for sweep in team.sweeps:
        u = sweep.tensor
        for core, (first, stop) in enumerate(sweep.pieces):
            if first != done[u][core]:
                raise Miss(f"tensor {part.name(u)!r}: core {core} makes {first} to {stop}, {done[u][core]} is next")
            if stop - first > team.cells[core][u].columns and u not in part.lies.on_chip:
                raise Miss(f"tensor {part.name(u)!r}: {stop - first} columns exceed MAIN of core {core}")
            if stop > first:
                for reading in part.operands.get(u, ()):
                    _check_window(team, done, reading, team.shares[core].place(u, (first, stop)))
        done[u] = [stop for _, stop in sweep.pieces]
    for u, made in done.items():
        if made != [share.extent(u) for share in team.shares]:
            raise Miss(f"tensor {part.name(u)!r}: {made} of its columns are made")


def _check_window(team: Team, done: dict[int, list[int]], reading: Reading, outputs: Span) -> None:
    """Raise Miss if a window meets columns that MAIN of their core does not hold."""
    part, u = team.part, reading.tensor
    first, stop = _columns(part, reading, outputs)
    for core, share in enumerate(team.shares):
        begin, end = share.own(u, (first, stop))
        made = share.extent(u) if u in part.lies.there else done[u][core]
        held = 0 if u in part.lies.on_chip else max(0, made - team.cells[core][u].columns)
        if begin < end and not held <= begin <= end <= made:
            raise Miss(
                f"tensor {part.name(u)!r}: {part.name(reading.layer)!r} reads columns {begin}:{end} of core {core}, "
                f"MAIN holds {held}:{made}"
            )


def _columns(part: Part, reading: Reading, outputs: Span) -> Span:
    """Return the columns that a layer reads for these outputs."""
    return (0, part.extent[COLUMNS][reading.tensor]) if reading.whole else part.window(reading, COLUMNS, outputs)


def _reads(team: Team, found: Walk, reading: Reading) -> tuple[int, int]:
    """Return the bytes of an operand that all cores read, and how many of them cross."""
    part, (u, v, local, whole) = team.part, reading
    rows = [part.window(reading, ROWS, span) for span in found.rows[v]]
    down = sum(stop - start for start, stop in rows)
    size = part.extent[ROWS][u] * part.extent[COLUMNS][u]
    reads = own = 0
    for core, share in enumerate(team.shares):
        channels = wanted(part.network, v, u, share.channels[v])
        mine = row_bytes(len(channels & set(share.channels[u])), bits_of(part.network, u))
        heard = row_bytes(len(channels), bits_of(part.network, u))
        pieces = [sweep.pieces[core] for sweep in team.sweeps if sweep.tensor == v]
        for piece in (each for each in pieces if each[0] < each[1]):
            if local:
                columns = part.window(reading, COLUMNS, share.place(v, piece))
                begin, end = share.own(u, columns)
                reads += down * (columns[1] - columns[0]) * heard
                own += down * (end - begin) * mine
            if whole:
                reads += len(rows) * size * heard
                own += len(rows) * size * mine
    return reads, reads - own
