"""How far apart two floats may be that stand for the same cost; both are relative, and each decides one thing."""

from __future__ import annotations

SUMMED = 1e-12
"""Sums of the same prices in another order differ by less: bounds and limits give way by so much, so that rounding
never excludes a plan."""

SAME = 1e-9
"""Costs that differ by less are one cost: of a search and of the simulator, of an answer and of its bound. Far above
what sums round, far below any real difference (our choice)."""
