"""Addresses of buffers in one memory: the data, their judge, their files (docs/allocation.md)."""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
