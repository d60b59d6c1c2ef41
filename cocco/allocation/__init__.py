"""Where each buffer lives in memory: every allocator returns addresses, `simulator.allocation` judges them.

After TelaMalloc (ASPLOS 2023) and with a complete search in canonical order. `cocco.allocate` is the entry point.
"""
