"""What a search proposes: genomes, how they are drawn, coded and judged."""
