"""The run of values: the loops of one layer in memories of exactly the claimed bytes, with its output compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.execution.count.count import Count
from simulator.execution.count.layer_facts import is_depthwise, size_bytes
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import folded, on_chip_of, plain, rows_there
from simulator.execution.layer.common.following import following_of, place_of_layer
from simulator.execution.layer.common.held import LOST
from simulator.execution.layer.common.plan import LayerPlan, check_plan
from simulator.execution.layer.common.problem import Problem, Values
from simulator.execution.layer.value.apart import run_apart, run_copy, run_sums
from simulator.execution.layer.value.attention import attended, run_attention
from simulator.execution.layer.value.dense import run_convolution, run_product
from simulator.execution.layer.value.epilogue import Epilogue
from simulator.execution.layer.value.joined import run_joined
from simulator.execution.layer.value.scan import run_scan, scanned
from workloads.network.layers.ops import ELEMENTWISE_OPS
from workloads.network.network import Network

DIRECT = {"attention": attended, "scan": scanned}  #: how outputs are computed directly; others: Problem.direct


def run_layer(
    network: Network,
    v: int,
    plan: LayerPlan,
    rooms: tuple[float, float],
    batch: int = 1,
    word: int = 8,
    seed: int = 0,
    lies: Lies = NOTHING_STAYS,
    after: Sequence[int] = (),
) -> Count:
    """Return what the loops of a layer take and move when they run with integers.

    Counted as by `count_layer`, which says what the arguments are. rooms: bytes for activations and for weights,
    those that the plan claims. seed: of the values.

    Raises Miss if a read finds nothing, a write has no room, an element is made twice or never, or an output is
    wrong.

    Examples
    --------
    >>> from workloads import Builder
    >>> b = Builder("one")
    >>> _ = b.conv("a", b.input("x", 4, 4, 8), 16, 3, padding=1)
    >>> run_layer(b.build(), 0, LayerPlan("KT", "ring", (1, 4), chunk=8), (128, 576)).ema_input_bytes
    256
    """
    whole, original, there = plain(network), v, rows_there(network, v, lies.on_chip)
    network, v = folded(whole, v)
    problem = Problem(network, v, batch, seed, on_chip_of(whole, original, network, lies.on_chip), there)
    following = following_of(whole, (v, *after), lies) if after else None
    epilogue = None if following is None else Epilogue(following, problem.maps, batch, seed)
    last = after[-1] if after else original
    is_written = lies.written is None or last in lies.written
    chip, layer = Chip(*rooms, word, has_results=last not in lies.on_chip, is_written=is_written), problem.layer
    check_plan(plan, layer)
    if following is not None:
        following.check(plan)
    output = np.full((batch, layer.channels, layer.height, layer.width), LOST)
    direct = DIRECT.get(layer.op, Problem.direct)(problem)
    run_loops(problem, chip, plan, output, epilogue, None if after else place_of_layer(whole, original, lies))
    inputs = {u for each in (original, *after) for u in whole.operands[each]} - {original, *after}
    for u in inputs & lies.on_chip - lies.there:  # kept from here on
        chip.load_input(batch * size_bytes(whole, u))
    if epilogue is not None:
        epilogue.check(direct)
    elif (output != direct).any():
        raise Miss(f"tensor {layer.name!r}: differs from the output computed directly")
    return chip.count(network, v, batch, after)


def run_loops(
    problem: Problem, chip: Chip, plan: LayerPlan, output: Values, epilogue: Epilogue | None = None,
    place: tuple[int, int] | None = None,
) -> None:  # fmt: skip
    """Run the loops of a plan, reading from the problem and writing to the output, or through what follows.

    place: begins with the operand of an element-wise layer, or a scan, whose place the output takes.
    """
    if epilogue is None:
        _run(problem, chip, plan, output, place)
    else:
        epilogue.begin(chip)
        run_convolution(problem, chip, plan, output, epilogue)
        epilogue.end(chip)
    chip.load_input(problem.unmet_bytes)  # what no window meets passes by once
    assert not any(chip.activations.used.values()) and not any(chip.weights.used.values())


def _run(problem: Problem, chip: Chip, plan: LayerPlan, output: Values, place: tuple[int, int] | None) -> None:
    if plan.order == "copy":
        run_copy(problem, chip, output)
    elif plan.order == "RS":
        run_sums(problem, chip, output)
    elif problem.layer.op == "attention":
        run_attention(problem, chip, plan, output)
    elif problem.layer.op == "scan":
        run_scan(problem, chip, plan, output, place)
    elif problem.layer.op == "matmul":
        run_product(problem, chip, plan, output)
    elif problem.layer.op in ELEMENTWISE_OPS:
        run_joined(problem, chip, plan, output, place)
    elif is_depthwise(problem.layer):
        run_apart(problem, chip, plan, output)
    else:
        run_convolution(problem, chip, plan, output)
