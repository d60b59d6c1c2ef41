"""Allocation searched to its end: TelaMalloc's search, canonical orders, and solvers."""
