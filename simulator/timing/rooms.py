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
    memories: tuple[Memory, Memory] = ("shared", "shared") if run.accelerator.is_shared else ("weight", "global")
    yield from _of_weights(run, memories[0])
    yield from _of_inputs(run, memories[1])
    yield from _of_outputs(run, memories[1])


def _of_weights(run: Simulation, memory: Memory) -> Iterator[Room]:
    """Yield rooms of weights; those of a streamed layer that stay are the first to come."""
    work, schedule, released, chunks = run.work, run.schedule, released_after(run.work), dict[int, int]()
    done = dict[int, int]()  #: of each operation, bytes that have come
    for load in work.weights:
        chunks[load.operation] = chunks.get(load.operation, 0) + load.room
    for start, stop, operation, _, _, taken, step in schedule.weights:
        price, first, end = run.priced.prices[step], *work.first_operation[step : step + 2]
        assert isinstance(price, Price)
        until, own, room = released[operation], chunks[operation], price.weight_bytes
        if operation == first and own + max((chunks.get(each, 0) for each in range(first + 1, end)), default=0) <= room:
            until = end - 1  # there is room for them beside all others
        if own > room:  # steps that are taken together: theirs take turns
            done[operation] = done.get(operation, 0) + taken
            taken = -(-done[operation] * room // own) + -(done[operation] - taken) * room // own
        for come, _, size in _pieces(start, stop, taken):
            yield Room(memory, "weights", step, "", come, schedule.ended[until], size)


def _of_inputs(run: Simulation, memory: Memory) -> Iterator[Room]:
    work, begun, early = run.work, run.schedule.begun, dict[int, int]()
    for load in work.rows:
        early[load.operation] = early.get(load.operation, 0) + load.before
    firsts = dict[int, int]()  #: when the first row of an operation comes that loads several tensors
    for start, stop, operation, _, _, taken, step in run.schedule.rows:
        subgraph, price = run.priced.models[step].subgraph, run.priced.prices[step]
        if operation == work.first_operation[step] and taken and isinstance(price, Price) and price.loops:
            arriving = sum(map(run.priced.rules.whole_bytes, subgraph.arriving))  # what is kept from here on
            taken += -(-taken * arriving // early[operation])
        for come, _, size in _pieces(start, stop, taken):
            since = firsts.setdefault(operation, come) if len(subgraph.loaded) > 1 else come
            if since < begun[operation]:
                yield Room(memory, "inputs", step, "", since, begun[operation], size)


def _of_outputs(run: Simulation, memory: Memory) -> Iterator[Room]:
    begun, starts = [*run.schedule.begun, run.end], _starts(run)
    own = {store.operation: store.room for store in run.work.stores}
    for start, stop, operation, _, _, freed, step in run.schedule.stores:
        since = begun[operation + 1] if own[operation] else starts[step + 1]
        for _, gone, size in _pieces(start, stop, freed):
            if since < gone:
                yield Room(memory, "outputs", step, "", since, gone, size)


def _starts(run: Simulation) -> list[int]:
    """Return when each step has its room, and the end of the run."""
    return [*(start for start, _ in run.spans), run.end]


def _pieces(start: int, stop: int, room: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first slot, slot after the last, bytes of room) of each piece of what crosses in [start, stop)."""
    count = -(-room // PIECE_BYTES)
    for k in range(count):
        first, last = (room * each // count for each in (k, k + 1))
        yield start + (stop - start) * k // count, start - -(stop - start) * (k + 1) // count, last - first
