"""Which points no other beats: the front between quantities to be minimized, and the volume that it dominates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def non_dominated(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Return the positions of the front, ascending in `first` and strictly descending in `second`.

    A point is dominated if another is at most as large in both and smaller in one; of equal points the first in the
    order given stays. Values that are not finite are never on the front.
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    order = np.lexsort((np.arange(len(x)), y, x))
    order = order[np.isfinite(x[order]) & np.isfinite(y[order])]
    if not len(order):
        return order
    least_before = np.concatenate(([np.inf], np.minimum.accumulate(y[order])[:-1]))
    return order[y[order] < least_before]


def front_of(values: np.ndarray) -> np.ndarray:
    """Return the positions of the front of rows, each with two or more values to minimize, ascending by columns.

    Of equal rows the first stays; rows that are not finite are never on the front.
    """
    if values.shape[1] == 2:
        return non_dominated(values[:, 0], values[:, 1])
    order = np.lexsort((np.arange(len(values)), *values.T[::-1]))
    kept = np.empty((len(order), values.shape[1]))
    front: list[int] = []
    for i in order[np.isfinite(values[order]).all(axis=1)].tolist():  # a row that beats another stands before it
        if not (kept[: len(front)] <= values[i]).all(axis=1).any():
            kept[len(front)] = values[i]
            front.append(i)
    return np.array(front, dtype=np.int64)


def hypervolume(values: np.ndarray, reference: ArrayLike) -> float:
    """Return the area dominated by points of a plane, up to a reference point that should be worse than all."""
    right, top = np.asarray(reference, dtype=float)
    area = 0.0
    for i in non_dominated(values[:, 0], values[:, 1]):
        x, y = values[i]
        if x < right and y < top:
            area += (right - x) * (top - y)
            top = y
    return float(area)
