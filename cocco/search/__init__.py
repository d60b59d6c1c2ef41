"""Finds partitions: what a candidate costs (kernel, pricing), the genetic algorithm (genetic), others (baselines)."""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
