"""How a network comes apart: components, scopes, forks, and what crosses DRAM between subgraphs."""
