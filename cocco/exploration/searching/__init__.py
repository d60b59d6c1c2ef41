"""One search, from founders to polish, and those with kept tensors that start from it."""
