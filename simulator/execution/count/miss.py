"""What an execution cannot do: a Miss names the tensor and the elements that are not where the plan puts them."""

from __future__ import annotations

Span = tuple[int, int]  #: from the first element to the one after the last


class Miss(Exception):
    """An element was read that its region does not hold, or the schedule broke a promise: names tensor and span."""
