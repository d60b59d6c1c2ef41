"""What is asked: the networks, the memories to choose from, the objective; genomes, and where randomness comes from."""
