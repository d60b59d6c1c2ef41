"""Lower bounds of every partition's cost by solvers: minutes of work, for a proof on request (docs/bounds.md)."""

from cocco.bounds.certificate import Certificate, certify, check_solvers, has_solvers, quick_effort

__all__ = ["Certificate", "certify", "check_solvers", "has_solvers", "quick_effort"]
