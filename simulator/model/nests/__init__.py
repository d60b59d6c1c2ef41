"""Subgraphs of several layers that run as one loop nest."""
