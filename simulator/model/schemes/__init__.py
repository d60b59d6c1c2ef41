"""How several cores share a subgraph, in closed form: channels dealt, or columns swept in mirrored directions."""
