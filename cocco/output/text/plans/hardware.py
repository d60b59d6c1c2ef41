"""Hardware in words: the memory of one core, and what else differs from the default."""

from __future__ import annotations

from cocco.output.text.layout.numbers import capacity
from simulator.accelerator import Accelerator
from simulator.mapping.mappers import Enumerate


def buffers(accelerator: Accelerator) -> str:
    """Return what the memory of one core is, such as 'a shared buffer of 1344 KB'."""
    if accelerator.is_shared:
        return f"a shared buffer of {capacity(accelerator.activation_capacity)}"
    return (
        f"a global buffer of {capacity(accelerator.activation_capacity)} and "
        f"a weight buffer of {capacity(accelerator.weight_capacity)}"
    )


def machine(accelerator: Accelerator) -> str:
    """Return the rest of the hardware, such as ', batch 8'; empty for one core, one sample and the default mapper."""
    cores = f", {accelerator.cores} cores with that each" if accelerator.cores > 1 else ""
    batch = f", batch {accelerator.batch}" if accelerator.batch > 1 else ""
    mapper = accelerator.mapper
    if mapper == Enumerate():
        return cores + batch
    return f"{cores}{batch}, mapper {'tiled' if isinstance(mapper, Enumerate) else mapper.name}"
