"""A partition given by the user: reading its file, what it takes, how to split it, how two compare."""
