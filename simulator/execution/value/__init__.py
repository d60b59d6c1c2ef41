"""The judge's arithmetic: values that move between DRAM, addresses and cores."""
