"""Lower bounds of every partition's cost by solvers: minutes of work, for a proof on request (docs/bounds.md)."""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
