"""What a partition costs: the model in readable form, and the judge of every answer (docs/model.md)."""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
