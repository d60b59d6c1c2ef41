"""Subgraphs of several layers that run as one loop nest: which they are, and how their loops see them."""
