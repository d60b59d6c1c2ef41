"""Executes an attention with its projections, head by head: with values, and counted with the real shapes."""
