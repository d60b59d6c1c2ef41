"""The whole chip as the question: arrays, cores, DRAM, SRAM and clock beside the memory (docs/chips.md)."""
