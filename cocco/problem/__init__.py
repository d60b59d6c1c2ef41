"""What is asked: networks, the memories to choose from, the objective, checked once."""
