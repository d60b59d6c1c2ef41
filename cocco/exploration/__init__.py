"""The user's questions: which memory, partition or front, within which limits; searched, proven and judged."""
