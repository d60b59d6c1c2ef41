"""What on-chip memory and DRAM cost by capacity or kind: tables of a memory compiler, and published presets."""
