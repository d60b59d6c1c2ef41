"""Integer arithmetic of the model: unbounded here, in 64 bits in compiled text (integers.pxd)."""

from __future__ import annotations

import math

from workloads.network.layers.types import row_bytes

__all__ = ["FAR", "FITS", "LIMIT", "OVERFLOW", "SHORT", "ceil_div", "floor_div", "gcd", "lcm", "product", "row_bytes"]

FITS, SHORT, OVERFLOW = range(3)  #: how a compiled part answers
FAR = math.inf  #: what a position may not exceed, 2^40 in compiled text: it is multiplied by strides without a check
LIMIT = math.inf  #: what a count may not exceed; the compiled text answers OVERFLOW above 2^60
gcd, lcm = math.gcd, math.lcm


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up, for b > 0."""
    return -(-a // b)


def floor_div(a: int, b: int) -> int:
    """Return a / b rounded down, for b > 0: `//` in compiled text rounds towards zero."""
    return a // b


def product(a: int, b: int) -> int:
    """Return a b; more than LIMIT where it is more than that, so that one comparison finds an overflow."""
    return a * b
