"""What a search is asked: the problem, its budgets, and the memories in which its networks may run."""
