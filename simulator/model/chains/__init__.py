"""A chain of layers in orders with its middle channels outermost: what it is in integers, its plans, its least room."""
