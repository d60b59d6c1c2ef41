"""Which operator runs when, which tensors stay on chip, which are spilled and fetched back, and where each lies.

After COSMA (arXiv 2311.18246). Every optimiser returns a plan; `simulator.schedule.replay` judges it. `cocco.schedule`
is the entry point.
"""
