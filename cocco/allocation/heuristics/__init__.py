"""Quick allocations, and repairs of those that do not fit."""
