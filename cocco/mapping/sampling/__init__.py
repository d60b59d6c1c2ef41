"""Mappings drawn at random and polished."""
