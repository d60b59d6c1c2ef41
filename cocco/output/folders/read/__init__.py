"""Run folders as they are read, each file by its form."""
