"""Figures and tables of related papers: COSMA (schedules), TelaMalloc (addresses), CoSA (mappings)."""
