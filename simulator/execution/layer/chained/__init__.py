"""A chain of layers in its loops: who is who, the run of values, the counting run, and both scaled down."""
