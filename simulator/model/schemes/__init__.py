"""How several cores share a subgraph, in closed form: channels dealt, columns swept in mirrored directions, loops dealt."""
