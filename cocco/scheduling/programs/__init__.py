"""Schedules as programs for solvers: our tight one, gaps, the paper's, with cuts from packing."""
