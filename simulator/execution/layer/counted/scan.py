"""Counts a scan: blocks of channels, each row after row of each sample, with a state that stays until the last one."""

from __future__ import annotations

from collections.abc import Set

from simulator.execution.count import layer_facts as facts
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.plan import LayerPlan, pieces
from workloads.network.network import Network


def count_scan(network: Network, v: int, chip: Chip, plan: LayerPlan, batch: int, on_chip: Set[int]) -> None:
    """Count blocks of channels, with their weights; samples, one after the other; rows."""
    layer, own, rows = network.layers[v], facts.of_own_channels(network, v), batch * network.layers[v].height
    each_own, weights = facts.apiece(layer), 0
    if not each_own:  # heads share them, and they stay
        weights = facts.weight_bytes(network, v)
        chip.weights.hold("weights", weights)
        chip.load_weights(weights)
    for channels, times in pieces(layer.channels, plan.apart):
        if each_own:
            weights = facts.row_bytes(channels * each_own, layer.bits.weights)
            chip.weights.hold("weights", weights)
            chip.load_weights(times * weights)
        chip.weight_buffer += times * rows * weights
        chip.activations.hold("state", facts.state_bytes(layer, chip.rounded(channels)))
        chip.copy(
            2 * times * (rows - batch) * facts.state_bytes(layer, channels)
        )  # the first row reads none, the last leaves none
        for u in dict.fromkeys(network.operands[v]):
            count, bits = channels if u in own else network.tensors[u].channels, facts.bits_of(network, u)
            chip.global_buffer += times * rows * facts.row_bytes(count, bits)
            if u not in on_chip:
                chip.load_input(times * rows * facts.row_bytes(count, bits))
                chip.activations.hold(f"row {u}", chip.rounded(count, bits))
        chip.hold_results(chip.rounded(channels, facts.output_bits(layer)))
    chip.store(rows * layer.channels, rows * facts.position_bytes(network, v))
