"""One layer on the PE array as a constrained optimisation (CoSA, ISCA 2021), and baselines (docs/mapping.md).

Every answer is data that `simulator.mapping.evaluate` judges. Solvers are imported when they are asked.
"""

from workloads.faces import face

__getattr__, __dir__ = face(globals())
