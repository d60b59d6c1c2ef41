"""One layer in loop orders: its loops, regions and traffic, and the cheapest order."""
