"""What is known of every memory: a bound, its cheapest plans, and the proofs, fronts and ranges read from that."""
