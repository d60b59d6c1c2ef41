"""An exported graph: one list of functions, cells in loops as one layer, and which keys the masks in it hide."""
