"""What a network is: layers, shapes, windows, the checked graph, and the builder that infers shapes."""
