"""Schedules without a solver: a beam over orders, drops in a given order, least peak, baselines."""
