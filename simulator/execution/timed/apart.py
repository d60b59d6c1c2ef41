"""The loops of layers that do not reduce over channels, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import groupby, product

from simulator.execution.count.layer_facts import (
    apiece,
    bits_of,
    has_weights,
    of_own_channels,
    output_bits,
    row_bytes,
    size_bytes,
    tensor_of,
    weight_bytes,
)
from simulator.execution.layer.common.plan import LayerPlan, channel_steps, cuts
from simulator.execution.layer.common.windows import lines_of, masks, union
from simulator.execution.timed.dense import tiles_of
from simulator.execution.timed.meter import Meter, Repeated, Step
from workloads.network.network import Network


def apart_steps(
    network: Network, v: int, meter: Meter, plan: LayerPlan, batch: int, on_chip: Set[int]
) -> Iterator[Step]:
    """CT: channels of one input; samples; tiles."""
    layer, ids = network.layers[v], network.operands[v]
    tiles = tiles_of(lines_of(network, v), plan.tile, plan.mode)
    made = _Share(
        batch * size_bytes(network, v),
        batch * sum(network.tensors[u].channels for u in ids) * layer.height * layer.width,
    )
    for u in dict.fromkeys(ids):
        often, bits = ids.count(u), bits_of(network, u)
        for channels in map(len, cuts(network.tensors[u].channels, plan.apart)):
            weights = often * channels * layer.kernel[0] * layer.kernel[1] * has_weights(layer)
            meter.load_weights(row_bytes(weights, layer.bits.weights))
            for samples in map(len, cuts(batch, plan.at_once)):
                for tile in tiles:
                    if u not in on_chip:
                        meter.load_input(samples * row_bytes(channels, bits) * tile.loads)
                        meter.activations.hold("MAIN", samples * meter.rounded(channels, bits) * tile.loads)
                    work = samples * tile.rows * tile.columns * channels * often
                    room = samples * tile.rows * tile.columns * often * meter.rounded(channels, output_bits(layer))
                    meter.hold_results(room)
                    meter.store(0, made.of(work))
                    yield meter.step(work)


class _Share:
    """A total shared out, so that all shares add up to it."""

    def __init__(self, total: int, parts: int) -> None:
        self.total, self.parts, self.done = total, parts, 0

    def of(self, parts: int) -> int:
        """Return the share of so many parts more."""
        first, stop = (self.total * each // self.parts for each in (self.done, self.done + parts))
        self.done += parts
        return stop - first


def sums_steps(network: Network, v: int, meter: Meter, batch: int, on_chip: Set[int]) -> Iterator[Step]:
    """RS: samples; a word of channels; input rows, each with the output rows of which it is the last."""
    layer, ids = network.layers[v], network.operands[v]
    rows, columns = lines_of(network, v)
    across, reach = union(masks(columns, 1)).bit_count(), masks(rows, 1)
    every, results = [row for row in range(rows.extent) if union(reach) >> row & 1] or [-1], output_bits(layer)
    made = _Share(batch * size_bytes(network, v), batch * sum(network.tensors[u].channels for u in ids) * layer.height)
    for _ in range(batch):
        for u in dict.fromkeys(ids):
            often, bits = ids.count(u), bits_of(network, u)
            for channels in map(len, cuts(network.tensors[u].channels, meter.word)):
                for row in every:
                    if row >= 0 and u not in on_chip:
                        meter.load_input(across * row_bytes(channels, bits))
                        meter.activations.hold("row", across * meter.rounded(channels, bits))
                    added = sum(each >> row & 1 for each in reach) if row >= 0 else 0
                    done = sum(each.bit_length() == row + 1 for each in reach)
                    done += sum(not each for each in reach) * (row == every[-1] and row >= 0)
                    meter.hold_results(done * often * layer.width * meter.rounded(channels, results))
                    meter.store(0, made.of(done * often * channels))
                    yield meter.step(channels * often * added)


def joined_steps(
    network: Network, v: int, meter: Meter, plan: LayerPlan, batch: int, on_chip: Set[int]
) -> Iterator[Step]:
    """CT (channels; tiles) or TC (tiles; channels) of element-wise layers; samples one by one."""
    layer, ids = network.layers[v], list(dict.fromkeys(network.operands[v]))
    tensors, whole = {u: tensor_of(network, u) for u in ids}, {network.operands[v][i] for i in layer.whole}
    coming = [u for u in ids if u not in on_chip]
    parts = {u: tensors[u].channels > 1 or layer.channels == 1 for u in ids}  #: has channels of its own in each step
    steps = cuts(layer.channels, plan.apart)
    tiles = list(product(cuts(layer.height, plan.tile[0]), cuts(layer.width, plan.tile[1])))
    pairs = list(product(steps, tiles) if plan.order == "CT" else ((c, t) for t, c in product(tiles, steps)))
    for _ in range(batch):
        for channels, tile in pairs:
            area, first = len(tile[0]) * len(tile[1]), (channels == steps[0], tile == tiles[0])
            for u in coming:
                count = len(channels) if parts[u] else 1
                positions = area
                if u in whole:
                    positions = tensors[u].height * tensors[u].width
                    comes = first[1] and (parts[u] or first[0])
                    if plan.order == "TC":
                        comes, count = all(first), tensors[u].channels
                else:
                    comes = parts[u] or plan.order == "CT" or first[0]
                if comes:
                    meter.load_input(positions * row_bytes(count, tensors[u].bits))
                    meter.activations.hold(f"operand {u}", positions * meter.rounded(count, tensors[u].bits))
            meter.hold_results(area * meter.rounded(len(channels), output_bits(layer)))
            meter.store(0, area * row_bytes(len(channels), output_bits(layer)))
            yield meter.step(area * len(channels))


def scan_steps(
    network: Network, v: int, meter: Meter, plan: LayerPlan, batch: int, on_chip: Set[int]
) -> Iterator[Step]:
    """CT: channels with their weights; samples, one after the other; rows."""
    layer, coming = network.layers[v], [u for u in dict.fromkeys(network.operands[v]) if u not in on_chip]
    own, results = of_own_channels(network, v), output_bits(layer)
    for channels in cuts(layer.channels, plan.apart):
        if apiece(layer):
            meter.load_weights(row_bytes(len(channels) * apiece(layer), layer.bits.weights))
        elif channels.start == 0:
            meter.load_weights(weight_bytes(network, v))
        for _ in range(batch * layer.height):
            for u in coming:
                count, bits = len(channels) if u in own else network.tensors[u].channels, bits_of(network, u)
                meter.load_input(row_bytes(count, bits))
                meter.activations.hold(f"row {u}", meter.rounded(count, bits))
            meter.hold_results(meter.rounded(len(channels), results))
            meter.store(0, row_bytes(len(channels), results))
            yield meter.step(len(channels))


def passes_steps(
    network: Network, v: int, meter: Meter, plan: LayerPlan, batch: int, on_chip: Set[int]
) -> Iterator[Repeated]:
    """TCC: tiles; channels for the statistics; channels for the outputs, of which those that stay do not come again."""
    layer, (u,) = network.layers[v], set(network.operands[v])
    kept, steps = channel_steps(layer.channels, plan)
    bits, results = bits_of(network, u), output_bits(layer)

    def of_tile(area: int) -> Iterator[Step]:
        for is_first, channels in product((True, False), steps):
            if (is_first or channels.start >= kept) and u not in on_chip:
                meter.load_input(area * row_bytes(len(channels), bits))
                meter.activations.hold("operand", area * meter.rounded(len(channels), bits))
            if not is_first:
                meter.hold_results(area * meter.rounded(len(channels), results))
                meter.store(0, area * row_bytes(len(channels), results))
            yield meter.step(area * len(channels))

    tiles = product(cuts(layer.height, plan.tile[0]), cuts(layer.width, plan.tile[1]))
    for area, alike in groupby([len(down) * len(across) for down, across in tiles] * batch):
        yield Repeated(list(of_tile(area)), len(list(alike)))


def copy_steps(network: Network, v: int, meter: Meter, batch: int, on_chip: Set[int]) -> Iterator[Step]:
    """A word at a time: what comes and what leaves is spread evenly."""
    ids = list(dict.fromkeys(network.operands[v]))
    tensors = [tensor_of(network, u) for u in ids]
    elements = sum(each.height * each.width * each.channels for each in tensors)
    words = -(-elements // meter.word)
    size = sum(size_bytes(network, u) for u in ids if u not in on_chip)
    inputs, outputs = _Share(batch * size, batch * words), _Share(batch * size_bytes(network, v), batch * words)
    for _ in range(batch * words):
        meter.pass_input(inputs.of(1))
        size = outputs.of(1)
        meter.hold_results(size)
        meter.store(0, size)
        yield meter.step(1)
