"""The counting run of one layer: its loops with the real shapes and all channels and samples, without arithmetic."""

from __future__ import annotations

from collections.abc import Sequence, Set

from simulator.execution.count.count import Count, extra_units
from simulator.execution.count.layer_facts import operations, output_bits, position_bytes, size_bytes
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import folded, on_chip_of, rows_there
from simulator.execution.layer.common.following import following_of
from simulator.execution.layer.common.plan import DENSE, Kind, LayerPlan, check_plan
from simulator.execution.layer.common.windows import lines_of, masks, union
from simulator.execution.layer.counted.apart import count_apart, count_copy, count_joined, count_sums
from simulator.execution.layer.counted.attention import count_attention
from simulator.execution.layer.counted.dense import count_dense
from simulator.execution.layer.counted.epilogue import count_gates
from simulator.execution.layer.counted.scan import count_scan
from workloads.network.layers.ops import ELEMENTWISE_OPS, WINDOW_OPS
from workloads.network.network import Network


def count_layer(
    network: Network,
    v: int,
    plan: LayerPlan,
    batch: int = 1,
    word: int = 8,
    lies: Lies = NOTHING_STAYS,
    after: Sequence[int] = (),
) -> Count:
    """Return what the loops of a layer take and move, derived entirely from its windows.

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
    lies : Lies
        Which inputs are on chip, whole, and whether the output stays there and goes to DRAM.
    after : sequence of int
        Layers that follow in the same loops, ascending: the epilogue of a dense layer.

    Returns
    -------
    Count
        Bytes for the whole batch; a memory's bytes are the sum of its regions, each as large as the most it held.

    Raises
    ------
    Miss
        These loops cannot run this layer.

    Examples
    --------
    VGG16's second layer in two chunks of outputs reads its input twice, row by row in a ring of three.

    >>> import workloads
    >>> count = count_layer(workloads.load("vgg16"), 1, LayerPlan("KT", "ring", (1, 224), chunk=32))
    >>> count.ema_input_bytes == 2 * 224 * 224 * 64, count.activation_bytes == (3 * 64 + 32) * 224
    (True, True)
    """
    chip, (one, place) = count_on_chip(network, v, plan, batch, word, lies, after=after), folded(network, v)
    found = chip.count(one, place, batch)
    own = (found.operations or 0) - chip.rescalings  # which take what one of INT8 does
    extra, made = extra_units(network, v, own), chip.results // batch
    for each in after:
        count = batch * operations(network, each, made)
        extra += extra_units(network, each, count)
    return chip.count(one, place, batch, after)._replace(operation_extra=extra)


def count_on_chip(
    network: Network,
    v: int,
    plan: LayerPlan,
    batch: int = 1,
    word: int = 8,
    lies: Lies = NOTHING_STAYS,
    kind: Kind | None = None,
    after: Sequence[int] = (),
) -> Chip:
    """Return the same as a chip; kind: for a part of a layer whose shape alone does not tell it."""
    ids, on_chip = set(network.operands[v]), lies.on_chip
    whole, original = network, v
    following = following_of(network, (v, *after), lies) if after else None
    last = after[-1] if after else v
    ids = (ids | {u for each in after for u in network.operands[each]}) - {v, *after}
    is_written = lies.written is None or last in lies.written
    chip = Chip(word=word, has_results=last not in on_chip, is_written=is_written)
    there = rows_there(network, v, on_chip)
    network, v = folded(network, v)
    layer, on_chip = network.layers[v], on_chip_of(whole, original, network, on_chip)
    check_plan(plan, layer)
    if following is not None:
        following.check(plan)
        count_gates(following, chip, batch)
    if plan.order == "copy":
        count_copy(network, v, chip, batch, on_chip)
    elif layer.op == "attention":
        count_attention(network, v, chip, plan, batch, on_chip, there)
    elif layer.op == "scan":
        count_scan(network, v, chip, plan, batch, on_chip)
    elif plan.order in DENSE:
        if layer.op == "recurrent":  # the row before
            chip.activations.hold("state", batch * chip.rounded(layer.channels, output_bits(layer)))
        count_dense(network, v, chip, plan, batch, on_chip, there, kind, following)
    elif plan.order == "RS":
        count_sums(network, v, chip, batch, on_chip)
    elif layer.op in ELEMENTWISE_OPS:
        count_joined(network, v, chip, plan, batch, on_chip)
    else:
        count_apart(network, v, chip, plan, batch, on_chip)
    chip.load_input(batch * _unmet_bytes(network, v, on_chip))  # what no window meets passes by once
    for u in ids & lies.on_chip - lies.there:  # kept from here on
        chip.load_input(batch * size_bytes(whole, u))
    return chip


def _unmet_bytes(network: Network, v: int, on_chip: Set[int]) -> int:
    """Return the bytes of the inputs of one sample that no window meets."""
    if network.layers[v].op not in WINDOW_OPS:
        return 0
    rows, columns = lines_of(network, v)
    met = union(masks(rows, 1)).bit_count() * union(masks(columns, 1)).bit_count()
    size = sum(position_bytes(network, u) for u in set(network.operands[v]) - on_chip)
    return (rows.extent * columns.extent - met) * size
