"""One layer with values, scaled down if it is large: the same loops on smaller maps and fewer channels.

Steps of a loop with the same length are equivalent. So up to three steps of each loop, with the last still shorter,
show the same as the whole layer: the loops counted with real shapes (count.py) are those that give equal outputs.
"""

from __future__ import annotations

from simulator.execution.count.checks import compare
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.folded import folded, plain
from simulator.execution.layer.common.plan import LayerPlan, check_plan
from simulator.execution.layer.common.work import estimate_work
from simulator.execution.layer.count import count_layer
from simulator.execution.layer.run import run_layer
from simulator.execution.layer.small_layer import Scale, SmallLayer, shrink_layer
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
) -> bool:
    """Run the loops of a layer with values in memories of exactly the bytes counted, and compare both counts.

    Parameters
    ----------
    network : Network
        The network of the layer.
    v : int
        Its id.
    plan : LayerPlan
        Its loops.
    batch : int
        Samples.
    word : int
        Channels to which a position is rounded up (`Technology.channel_alignment`).
    full : bool
        Run even far larger layers unscaled.
    lies : Lies
        Which inputs are on chip, whole, and whether the output stays there and goes to DRAM.

    Returns
    -------
    bool
        Whether it was scaled down.

    Raises
    ------
    Miss
        The loops cannot run this layer, or do not run as counted.

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
        run_counted(network, v, plan, batch, word, lies)
        return False
    found = scale_layer(network, v, plan, batch, word)
    run_counted(found.network, 0, found.plan, found.batch, word, lies_of_small(network, v, found.network, lies))
    return True


def scale_layer(network: Network, v: int, plan: LayerPlan, batch: int = 1, word: int = 8) -> SmallLayer:
    """Return a layer and its loops scaled down, no further than the work requires."""
    for scale in SCALES:
        found = shrink_layer(network, v, plan, batch, word, scale)
        if estimate_work(found.network, 0, found.plan, found.batch, word) <= WORK:
            break
    return found


def run_counted(network: Network, v: int, plan: LayerPlan, batch: int, word: int, lies: Lies = NOTHING_STAYS) -> None:
    """Count a layer, and run it in rooms of the bytes counted; raises Miss if a number differs."""
    counted = count_layer(network, v, plan, batch, word, lies)
    rooms = counted.activation_bytes or 0, counted.weight_bytes or 0
    ran = run_layer(network, v, plan, rooms, batch, word, lies=lies)
    for check in compare(counted._asdict(), ran._asdict(), {}):
        if check.status == "different":
            raise Miss(f"{check.name}: {check.claimed} are counted, {check.counted} run")


def lies_of_small(network: Network, v: int, small: Network, lies: Lies) -> Lies:
    """Return where the tensors of a layer lie, by their ids in the network of that layer alone."""
    ids = {v: 0, **dict(zip(network.operands[v], small.operands[0]))}
    here, there = (frozenset(ids[u] for u in each if u in ids) for each in (lies.on_chip, lies.there))
    written = None if lies.written is None else frozenset({0} if v in lies.written else ())
    return Lies(here, there, written, here)
