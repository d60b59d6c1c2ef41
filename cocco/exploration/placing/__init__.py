"""Addresses for what an answer keeps on chip: it is changed until it has them, and the cheapest with them is proved."""
