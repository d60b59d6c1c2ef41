"""An exported graph: as one list of functions, and which keys the masks in it hide."""
