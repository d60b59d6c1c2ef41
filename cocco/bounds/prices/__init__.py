"""The set-partition bound by solvers: prices of layers and tolls of tensors that no step exceeds."""
