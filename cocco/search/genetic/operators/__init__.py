"""Mutation, crossover and repair of genomes (Cocco, Sec. 4.4), and those of a user."""
