"""What a run holds, each thing in a room of its own: tensors and regions whole, what comes or leaves in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from simulator.model.buffer_plan import Memory, kept_id, make_plan, tensor_id
from simulator.model.price import Price
from simulator.technology import KiB
from simulator.timing.simulation import Simulation, released_after

PIECE_BYTES = 64 * KiB  #: of what comes ahead, at most; our choice: whole layers, from their first byte, take 2 to 16 %
#: longer, and pieces of 4 KB are no better


class Room(NamedTuple):
    """Bytes of one core that one thing needs in a memory, from `start` to `stop` (slots).

    Rooms with one `place` are at one address: a result that takes the place of its operand.
    """

    memory: Memory
    kind: Literal["kept", "region", "weights", "inputs", "outputs"]
    step: int  #: the first one
    name: str  #: of the tensor that is kept or has the region, else ""
    start: int  #: of weights and inputs, when their first byte comes
    stop: int  #: of outputs, when their last byte has left
    size_bytes: int
    place: str = ""


def rooms_of(run: Simulation) -> list[Room]:
    """Return the rooms of all that a run holds at some time.

    Weights have theirs until the last operation that uses them has computed, input rows until their operation has
    found room for them in their regions, output rows from when their region is used again. Rows of several tensors
    have theirs from the first one on: which of them comes when is not said.
    """
    return [*_of_steps(run), *_of_pieces(run)]


def _of_steps(run: Simulation) -> Iterator[Room]:
    plan, starts = make_plan(run.priced), _starts(run)
    memory = next(iter(plan.buffers))
    names = [tensor.name for tensor in run.priced.network.tensors]
    sizes = {buffer.id: buffer.size for buffer in plan.buffers[memory]}
    handed = {(plan.places[each], each.from_step) for each in plan.keep if plan.places[each] != kept_id(each)}
    for each in plan.keep:
        place, end = plan.places[each], each.until_step
        stop = starts[end + ((place, end) not in handed)]
        yield Room(memory, "kept", each.from_step, each.tensor, starts[each.from_step], stop, sizes[place], place)
    for step, holding in enumerate(plan.holdings):
        for u in holding.regions:
            place = tensor_id(run.priced.network, step, u)
            yield Room(memory, "region", step, names[u], starts[step], starts[step + 1], sizes[place], place)


def _of_pieces(run: Simulation) -> Iterator[Room]:
    work, schedule, starts = run.work, run.schedule, _starts(run)
    rows: Memory = "shared" if run.accelerator.is_shared else "global"
    weights: Memory = "shared" if run.accelerator.is_shared else "weight"
    begun, released = [*schedule.begun, run.end], _released_after(run)
    for start, stop, operation, _, _, taken, step in schedule.weights:
        until = schedule.ended[released[operation]]
        for come, _, size in _pieces(start, stop, taken):
            yield Room(weights, "weights", step, "", come, until, size)
    early = dict[int, int]()
    for load in work.rows:
        early[load.operation] = early.get(load.operation, 0) + load.before
    firsts = dict[int, int]()  #: when the first row of an operation comes that loads several tensors
    for start, stop, operation, _, _, taken, step in schedule.rows:
        subgraph, price = run.priced.models[step].subgraph, run.priced.prices[step]
        if operation == work.first_operation[step] and taken and isinstance(price, Price) and price.loops:
            arriving = sum(map(run.priced.rules.whole_bytes, subgraph.arriving))  # what is kept from here on
            taken += -(-taken * arriving // early[operation])
        for come, _, size in _pieces(start, stop, taken):
            since = firsts.setdefault(operation, come) if len(subgraph.loaded) > 1 else come
            if since < begun[operation]:
                yield Room(rows, "inputs", step, "", since, begun[operation], size)
    own = {store.operation: store.room for store in work.stores}
    for start, stop, operation, _, _, freed, step in schedule.stores:
        since = begun[operation + 1] if own[operation] else starts[step + 1]
        for _, gone, size in _pieces(start, stop, freed):
            if since < gone:
                yield Room(rows, "outputs", step, "", since, gone, size)


def _released_after(run: Simulation) -> list[int]:
    """Return for each operation the one after which its weights are released: those that stay are the first to come."""
    work, found = run.work, released_after(run.work)
    chunks = dict[int, int]()
    for load in work.weights:
        chunks[load.operation] = chunks.get(load.operation, 0) + load.room
    for step, (first, end) in enumerate(zip(work.first_operation, work.first_operation[1:])):
        price, others = run.priced.prices[step], [chunks.get(each, 0) for each in range(first + 1, end)]
        assert isinstance(price, Price)
        if work.is_streamed[step] and chunks.get(first, 0) + max(others, default=0) <= price.weight_bytes:
            found[first] = end - 1  # there is room for them beside all others
    return found


def _starts(run: Simulation) -> list[int]:
    """Return when each step has its room, and the end of the run."""
    return [*(start for start, _ in run.spans), run.end]


def _pieces(start: int, stop: int, room: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first slot, slot after the last, bytes of room) of each piece of what crosses in [start, stop)."""
    count = -(-room // PIECE_BYTES)
    for k in range(count):
        first, last = (room * each // count for each in (k, k + 1))
        yield start + (stop - start) * k // count, start - -(stop - start) * (k + 1) // count, last - first
