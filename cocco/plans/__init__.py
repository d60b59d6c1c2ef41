"""About a partition that the user brings: what its file says, what it takes, how to split it, how two compare."""
