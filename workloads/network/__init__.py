"""Layers and networks: checked data, the builder, shapes."""
