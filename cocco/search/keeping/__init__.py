"""What to keep on chip between steps: of a partition in a given order, of a genome, or chosen together with both."""
