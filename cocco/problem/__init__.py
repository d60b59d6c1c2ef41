"""The question: networks, the memories to choose from, the objective; also genomes, and the source of randomness."""
