"""Answers about one plan, as text."""
