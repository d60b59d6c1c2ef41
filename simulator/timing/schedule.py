"""When the one DRAM channel and the one array do their work: loads in order of need, as far ahead as there is room.

At each moment the channel takes the load that is needed first among those that have room; or a store, where that load
has time for it, or the array waits for its room. A byte comes only where its room is free from then until it is
released, in every step between: so nothing ever waits for a byte that has no room. Times and bytes are integers.
"""

from __future__ import annotations

from itertools import accumulate

from simulator.timing.work import Store, Work

NEVER = 1 << 62
Moved = tuple[int, int, int, int, int, int, int]  #: start, stop, operation, layer, bytes, room in one core, step


class Schedule:
    """One run of all work. Its lists are filled by `run`; times are slots.

    lookahead: how many steps after the running one may be loaded for. stores_first: the rule for stores.
    """

    def __init__(self, work: Work, lookahead: int, stores_first: bool) -> None:
        self.work, self.lookahead, self.stores_first = work, lookahead, stores_first
        self.rows: list[Moved] = []
        self.weights: list[Moved] = []
        self.stores: list[Moved] = []
        self.computed: list[int] = []  #: when each part begins
        self.begun: list[int] = []  #: when each operation has its room
        self.ended: list[int] = []  #: when each operation has computed
        self.end = 0
        self._run()

    def _run(self) -> None:
        work, stores_first, lookahead = self.work, self.stores_first, self.lookahead
        rows, weights, stores, first_part = work.rows, work.weights, work.stores, work.first_part
        first_operation, after, reserve = work.first_operation, work.after, work.rows_kept
        slots = [max(part.slots, part.passing) for part in work.parts]
        needed = list(accumulate(slots, initial=0))  #: when each part begins if nothing waits
        is_shared = work.weight_room is work.room
        operations = len(first_part) - 1
        free = [room - reserve[first_operation[i]] for i, room in enumerate(work.room)]
        free_weights = free if is_shared else list(work.weight_room)
        loaded_ahead = [0] * operations  #: of rows of each operation of the running step, beside the regions
        chunks_ahead = [0] * operations  #: of a streamed layer
        # queues: the head of each, and how much of it is left
        row, row_left = 0, rows[0].size if rows else 0
        weight, weight_left = 0, weights[0].size if weights else 0
        store, store_left = 0, stores[0].size if stores else 0
        store_rooms: list[int] = [each.room for each in stores]
        ended = -1  #: the last operation that has computed
        step, operation, part, busy = 0, 0, 0, 0  #: what the array does, until when
        last_part = first_part[1]
        room, weight_room = work.room[0], work.weight_room[0]
        in_rows = behind = extra = extra_weights = 0  #: rows ahead and behind of the step; all else that is ahead
        now = 0
        is_done, lacking = False, 0  #: lacking: bytes of room that the next operation waits for
        self.begun.append(0)
        while True:
            # the array goes on as far as it can
            while not is_done:
                if part < last_part:
                    if (row < len(rows) and rows[row].operation <= operation) or (
                        weight < len(weights) and weights[weight].part <= part
                    ):
                        break
                    busy = max(busy, now)
                    self.computed.append(busy)
                    busy += slots[part]
                    part += 1
                    continue
                if busy > now:
                    break
                if ended < operation:
                    ended = operation
                    self.ended.append(busy)
                following = operation + 1
                if following == operations:
                    is_done = True
                    break
                # the next operation takes its room
                if following < first_operation[step + 1]:
                    unsaved = 0
                    if store < len(stores) and stores[store].operation <= operation:
                        last = len(stores)  # the store of this operation is the last one pending that is computed
                        k = store
                        while k < last and stores[k].operation < operation:
                            k += 1
                        if k < last and stores[k].operation == operation:
                            unsaved = store_rooms[k]
                            if k == store:
                                unsaved = _held(stores[k], store_left, unsaved)
                    less = loaded_ahead[following]
                    chunk = chunks_ahead[following]
                    held = extra - chunk if is_shared else extra
                    lacking = behind + unsaved + in_rows - less + held - room
                    if lacking > 0:
                        break
                    in_rows -= less
                    behind += unsaved
                    if is_shared:
                        extra -= chunk
                    else:
                        extra_weights -= chunk
                else:
                    later = work.room[step + 1] - reserve[following] - free[step + 1]
                    unsaved, k = 0, store
                    while k < len(stores) and stores[k].operation <= operation:
                        if step + 1 > stores[k].until:
                            unsaved += _held(stores[k], store_left, stores[k].late) if k == store else stores[k].late
                        k += 1
                    lacking = unsaved + later - work.room[step + 1]
                    if lacking > 0:
                        break
                    step += 1
                    room, weight_room, extra, in_rows, behind = (
                        work.room[step],
                        work.weight_room[step],
                        later,
                        0,
                        unsaved,
                    )
                    if not is_shared:
                        extra_weights = weight_room - free_weights[step]
                    for at in range(store, k):
                        store_rooms[at] = 0 if step <= stores[at].until else stores[at].late
                operation = following
                part, last_part = first_part[operation], first_part[operation + 1]
                busy = now
                self.begun.append(now)
            horizon = busy if busy > now and part == last_part else NEVER
            # what the channel could do
            kept = max(reserve[operation], in_rows + behind)
            ahead = room - extra - kept
            row_size = weight_size = 0
            if row < len(rows):
                load = rows[row]
                if store >= len(stores) or stores[store].operation > after[load.step]:
                    if load.operation <= operation:
                        row_size = row_left
                    elif load.step == step:
                        row_size = _most(room - extra - in_rows - behind, row_left, load.size, load.room)
                    elif load.is_early and load.step <= step + lookahead:
                        least = ahead
                        for i in range(step + 1, load.step):
                            least = min(least, free[i])
                        row_size = _most(least, row_left, load.size, load.before)
            if weight < len(weights):
                load = weights[weight]
                if load.operation <= operation or (load.step == step and not load.room):
                    weight_size = weight_left
                elif load.step == step or (load.is_early and load.step <= step + lookahead):
                    least = ahead if is_shared else weight_room - extra_weights
                    for i in range(
                        step + 1, load.step + (load.room > 0 and load.operation > first_operation[load.step])
                    ):
                        least = min(least, free_weights[i])
                    weight_size = _most(least, weight_left, load.size, load.before)
            is_row = row_size > 0 and (weight_size <= 0 or rows[row].part <= weights[weight].part)
            size = row_size if is_row else weight_size
            if store < len(stores) and stores[store].operation <= ended:
                saves = stores_first or lacking > 0 or size <= 0
                if not saves:
                    need = needed[rows[row].part if is_row else weights[weight].part] - needed[part] + max(busy, now)
                    saves = need - now - (row_left if is_row else weight_left) > store_left
                if saves:
                    item, own = stores[store], store_rooms[store]
                    size = min(store_left, horizon - now)
                    if lacking > 0:
                        whole = item.late if operation + 1 == first_operation[step + 1] else own
                        size = min(size, -(-lacking * item.size // whole)) if whole and not item.is_mixed else size
                    freed = _held(item, store_left, own) - _held(item, store_left - size, own)
                    store_left -= size
                    if item.operation < operation:
                        behind -= freed
                    self.stores.append((now, now + size, item.operation, 0, size, freed, item.step))
                    now += size
                    if not store_left:
                        store += 1
                        store_left = stores[store].size if store < len(stores) else 0
                    continue
            if size <= 0:
                if horizon == NEVER:
                    break
                now = horizon
                continue
            size = min(size, horizon - now)
            if is_row:
                load = rows[row]
                own = 0 if load.operation <= operation else load.room if load.step == step else load.before
                taken = (
                    -(-(load.size - row_left + size) * own // load.size) + -(load.size - row_left) * own // load.size
                )
                row_left -= size
                if load.operation > operation:
                    if load.step == step:
                        in_rows += taken
                        loaded_ahead[load.operation] += taken
                    else:
                        extra += taken
                        for i in range(step + 1, load.step):
                            free[i] -= taken
                self.rows.append((now, now + size, load.operation, 0, size, taken, load.step))
                now += size
                if not row_left:
                    row += 1
                    row_left = rows[row].size if row < len(rows) else 0
            else:
                load = weights[weight]
                own = load.before
                taken = (
                    -(-(load.size - weight_left + size) * own // load.size)
                    + -(load.size - weight_left) * own // load.size
                )
                weight_left -= size
                if load.operation > operation and not (load.step == step and not load.room):
                    if is_shared:
                        extra += taken
                    else:
                        extra_weights += taken
                    is_chunk = load.room > 0 and load.operation > first_operation[load.step]
                    for i in range(step + 1, load.step + is_chunk):
                        free_weights[i] -= taken
                    if is_chunk:
                        chunks_ahead[load.operation] += taken
                self.weights.append((now, now + size, load.operation, load.layer, size, taken, load.step))
                now += size
                if not weight_left:
                    weight += 1
                    weight_left = weights[weight].size if weight < len(weights) else 0
        self.end = max(now, busy)
        assert is_done and row == len(rows) and weight == len(weights) and store == len(stores)


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
    return min(left, (-(-done * room // size) + free) * size // room - done)
