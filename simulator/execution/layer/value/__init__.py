"""A layer in loop orders, executed with values."""
