"""Run folders as they are written, whole or not at all."""
