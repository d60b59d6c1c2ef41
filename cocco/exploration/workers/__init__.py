"""Who watches a search and who works for it."""
