"""Answers of searches, as text."""
