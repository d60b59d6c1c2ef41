"""Allocation searched to its end: canonical orders, and solvers."""
