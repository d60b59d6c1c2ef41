"""The allocator's engine in Cython, and nothing else."""
