"""Budgets for long networks: what suffices for a thousand layers is too little for five thousand, or takes too long.

A state of the exact search has a bit for each layer and each tensor, so its steps take longer the more there are. The
steps of a chain grow with its layers, some 2,300 for each. Up to LAYERS nothing changes.
"""

from __future__ import annotations

LAYERS = 1000  #: of k times as many budgets are k times as large, or as small; our choice


def larger(budget: int, layers: int) -> int:
    """Return a budget that grows with the network.

    Examples
    --------
    >>> larger(500, 72), larger(500, 3000)
    (500, 1500)
    """
    return budget * max(LAYERS, layers) // LAYERS


def smaller(budget: int, layers: int) -> int:
    """Return a budget, at least 1, for work that takes longer the larger the network is.

    Examples
    --------
    >>> smaller(600, 72), smaller(600, 3000)
    (600, 200)
    """
    return max(1, budget * LAYERS // max(LAYERS, layers))
