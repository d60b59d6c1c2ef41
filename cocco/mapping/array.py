"""The machine of a hardware file as one on which single layers are mapped: its array below its buffers."""

from __future__ import annotations

from simulator.accelerator import Accelerator
from simulator.mapping.architecture import SIMBA, Architecture, Level


def array_of(accelerator: Accelerator, name: str = "hardware") -> Architecture:
    """Return one core: its PEs, with what those of SIMBA keep, below its buffers, in the energies of its technology.

    A shared buffer leaves half of itself to weights, a quarter each to inputs and results (our choice).

    Examples
    --------
    >>> array_of(Accelerator(shared_buffer=2**20))
    Architecture(hardware: 5 levels, 1024 MACs)
    """
    technology, (registers, sums, _, inputs, *_) = accelerator.technology, SIMBA.levels
    pes, macs = technology.pe_rows * technology.pe_columns, technology.macs
    shared, separate = accelerator.shared_buffer, accelerator.global_buffer
    inner = [
        Level(registers.name, registers.entries, macs, registers.stores, 1, registers.energy_pj),
        Level(sums.name, sums.entries, pes * technology.pe_outputs, sums.stores, technology.pe_inputs),
        Level(inputs.name, inputs.entries, pes, inputs.stores, technology.pe_outputs),
    ]
    if shared is not None:
        stores = {"W": 0.5, "I": 0.25, "O": 0.25}
        buffers = [Level("shared buffer", shared, 1, stores, pes, technology.sram_pj_per_byte(shared))]
    else:
        assert separate is not None and accelerator.weight_buffer is not None
        weights, both = accelerator.weight_buffer, {"I": 0.5, "O": 0.5}
        buffers = [
            Level("weight buffer", weights, 1, {"W": 1}, pes, technology.sram_pj_per_byte(weights)),
            Level("global buffer", separate, 1, both, 1, technology.sram_pj_per_byte(separate)),
        ]
    dram = Level("DRAM", None, 1, SIMBA.levels[-1].stores, 1, technology.dram_pj_per_byte)
    words = technology.dram_bytes_per_cycle
    return Architecture((*inner, *buffers, dram), macs, words, words, name)
