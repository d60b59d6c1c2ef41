"""What torch.export makes of a module: one list of functions, with cells that loop over a sequence as one layer."""
