"""CoSA's mixed-integer program of one layer's mapping, solved and decoded."""
