"""What Cocco is compared with (Cocco, Sec. 4.2 and 5.1.3): greedy, DP, annealing, two-step search.

Each returns plain data, labels and numbers; the simulator judges them like any other partition.
"""
