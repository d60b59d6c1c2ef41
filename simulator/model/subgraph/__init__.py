"""A fused subgraph: consumption-centric tiles, MAIN and SIDE regions, and traffic."""
