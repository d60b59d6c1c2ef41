"""Plans as programs: C that runs in exactly the claimed bytes, and data that a compiler reads (docs/export.md)."""
