"""Lower bounds of every partition's cost by solvers: minutes, for a proof that was asked for (docs/bounds.md)."""

from cocco.bounds.certificate import Certificate, certify, check_solvers

__all__ = ["Certificate", "certify", "check_solvers"]
