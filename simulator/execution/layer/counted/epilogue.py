"""Counts layers that follow a dense one: what each chunk of its results moves beside its own bytes."""

from __future__ import annotations

from simulator.execution.count.layer_facts import bits_of, output_bits, row_bytes, size_bytes
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.following import Following, gate_bytes


def count_gates(following: Following, chip: Chip, batch: int) -> None:
    """Load the operands that are broadcast, for all samples."""
    for operand in following.operands:
        if operand.is_gate and operand.comes:
            u, network = operand.tensor, following.network
            chip.load_input(batch * size_bytes(network, u))
            chip.activations.hold(f"operand {u}", batch * gate_bytes(network, u, chip.word))


def count_following(following: Following, chip: Chip, positions: int, channels: int) -> None:
    """Pass channels of these positions through the layers: operands are read, and results stored in between."""
    network = following.network
    for operand in following.operands:
        size = positions * row_bytes(channels, bits_of(network, operand.tensor))
        if operand.comes and not operand.is_gate:
            chip.load_input(size)
            chip.activations.hold("operands that pass", chip.rounded(1, bits_of(network, operand.tensor)))
        chip.global_buffer += size
    for v in following.stored:
        size = positions * row_bytes(channels, output_bits(network.layers[v]))
        chip.write(size)
        chip.global_buffer += size
        if v in following.leaving:
            chip.ema_outputs += size
            chip.global_buffer += size
