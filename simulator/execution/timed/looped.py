"""What the steps of a layer's loops need, one core or several: found by running the loops without values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import ceil

from simulator.accelerator import Accelerator
from simulator.execution.count.checks import bytes_per_cycle
from simulator.execution.count.count import Count, Plan
from simulator.execution.count.layer_facts import size_bytes
from simulator.execution.count.part import Part
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.chain import longest_chain
from simulator.execution.layer.common.folded import folded, on_chip_of, rows_there
from simulator.execution.layer.common.following import following_of
from simulator.execution.layer.common.plan import CHAINED, DENSE, Kind, LayerPlan, kind_of
from simulator.execution.layer.counted.dense import Run, runs_of, words_of
from simulator.execution.layer.counted.epilogue import count_gates
from simulator.execution.layer.dealt import Mine, deal_layer, plan_of_core
from simulator.execution.layer.nest import as_one
from simulator.execution.timed.apart import apart_steps, copy_steps, joined_steps, passes_steps, scan_steps, sums_steps
from simulator.execution.timed.dense import ORDERS, Dense
from simulator.execution.timed.meter import Meter, Repeated, Step, added, count_of, together
from simulator.execution.timed.needs import Input, Needs, Output, Weights
from simulator.execution.timed.nests import attention_steps, chain_steps, heads_steps
from workloads.network.layers.ops import ELEMENTWISE_OPS
from workloads.network.network import Network

STEPS = 1_000  #: of the loops of a layer that a run tells apart; of more, as many neighbouring ones are one operation

Steps = Callable[[], Iterator[Step | Repeated]]


def looped_needs(part: Part, plan: Plan, accelerator: Accelerator, count: Count, ends: dict[int, int]) -> Needs:
    """Return what the loops of a layer or nest need.

    count: of the part; ends: the last step of each tensor that is kept now.
    """
    run = _steps(part, plan, accelerator)
    found = list(together(run(), -(-count_of(run()) // STEPS)))
    slots = ceil((count.compute_cycles or 0) * bytes_per_cycle(accelerator))
    network, last, batch = part.network, part.layers[-1], accelerator.batch
    sources = tuple((u, network.tensors[u].height) for u in part.loaded)
    arriving = batch * sum(size_bytes(network, u) for u in part.loaded if u in part.lies.on_chip)
    inputs = [Input(0, arriving, arriving, 0, sources)] if arriving else []
    moved = _scaled([each.input_bytes + each.passing_bytes for each in found], (count.ema_input_bytes or 0) - arriving)
    turns: dict[int, int] = {}
    for k, (size, each) in enumerate(zip(moved, found)):
        first = turns.setdefault(each.turn, k) if each.turn else k
        passing = size * each.passing_bytes // (each.input_bytes + each.passing_bytes) if each.passing_bytes else 0
        coming = [Input(k, size - passing, each.input_room, first, sources)] if size > passing else []
        coming += [Input(k, passing, each.passing_bytes, k, sources)] if passing else []
        inputs += sorted(coming, key=lambda each: (each.since == k, each.room_bytes / each.size_bytes))
    leaving = _scaled([each.output_bytes for each in found], count.ema_output_bytes or 0)
    since = ends.get(last, None)
    outputs = [
        Output(k, size, each.output_room, since, last, 0) for k, (size, each) in enumerate(zip(leaving, found)) if size
    ]
    if outputs:  # all rows of all that leaves are in DRAM with the last of them
        outputs = [each for each in outputs[:-1]] + [outputs[-1]._replace(rows=network.tensors[last].height)]
        outputs += [Output(len(found) - 1, 0, 0, None, v, network.tensors[v].height) for v in part.outputs if v != last]
    done = [0]
    for each in found:
        done.append(done[-1] + each.work)
    total = done[-1]
    computed = [slots * each // total if total else slots * k // len(found) for k, each in enumerate(done)]
    return Needs(
        {last: computed},
        inputs,
        _weights(found, count, last),
        outputs,
        count.activation_bytes or 0,
        count.crossbar_bytes or 0,
        layers=part.layers,
    )


def _weights(steps: Sequence[Step], count: Count, v: int) -> list[Weights]:
    """Return the weights that come, each with the last step before others take their place."""
    chunks = _scaled([each.weight_bytes + each.staying_bytes for each in steps], count.ema_weight_bytes or 0)
    found, last = list[Weights](), len(steps) - 1
    stay, pass_by = list[int](), list[int]()
    passing = (count.weight_bytes or 0) - max(each.staying_bytes for each in steps)  # piece by piece
    for k, (each, size) in enumerate(zip(steps, chunks)):
        own = each.weight_bytes + each.staying_bytes
        staying = size * each.staying_bytes // own if own else 0
        if staying:
            stay.append(len(found))
            found.append(Weights(k, v, staying, each.staying_bytes, last))
        if size > staying:
            pass_by.append(len(found))
            found.append(Weights(k, v, size - staying, min(each.weight_bytes, passing), last))
    for place, after in (*pairwise(stay), *pairwise(pass_by)):
        found[place] = found[place]._replace(last=found[after].operation - 1)
    return found


def _scaled(sizes: Sequence[int], total: int) -> list[int]:
    """Return sizes in proportion that add up to a total: what no window meets passes by, other cores move as much."""
    whole, done, found = sum(sizes), 0, []
    for n, size in enumerate(sizes):
        first = total * done // whole if whole else total * n // len(sizes)
        done += size
        found.append((total * done // whole if whole else total * (n + 1) // len(sizes)) - first)
    return found


def _steps(part: Part, plan: Plan, accelerator: Accelerator) -> Steps:
    """Return what runs the loops of a part: on several cores those of the core with the most."""
    loops = LayerPlan(*plan.loops or ())
    word, batch = accelerator.technology.channel_alignment, accelerator.batch
    if plan.cores in ("channels", "held") and accelerator.cores > 1:
        (v,) = part.layers
        one, place = folded(part.network, v)
        parts = deal_layer(one, place, plan.cores, accelerator.cores, batch, word)
        most = max(parts, key=lambda each: (len(each.outputs) * len(each.samples), _width(each)))
        kind = kind_of(one, place)
        own = plan_of_core(loops, most.network.layers[0])
        return lambda: layer_steps(most.network, 0, own, len(most.samples), word, NOTHING_STAYS, (), kind)
    if loops.order == "HP":
        return lambda: heads_steps(part, loops, batch, word)
    if loops.order in CHAINED:
        return lambda: _chain(part, loops, batch, word)
    whole = as_one(part.network, part.layers, part.lies)
    return lambda: layer_steps(whole.network, whole.v, loops, batch, word, whole.lies, whole.after)


def _width(mine: Mine) -> int:
    """Return the most bits of a number that a core reads."""
    return max(each.bits for each in mine.network.inputs)


def _in_turn(found: list[tuple[Run, int]], words: list[tuple[tuple[int, bool, int], ...]]) -> Iterator[Run]:
    """Yield the groups of a convolution, or the heads of all samples, one after the other."""
    runs = {tuple(zip(run.words, run.comes, run.bits)): run for run, _ in found}
    return (runs[each] for each in words)


def _again(steps: list[Step], times: int, once: Step) -> Iterator[Step | Repeated]:
    """Yield steps so many times; each time the input comes whole as often as before.

    once: what comes with the first step, and not again.
    """
    yield added(once, steps[0])
    yield from steps[1:]
    turns = steps[-1].turn
    if not turns:
        yield Repeated(steps, times - 1)
        return
    for n in range(1, times):
        for each in steps:
            yield each._replace(turn=each.turn + n * turns)


def _chain(part: Part, plan: LayerPlan, batch: int, word: int) -> Iterator[Step]:
    """Yield the steps of a chain, with what follows it."""
    network, layers, lies = part.network, part.layers, part.lies
    links, last = longest_chain(network, layers), layers[-1]
    meter = Meter(word, last not in lies.on_chip, lies.written is None or last in lies.written)
    chain = sorted(links.layers)
    following = following_of(network, layers, lies, len(chain)) if len(chain) < len(layers) else None
    return chain_steps(network, chain, meter, plan, batch, links.x in lies.on_chip, following)


def layer_steps(
    network: Network,
    v: int,
    plan: LayerPlan,
    batch: int,
    word: int,
    lies: Lies = NOTHING_STAYS,
    after: Sequence[int] = (),
    kind: Kind | None = None,
) -> Iterator[Step | Repeated]:
    """Yield the steps of a layer's loops (`count_layer` counts all of them)."""
    following = following_of(network, (v, *after), lies) if after else None
    last = after[-1] if after else v
    meter = Meter(word, last not in lies.on_chip, lies.written is None or last in lies.written)
    there, whole, original = rows_there(network, v, lies.on_chip), network, v
    network, v = folded(network, v)
    layer, on_chip = network.layers[v], on_chip_of(whole, original, network, lies.on_chip)
    if following is not None:
        count_gates(following, meter, batch)
    if plan.order == "copy":
        yield from copy_steps(network, v, meter, batch, on_chip)
    elif layer.op == "attention":
        yield from attention_steps(network, v, meter, plan, batch, on_chip, there)
    elif layer.op == "scan":
        yield from scan_steps(network, v, meter, plan, batch, on_chip)
    elif plan.order in DENSE:
        found = list(runs_of(network, v, meter, plan, batch, on_chip, there, kind, following))
        most = max(len(Dense(run, meter).slices) for run, _ in found)
        if len(found) == 1:  # groups or heads alike
            gates = meter.step(0)
            yield from _again(list(ORDERS[plan.order](Dense(found[0][0], meter, most))), found[0][1], gates)
            return
        for run in _in_turn(found, words_of(network, v, plan, on_chip)):
            yield from ORDERS[plan.order](Dense(run, meter, most))
    elif plan.order == "RS":
        yield from sums_steps(network, v, meter, batch, on_chip)
    elif plan.order == "TCC":
        yield from passes_steps(network, v, meter, plan, batch, on_chip)
    elif layer.op in ELEMENTWISE_OPS:
        yield from joined_steps(network, v, meter, plan, batch, on_chip)
    else:
        yield from apart_steps(network, v, meter, plan, batch, on_chip)
