"""When the one DRAM channel and the one array do their work: loads in order of need, as far ahead as there is room.

At each moment the channel takes the load that is needed first among those that have room; or a store, where that load
has time for it, or the array waits for its room. A byte comes only where its room is free from then until it is
released, in every step between: so nothing ever waits for a byte that has no room. Times and bytes are integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

from simulator.timing.work import Load, Store, Work

NEVER = 1 << 62
Moved = tuple[int, int, int, int, int, int, int]  #: start, stop, operation, layer, bytes, room in one core, step
Item = TypeVar("Item", Load, Store)


class _Queue(Generic[Item]):
    """What DRAM moves in this order: the first that is not over, its operation, and how much of it is left."""

    __slots__ = ("at", "head", "items", "left", "operation", "step")
    items: Sequence[Item]
    head: Item
    at: int
    left: int
    operation: int
    step: int

    def __init__(self, items: Sequence[Item]) -> None:
        self.items, self.at = items, -1
        self.next()

    def next(self) -> None:
        """Go on to the next one; after the last, to none."""
        self.at += 1
        if self.at < len(self.items):
            self.head = self.items[self.at]
            self.operation, self.step, self.left = self.head.operation, self.head.step, self.head.size
        else:
            self.operation, self.step, self.left = NEVER, NEVER, 0


class Schedule:
    """One run of all work; times are slots.

    lookahead: how many steps after the running one may be loaded for. stores_first: the rule for stores.
    """

    def __init__(self, work: Work, lookahead: int, stores_first: bool) -> None:
        self.work, self.lookahead, self.stores_first = work, lookahead, stores_first
        self.rows: list[Moved] = []
        self.weights: list[Moved] = []
        self.stores: list[Moved] = []
        self.computed: list[int] = []  #: when each part begins
        self.begun: list[int] = [0]  #: when each operation has its room
        self.ended: list[int] = []  #: when each operation has computed
        self._rows, self._weights, self._stores = _Queue(work.rows), _Queue(work.weights), _Queue(work.stores)
        # the array: what it does, until when
        self._slots = [max(part.slots, part.passing) for part in work.parts]
        self._needed = list(accumulate(self._slots, initial=0))  #: when each part begins if nothing waits
        self._now = self._busy = self._step = self._operation = self._part = 0
        self._is_done, self._lacking = False, 0  #: lacking: bytes of room that the next operation waits for
        # room: what each step leaves, what the running one holds
        reserve, self._is_shared = work.rows_kept, work.weight_room is work.room
        self._free = [room - reserve[first] for room, first in zip(work.room, work.first_operation)]
        self._free_weights = self._free if self._is_shared else list(work.weight_room)
        self._rows_ahead = [0] * len(reserve)  #: of each operation of the running step, beside the regions
        self._chunks_ahead = [0] * len(reserve)  #: of a streamed layer
        self._in_rows = self._behind = 0  #: rows ahead and behind of the step
        self._extra = self._extra_weights = 0  #: all else that is ahead
        self._store_rooms = [each.room for each in work.stores]
        self._run()
        self.end = max(self._now, self._busy)
        assert self._is_done and not (self._rows.left or self._weights.left or self._stores.left)

    def _run(self) -> None:
        """Do all work."""
        while True:
            if not self._is_done:
                self._compute()
            now, busy, horizon = self._now, self._busy, NEVER
            if busy > now and self._part == self.work.first_part[self._operation + 1]:
                horizon = busy
            load, size = self._next_load()
            if self._stores.operation < len(self.ended) and self._stores_before(load, size):
                self._store(horizon)
            elif size > 0:
                self._load(load, size if size < horizon - now else horizon - now)
            elif horizon == NEVER:
                return
            else:
                self._now = horizon

    # the array

    def _compute(self) -> None:
        """Let the array go on as far as it can: what it needs is there, and there is room."""
        first_part, slots, rows, weights, now = self.work.first_part, self._slots, self._rows, self._weights, self._now
        while True:
            operation, part = self._operation, self._part
            last = first_part[operation + 1]
            if part < last:
                if rows.operation <= operation:
                    return
                end = last if weights.operation > operation else min(last, weights.head.part)
                if end <= part:
                    return
                busy = max(self._busy, now)
                while part < end:
                    self.computed.append(busy)
                    busy += slots[part]
                    part += 1
                self._busy, self._part = busy, part
                continue
            if self._busy > now:
                return
            if len(self.ended) == operation:
                self.ended.append(self._busy)
            if operation + 2 == len(first_part):
                self._is_done = True
                return
            if not (
                self._goes_on() if operation + 1 < self.work.first_operation[self._step + 1] else self._next_step()
            ):
                return
            self._operation, self._busy = operation + 1, now
            self.begun.append(now)

    # room

    def _goes_on(self) -> bool:
        """Return whether there is room for the next operation of the step, which then takes it."""
        stores, operation, unsaved = self._stores, self._operation, 0
        if stores.operation <= operation:  # the store of this operation is the last one pending that is computed
            k, items = stores.at, stores.items
            while k < len(items) and items[k].operation < operation:
                k += 1
            if k < len(items) and items[k].operation == operation:
                unsaved = self._store_rooms[k]
                if k == stores.at:
                    unsaved = _held(stores.head, stores.left, unsaved)
        less, chunk = self._rows_ahead[operation + 1], self._chunks_ahead[operation + 1]
        held = self._extra - chunk if self._is_shared else self._extra
        self._lacking = self._behind + unsaved + self._in_rows - less + held - self.work.room[self._step]
        if self._lacking > 0:
            return False
        self._in_rows -= less
        self._behind += unsaved
        if self._is_shared:
            self._extra -= chunk
        else:
            self._extra_weights -= chunk
        return True

    def _next_step(self) -> bool:
        """Return whether there is room for the next step, which then takes it."""
        work, stores, step = self.work, self._stores, self._step + 1
        later = work.room[step] - work.rows_kept[self._operation + 1] - self._free[step]
        unsaved, k = 0, stores.at
        while k < len(stores.items) and stores.items[k].operation <= self._operation:
            item = stores.items[k]
            if step > item.until:
                unsaved += _held(item, stores.left, item.late) if k == stores.at else item.late
            k += 1
        self._lacking = unsaved + later - work.room[step]
        if self._lacking > 0:
            return False
        self._step, self._extra, self._in_rows, self._behind = step, later, 0, unsaved
        if not self._is_shared:
            self._extra_weights = work.weight_room[step] - self._free_weights[step]
        for at in range(stores.at, k):
            self._store_rooms[at] = 0 if step <= stores.items[at].until else stores.items[at].late
        return True

    def _rows_that_fit(self, free: int) -> int:
        """Return how many bytes of the first rows may come now. free: for what later steps need."""
        rows, step = self._rows, self._step
        need = rows.step
        if self._stores.operation <= self.work.after[need]:
            return 0
        if rows.operation <= self._operation:
            return rows.left
        if need == step:
            free = self.work.room[step] - self._extra - self._in_rows - self._behind
            return _most(free, rows.left, rows.head.size, rows.head.room)
        if not rows.head.is_early or need > step + self.lookahead:
            return 0
        if need > step + 1:
            free = min(free, *self._free[step + 1 : need])
        return _most(free, rows.left, rows.head.size, rows.head.before)

    def _weights_that_fit(self, free: int) -> int:
        """Return how many bytes of the first weights may come now. free: as for rows, where the buffer is shared."""
        weights, step = self._weights, self._step
        load, last = weights.head, weights.step
        if weights.operation <= self._operation or (last == step and not load.room):
            return weights.left
        if last != step and not (load.is_early and last <= step + self.lookahead):
            return 0
        if not self._is_shared:
            free = self.work.weight_room[step] - self._extra_weights
        last += load.room > 0 and self._is_chunk(load)
        if last > step + 1:
            free = min(free, *self._free_weights[step + 1 : last])
        return _most(free, weights.left, load.size, load.before)

    def _is_chunk(self, load: Load) -> bool:
        """Return whether these weights of a streamed layer follow others, in whose step they have no room."""
        return load.room > 0 and load.operation > self.work.first_operation[load.step]

    # the channel

    def _next_load(self) -> tuple[_Queue[Load], int]:
        """Return what is needed first of what may come now, and how much of it."""
        rows, weights = self._rows, self._weights
        kept, held = self.work.rows_kept[self._operation], self._in_rows + self._behind
        ahead = self.work.room[self._step] - self._extra - (kept if kept > held else held)
        row_size = self._rows_that_fit(ahead) if rows.left else 0
        weight_size = self._weights_that_fit(ahead) if weights.left else 0
        if row_size > 0 and (weight_size <= 0 or rows.head.part <= weights.head.part):
            return rows, row_size
        return weights, weight_size

    def _stores_before(self, load: _Queue[Load], size: int) -> bool:
        """Return whether the first store goes before a load."""
        if self.stores_first or self._lacking > 0 or size <= 0:
            return True
        need = self._needed[load.head.part] - self._needed[self._part] + max(self._busy, self._now)
        return need - self._now - load.left > self._stores.left

    def _store(self, horizon: int) -> None:
        """Store what has been made first, up to a moment, or as much as the array waits for."""
        stores, now = self._stores, self._now
        item, own, left = stores.head, self._store_rooms[stores.at], stores.left
        size = min(left, horizon - now)
        if self._lacking > 0:
            is_last = self._operation + 1 == self.work.first_operation[self._step + 1]
            whole = item.late if is_last else own
            size = min(size, -(-self._lacking * item.size // whole)) if whole and not item.is_mixed else size
        freed = _held(item, left, own) - _held(item, left - size, own)
        if item.operation < self._operation:
            self._behind -= freed
        self.stores.append((now, now + size, item.operation, 0, size, freed, item.step))
        self._now, stores.left = now + size, left - size
        if not stores.left:
            stores.next()

    def _load(self, queue: _Queue[Load], size: int) -> None:
        """Load so many bytes of the first rows, or weights."""
        load, now, is_row, is_ahead = queue.head, self._now, queue is self._rows, queue.operation > self._operation
        own = load.before
        if is_row:
            own = 0 if not is_ahead else load.room if queue.step == self._step else own
        whole = load.size
        done = whole - queue.left
        taken = -(-(done + size) * own // whole) + -done * own // whole
        if is_ahead and taken:
            self._take(load, taken, is_row)
        moved = (now, now + size, queue.operation, load.layer, size, taken, queue.step)
        (self.rows if is_row else self.weights).append(moved)
        self._now, queue.left = now + size, queue.left - size
        if not queue.left:
            queue.next()

    def _take(self, load: Load, taken: int, is_row: bool) -> None:
        """Take room for what comes ahead, in every step from the running one to its own."""
        step, free = self._step, self._free if is_row else self._free_weights
        if is_row and load.step == step:
            self._in_rows += taken
            self._rows_ahead[load.operation] += taken
            return
        if not is_row and load.step == step and not load.room:
            return
        if is_row or self._is_shared:
            self._extra += taken
        else:
            self._extra_weights += taken
        is_chunk = not is_row and self._is_chunk(load)
        for i in range(step + 1, load.step + is_chunk):
            free[i] -= taken
        if is_chunk:
            self._chunks_ahead[load.operation] += taken


def _held(store: Store, left: int, room: int) -> int:
    """Return how much of its room a store takes that has so many bytes left."""
    return room * (left > 0) if store.is_mixed else -(-left * room // store.size)


def _most(free: int, left: int, size: int, room: int) -> int:
    """Return how many bytes of a transfer that has so many left may come into free room: of `size` it takes `room`."""
    if not room:
        return left
    if free <= 0:
        return 0
    done = size - left
    most = (-(-done * room // size) + free) * size // room - done
    return most if most < left else left
