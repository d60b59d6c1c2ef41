"""layer-graph/1 files: how they are written, read and checked."""
