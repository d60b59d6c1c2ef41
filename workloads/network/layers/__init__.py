"""A layer: its operator, shapes, windows and types."""
