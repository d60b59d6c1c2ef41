"""Counts a scan: row after row of each sample, with a state that stays until the last one."""

from __future__ import annotations

from collections.abc import Set

from simulator.execution.count.layer_facts import bits_of, output_bits, position_bytes, state_of, weight_bytes
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.counted.apart import sum_bytes
from workloads.network.network import Network


def count_scan(network: Network, v: int, chip: Chip, batch: int, on_chip: Set[int]) -> None:
    """Count samples, one after the other, and rows; the weights stay for all of them."""
    layer, weights = network.layers[v], weight_bytes(network, v)
    size, rows = state_of(layer)[0] * sum_bytes(layer), batch * layer.height
    chip.weights.hold("weights", weights)
    chip.load_weights(weights)
    chip.weight_buffer += rows * weights
    chip.activations.hold("state", size * chip.rounded(layer.channels))
    chip.copy(2 * (rows - batch) * size * layer.channels)  # the first row of a sample reads none, the last leaves none
    for u in dict.fromkeys(network.operands[v]):
        chip.global_buffer += rows * position_bytes(network, u)
        if u not in on_chip:
            chip.load_input(rows * position_bytes(network, u))
            chip.activations.hold(f"row {u}", chip.rounded(network.tensors[u].channels, bits_of(network, u)))
    chip.hold_results(chip.rounded(layer.channels, output_bits(layer)))
    chip.store(rows * layer.channels, rows * position_bytes(network, v))
