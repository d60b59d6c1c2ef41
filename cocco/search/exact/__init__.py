"""The cheapest plan, proven: partition, order and kept intervals."""
