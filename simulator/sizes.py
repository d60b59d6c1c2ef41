"""Sizes as people write them: '1344KB', '1.5MB', 65536, and as they are printed: '1,344.0 KB', '65536 bytes'.

1 KB = 1 KiB = 1024 bytes.
"""

from __future__ import annotations

import re
from fractions import Fraction

from simulator.units import TRAFFIC

MAX_CAPACITY = 2**50  #: bytes; our choice: above any memory, far below where byte counts would lose precision
UNITS = {"": 1, "BYTES": 1} | {name: int(size) for name, size in TRAFFIC.sizes.items()}
UNITS |= {f"{name[0]}IB": UNITS[name] for name in ("KB", "MB", "GB")}

_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?|[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,20})?) ?([A-Za-z]*)")


def parse_size(text: str, is_whole: bool = True) -> int:
    """Return bytes: '1344KB' is 1344 * 1024, '1.5MB' is 1572864, '65536' is itself.

    is_whole: whether a size must be whole bytes; otherwise it is rounded down. Raises a ValueError that names the rule
    and the value.
    """
    match = _SIZE.fullmatch(text)
    if not match or match[2].upper() not in UNITS:
        raise ValueError(
            f"a size is a whole number of bytes, or a number with KB, MB or GB (1 KB = 1024 bytes); got {text!r}"
        )
    found = Fraction(match[1].replace(",", "")) * UNITS[match[2].upper()]
    if "." in match[1] and not match[2]:
        raise ValueError(f"a size without a unit is a whole number of bytes; got {text!r}")
    if is_whole and found.denominator != 1:
        raise ValueError(f"a size must come to a whole number of bytes; {text!r} is {float(found):.10g} bytes")
    if not 1 <= found <= MAX_CAPACITY:
        raise ValueError(f"a size must be at least 1 byte and at most {MAX_CAPACITY}; got {text!r}")
    return int(found)
