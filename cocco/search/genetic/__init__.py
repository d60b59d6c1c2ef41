"""The genetic algorithm (Cocco, Sec. 4.4) and nothing else: operators, repair, islands, fronts, a DEAP toolbox."""
