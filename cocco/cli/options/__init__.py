"""What options there are, and how their values are read."""
