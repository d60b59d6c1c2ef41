"""Results on disk: what a run folder and a front folder hold, written and read back in one room."""
