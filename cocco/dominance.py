"""Which points of a plane nothing else beats: the front between two things that should be small."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def non_dominated(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Return the positions of the front, ascending in `first` and strictly descending in `second`.

    A point is dominated where another is at most as large in both and smaller in one; of equal points the first in
    the order given stays. Values that are not finite are never on the front.
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    order = np.lexsort((np.arange(len(x)), y, x))
    order = order[np.isfinite(x[order]) & np.isfinite(y[order])]
    if not len(order):
        return order
    least_before = np.concatenate(([np.inf], np.minimum.accumulate(y[order])[:-1]))
    return order[y[order] < least_before]
