"""Ties: of plans that cost as little, the one that takes the least energy."""
