"""What a candidate costs: a genome, one subgraph, by the simulator or by the compiled twin."""
