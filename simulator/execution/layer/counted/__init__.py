"""A layer in loop orders, counted without values."""
