"""One layer with values, scaled down if it is large: the same loops on smaller maps and fewer channels.

Steps of a loop with the same length are equivalent. So up to three steps of each loop, with the last still shorter,
show the same as the whole layer: the loops counted with real shapes (count.py) are those that give equal outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from simulator.execution.count.checks import compare
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.folded import folded, plain
from simulator.execution.layer.common.plan import LayerPlan, check_plan
from simulator.execution.layer.common.work import estimate_work
from simulator.execution.layer.count import count_layer
from simulator.execution.layer.run import run_layer
from simulator.execution.layer.small_layer import Scale, SmallLayer, shrink_layer
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

WORK = 50_000  #: units (work.py) up to which a layer runs as it is; our choice, some 0.05 s
FULL_WORK = 2_000_000  #: the same where as much as possible is requested
SCALES = (
    Scale(3),
    Scale(3, 2),
    Scale(3, 2, 2),
    Scale(3, 1, 2),
    Scale(3, 1, 2, 7),
    Scale(2, 1, 2, 5),
)  #: until WORK does


def run_scaled(
    network: Network,
    v: int,
    plan: LayerPlan,
    batch: int = 1,
    word: int = 8,
    full: bool = False,
    lies: Lies = NOTHING_STAYS,
    after: Sequence[int] = (),
) -> bool:
    """Run the loops of a layer with values in memories of exactly the bytes counted, and compare both counts.

    Returns whether it was scaled down. The arguments are those of `count_layer`; full: run even far larger layers
    unscaled. Raises Miss if the loops cannot run this layer, or do not run as counted.

    Examples
    --------
    VGG16's fc6 has 102,760,448 B of weights.

    >>> import workloads
    >>> vgg16 = workloads.load("vgg16")
    >>> run_scaled(vgg16, vgg16.index["fc6"], LayerPlan("KT", "ring", (1, 1), chunk=8))
    True
    """
    network, v = folded(plain(network), v)
    check_plan(plan, network.layers[v])
    most = FULL_WORK if full else WORK
    if estimate_work(network, v, plan, batch, word) <= most:
        run_counted(network, v, plan, batch, word, lies, after)
        return False
    found = scale_layer(network, v, plan, batch, word)
    layers = v, *after
    small = with_followers(network, layers, found.network)
    here = lies_of_small(network, layers, small, lies)
    run_counted(small, 0, found.plan, found.batch, word, here, range(1, len(layers)))
    return True


def scale_layer(network: Network, v: int, plan: LayerPlan, batch: int = 1, word: int = 8) -> SmallLayer:
    """Return a layer and its loops scaled down, no further than the work requires."""
    for scale in SCALES:
        found = shrink_layer(network, v, plan, batch, word, scale)
        if estimate_work(found.network, 0, found.plan, found.batch, word) <= WORK:
            break
    return found


def run_counted(
    network: Network,
    v: int,
    plan: LayerPlan,
    batch: int,
    word: int,
    lies: Lies = NOTHING_STAYS,
    after: Sequence[int] = (),
) -> None:
    """Count a layer, and run it in rooms of the bytes counted; raises Miss if a number differs."""
    counted = count_layer(network, v, plan, batch, word, lies, after)
    rooms = counted.activation_bytes or 0, counted.weight_bytes or 0
    ran = run_layer(network, v, plan, rooms, batch, word, lies=lies, after=after)
    for check in compare(counted._asdict(), ran._asdict(), {}):
        if check.status == "different":
            raise Miss(f"{check.name}: {check.claimed} are counted, {check.counted} run")


def with_followers(network: Network, layers: Sequence[int], small: Network, chained: int = 1) -> Network:
    """Return a scaled layer, or chain, with those that follow, as small; a map that leaves has another reader."""
    inputs, found, first = list(small.inputs), list(small.layers), small.layers[chained - 1]
    of_all = network.layers[layers[chained - 1]]
    shape: dict[str, Any] = {
        "height": first.height,
        "width": first.width,
        "channels": first.channels,
        "in_channels": first.channels,
    }
    others, before = [], layers[chained - 1]
    for v in layers[chained:]:
        names, whole = [], []
        for place, u in enumerate(network.operands[v]):
            tensor = network.tensors[u]
            names.append(found[-1].name if u == before else f"y{len(inputs)}")
            if u != before:
                height = first.height if tensor.height == of_all.height else 1
                width = first.width if tensor.width == of_all.width else 1
                inputs.append(Tensor(names[-1], height, width, first.channels))
                whole += [place] if (height, width) != (first.height, first.width) else []
        if network.is_output[before] or {*network.consumers[before]} - {*layers}:
            others.append(Layer(f"o{v}", "maxpool", (found[-1].name,), **shape))
        found.append(replace(network.layers[v], name=f"f{v}", inputs=tuple(names), whole=tuple(whole), **shape))
        before = v
    return Network(small.name, tuple(inputs), (*found, *others))


def lies_of_small(network: Network, layers: Sequence[int], small: Network, lies: Lies) -> Lies:
    """Return where the tensors of some layers lie, by their ids in the network of these, the first ones there."""
    ids = {(v, k) for k, v in enumerate(layers)}
    ids |= {pair for k, v in enumerate(layers) for pair in zip(network.operands[v], small.operands[k])}
    here, there, ending = (
        frozenset(one for u, one in ids if u in each) for each in (lies.on_chip, lies.there, lies.ending)
    )
    written = None if lies.written is None else frozenset(k for k, v in enumerate(layers) if v in lies.written)
    return Lies(here, there, written, here, ending)
