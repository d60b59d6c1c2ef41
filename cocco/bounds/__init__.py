"""Lower bounds of every partition's cost by solvers: minutes, for a proof that was asked for (docs/bounds.md)."""

from cocco.bounds.certificate import EFFORT, Certificate, certify, check_solvers, has_solvers, quick_effort

__all__ = ["EFFORT", "Certificate", "certify", "check_solvers", "has_solvers", "quick_effort"]
