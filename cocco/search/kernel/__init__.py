"""The compiled twin of pricing and search, and the one place that says which engine answers."""
