"""A file for each command: `add_options` says what it takes, `run` answers and returns the exit code."""
