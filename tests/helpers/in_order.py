"""Sequences whose rows wait for each other: one recurrent layer, or one scan."""

from __future__ import annotations

from workloads import Builder, Network

#: what a layer's judge counts, by the claims of its plan
COUNTS = (
    "weight_bytes", "activation_bytes", "ema_weight_bytes", "ema_input_bytes", "ema_output_bytes",
    "global_buffer_bytes", "weight_buffer_bytes",
)  # fmt: skip


def cell(steps: int = 6, gates: int = 4, state: int = 16) -> Network:
    """Return an LSTM by default."""
    b = Builder("cell")
    b.recurrent("h", b.input("x", steps, 1, gates * state), state)
    return b.build()


def mamba(rows: int = 6, channels: int = 24, state: int = 4, weights: int | None = None) -> Network:
    """Return a selective state space: u, one step for each channel, b and c."""
    b = Builder("one")
    widths = {"u": channels, "step": channels, "b": state, "c": state}
    b.scan("y", [b.input(name, rows, 1, width) for name, width in widths.items()], state, weights)
    return b.build()
