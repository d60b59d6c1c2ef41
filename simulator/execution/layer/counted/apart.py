"""Counts layers that do not reduce over channels: independent channels, running sums, element-wise layers, copies."""

from __future__ import annotations

from collections.abc import Set
from itertools import product

from simulator.execution.count import layer_facts as facts
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.plan import LayerPlan, channel_steps, is_mixed, pieces
from simulator.execution.layer.common.sweeps import pour, sweep
from simulator.execution.layer.common.windows import lines_of, masks, union
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


def count_apart(network: Network, v: int, chip: Chip, plan: LayerPlan, batch: int, on_chip: Set[int]) -> None:
    """CT: channels of one input at a time; samples; tiles. An input that is several operands is read once."""
    layer, ids = network.layers[v], network.operands[v]
    found = sweep(lines_of(network, v), plan.tile, plan.mode)
    largest = min(plan.tile[0], layer.height) * min(plan.tile[1], layer.width)
    for u in dict.fromkeys(ids):
        often, bits = ids.count(u), facts.bits_of(network, u)
        for channels, times in pieces(network.tensors[u].channels, plan.apart):
            room, made = chip.rounded(channels, bits), chip.rounded(channels, facts.output_bits(layer))
            weights = often * channels * layer.kernel[0] * layer.kernel[1] if facts.has_weights(layer) else 0
            weights = facts.row_bytes(weights, layer.bits.weights)
            chip.weights.hold("weights", weights)
            chip.load_weights(times * weights)
            for samples, rounds in pieces(batch, plan.at_once):
                moved = times * rounds * samples * facts.row_bytes(channels, bits)
                chip.global_buffer += moved * found.windows
                chip.weight_buffer += times * rounds * found.tiles * weights
                chip.hold_results(samples * made * largest * often)
                if u not in on_chip:
                    chip.load_input(moved * found.loads)
                    chip.copy(moved * found.copies)
                    chip.activations.hold("MAIN", samples * room * found.main)
                    chip.activations.hold("SIDE", samples * room * found.side)
    chip.store(batch * facts.elements(layer), batch * facts.size_bytes(network, v))


def count_sums(network: Network, v: int, chip: Chip, batch: int, on_chip: Set[int]) -> None:
    """RS: a word of channels; input rows one by one, added to the sums of all output rows that meet them."""
    layer, ids = network.layers[v], network.operands[v]
    rows, columns = lines_of(network, v)
    across, down = union(masks(columns, 1)).bit_count(), union(masks(rows, 1)).bit_count()
    pairs, additions, most = pour(rows)
    for u in dict.fromkeys(ids):
        moved, sums = batch * across * facts.position_bytes(network, u), ids.count(u) * layer.width
        chip.global_buffer += moved * pairs
        if u not in on_chip:
            chip.load_input(moved * down)
            chip.activations.hold("row", across * chip.rounded(chip.word, facts.bits_of(network, u)) * (down > 0))
        chip.activations.hold("sums", sum_bytes(layer) * chip.word * most * sums)
    chip.copy(2 * sum_bytes(layer) * batch * additions * layer.width * layer.channels)
    chip.store(batch * facts.elements(layer), batch * facts.size_bytes(network, v))


