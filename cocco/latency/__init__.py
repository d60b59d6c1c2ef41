"""Plans that run fastest: executed latency as it is simulated, the search for it, and its lower bounds."""
