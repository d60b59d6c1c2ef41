"""How several cores share a subgraph, in closed form: channels dealt, columns mirrored, loops dealt."""