def sum_bytes(layer: Layer) -> int:
    """Return the bytes of a running sum, or of a statistic."""
    return -(-layer.bits.sums // 8)


def count_joined(network: Network, v: int, chip: Chip, plan: LayerPlan, batch: int, on_chip: Set[int]) -> None:
    """CT or TC of element-wise layers: channels and tiles along with broadcast operands, samples one by one."""
    layer = network.layers[v]
    if plan.order == "TCC":
        _count_passes(network, v, chip, plan, batch, network.operands[v][0] in on_chip)
        return
    if is_mixed(layer) and plan.apart < layer.channels:
        raise Miss(f"{layer.name!r} mixes the channels of a position: {plan.apart} of {layer.channels} are not enough")
    one = chip.like()
    for u in dict.fromkeys(network.operands[v]):
        _count_operand(network, v, one, plan, u, u in on_chip)
    tile = min(plan.tile[0], layer.height) * min(plan.tile[1], layer.width)
    one.hold_results(tile * one.rounded(min(plan.apart, layer.channels), facts.output_bits(layer)))
    one.store(facts.elements(layer), facts.size_bytes(network, v))
    chip.add(one, batch)


def _count_passes(network: Network, v: int, chip: Chip, plan: LayerPlan, batch: int, is_there: bool) -> None:
    """TCC: tiles; channels for the statistics; channels for the outputs. Channels that stay are loaded once."""
    layer = network.layers[v]
    kept, steps = channel_steps(layer.channels, plan)
    bits, size = facts.bits_of(network, network.operands[v][0]), sum_bytes(layer)
    rooms = [chip.rounded(len(each), bits) for each in steps]
    made = max(chip.rounded(len(each), facts.output_bits(layer)) for each in steps)
    staying = sum(room for each, room in zip(steps, rooms) if each.start < kept)
    passing = max((room for each, room in zip(steps, rooms) if each.start >= kept), default=0)
    for (down, lower), (across, further) in product(
        pieces(layer.height, plan.tile[0]), pieces(layer.width, plan.tile[1])
    ):
        area, times = down * across, batch * lower * further
        chip.activations.hold("operand", 0 if is_there else area * (staying + passing))
        chip.activations.hold("statistics", area * 2 * size)
        chip.hold_results(area * made)
        for is_first in (True, False):
            for i, channels in enumerate(steps):
                comes = is_first or channels.start >= kept
                coming = facts.row_bytes(len(channels), bits)
                chip.load_input(0 if is_there else times * area * coming * comes)
                reads = not is_first or i > 0  # read and written; the first written only, then read only
                chip.global_buffer += times * area * (coming + 2 * size * reads)
                chip.write(times * area * 2 * size * is_first)
    chip.store(batch * facts.elements(layer), batch * facts.size_bytes(network, v))


def _count_operand(network: Network, v: int, chip: Chip, plan: LayerPlan, u: int, is_there: bool) -> None:
    """Count an operand: what is loaded for each step of channels and each tile, and what all of them read.

    is_there: it is on chip whole, and nothing is loaded.
    """
    layer, tensor = network.layers[v], facts.tensor_of(network, u)
    is_whole = network.operands[v].index(u) in layer.whole
    has_channels = tensor.channels > 1 or layer.channels == 1
    comes_once = not has_channels and (plan.order == "TC" or is_whole)  # for all steps of channels
    rows, columns = list(pieces(layer.height, plan.tile[0])), list(pieces(layer.width, plan.tile[1]))
    steps = [(channels if has_channels else 1, times) for channels, times in pieces(layer.channels, plan.apart)]
    for (channels, times), (down, lower), (across, further) in product(steps, rows, columns):
        height = down if tensor.height == layer.height else 1
        width = across if tensor.width == layer.width else 1
        tiles = lower * further
        chip.global_buffer += times * tiles * facts.row_bytes(channels, tensor.bits) * height * width
        if not is_whole and not is_there:
            chip.activations.hold(f"operand {u}", down * across * chip.rounded(channels, tensor.bits))
            size = facts.row_bytes(channels, tensor.bits)
            chip.load_input(0 if comes_once else times * tiles * size * down * across)
    if is_there:
        return
    if is_whole:
        size = tensor.height * tensor.width
        most = tensor.channels if plan.order == "TC" else max(channels for channels, _ in steps)
        chip.activations.hold(f"operand {u}", size * chip.rounded(most, tensor.bits))
        chip.load_input(facts.size_bytes(network, u))
    elif comes_once:
        chip.load_input(facts.size_bytes(network, u))


def count_copy(network: Network, v: int, chip: Chip, batch: int, on_chip: Set[int]) -> None:
    """Copy: a word at a time, read once and written wherever it belongs."""
    size = sum(facts.size_bytes(network, u) for u in dict.fromkeys(network.operands[v]))
    bits = max(facts.output_bits(network.layers[v]), *(facts.bits_of(network, u) for u in network.operands[v]))
    chip.activations.hold("word", chip.rounded(chip.word, bits))
    there = sum(facts.size_bytes(network, u) for u in dict.fromkeys(network.operands[v]) if u in on_chip)
    chip.load_input(batch * (size - there))
    chip.global_buffer += batch * size
    chip.store(batch * facts.elements(network.layers[v]), batch * facts.size_bytes(network, v))
