"""What a chip costs beside its buffers: area, leakage, idle MACs and money (docs/chips.md)."""
