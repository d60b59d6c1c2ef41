"""One layer on the PE array: shapes, machines, mappings, their judge and the closed form (docs/mapping.md)."""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
