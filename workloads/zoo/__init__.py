"""The built-in networks, one file for each family."""
