"""An exported graph: as one list of functions, with cells in loops as one layer, and which keys the masks in it hide."""
