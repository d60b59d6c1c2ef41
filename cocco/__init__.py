"""What to choose: the on-chip memory to build, and how to run networks on it (Cocco, ASPLOS 2024).

Names are imported when they are first asked for (PEP 562), so `import cocco` takes no time.
"""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
