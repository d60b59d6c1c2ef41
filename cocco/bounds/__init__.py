"""Lower bounds of every partition's cost by solvers: minutes, for a proof that was asked for (docs/bounds.md)."""

from cocco.bounds.certificate import EFFORT, QUICK_EFFORT, Certificate, certify, check_solvers, has_solvers

__all__ = ["EFFORT", "QUICK_EFFORT", "Certificate", "certify", "check_solvers", "has_solvers"]
