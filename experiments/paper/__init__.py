"""The figures and tables of the paper (Cocco, ASPLOS 2024)."""
