"""Subgraphs of several layers that run as one nest of loops."""
