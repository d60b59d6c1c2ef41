"""What the judge counts: layer facts, tiles, steps, bytes and cycles of a plan."""
