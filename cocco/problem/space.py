"""The memories to choose from: capacity candidates of one core (Cocco, Sec. 5.3.1; docs/model.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from simulator.sizes import MAX_CAPACITY
from simulator.technology import KiB

MAX_CANDIDATES = 2**16  #: per buffer; our choice: far more than anybody builds, and a step of 0.002 % of the range
ROUND_BITS = 4  #: binary digits of round sizes: eight to each doubling; our choice: within 6 % of any size


def round_sizes(low: int, high: int) -> Iterator[int]:
    """Yield the sizes from low to high that have four binary digits, then zeros: eight to each doubling.

    Examples
    --------
    >>> [size // 1024 for size in round_sizes(30 * 1024, 80 * 1024)]
    [30, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80]
    """
    for zeros in range(max(0, low.bit_length() - ROUND_BITS), max(0, high.bit_length() - ROUND_BITS) + 1):
        yield from (i << zeros for i in range(2 ** (ROUND_BITS - 1), 2**ROUND_BITS) if low <= i << zeros <= high)


@dataclass(frozen=True)
class Range:
    """Capacities low, low + step, ... up to high, of one core, and round sizes beyond.

    Parameters
    ----------
    low, high, step
        Bytes; high is a candidate if the steps meet it.
    least, most
        The first and the last candidate, where there are some below low and above high: round sizes (`round_sizes`).
    extends
        Whether a search for one memory goes on beyond an end at which its answer lies.

    Raises
    ------
    ValueError
        Names the field, the rule and the value.

    Examples
    --------
    >>> Range(1024, 4096, 1024).candidates
    (1024, 2048, 3072, 4096)
    >>> Range(1024, 2048, 1024, least=800, most=2600).candidates
    (800, 832, 896, 960, 1024, 2048, 2304, 2560, 2600)
    """

    low: int
    high: int
    step: int
    least: int | None = None
    most: int | None = None
    extends: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high", "step", "least", "most"):
            value = getattr(self, name)
            if value is None and name in ("least", "most"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CAPACITY:
                raise ValueError(f"range {name} must be an integer from 1 to {MAX_CAPACITY} bytes, got {value!r}")
        if self.low > self.high:
            raise ValueError(f"range low must be at most high, got low={self.low} and high={self.high} bytes")
        if (self.least or 0) >= self.low or (self.most or MAX_CAPACITY + 1) <= self.high:
            raise ValueError(
                f"range least and most must lie beyond low and high, got {self.least} and {self.most} bytes"
            )
        count = (self.high - self.low) // self.step + 1
        if count > MAX_CANDIDATES:
            raise ValueError(
                f"a range has at most {MAX_CANDIDATES} candidates, got {count} with step={self.step} bytes"
            )

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """The capacities in ascending order, bytes."""
        steps = range(self.low, self.high + 1, self.step)
        below = () if self.least is None else (self.least, *round_sizes(self.least + 1, self.low - 1))
        above = () if self.most is None else (*round_sizes(steps[-1] + 1, self.most - 1), self.most)
        return (*below, *steps, *above)

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without what is left at its default."""
        return {
            each.name: value for each in fields(Range)
            if (value := getattr(self, each.name)) is not each.default
        }  # fmt: skip


@dataclass(frozen=True)
class SharedBuffer(Range):
    """One buffer for activations and weights; by default the paper's 128..3072 KB in steps of 64 KB (Sec. 5.3.1).

    Examples
    --------
    >>> len(SharedBuffer().candidates), SharedBuffer().candidates[0]
    (47, 131072)
    """

    low: int = 128 * KiB
    high: int = 3072 * KiB
    step: int = 64 * KiB

    @property
    def ranges(self) -> dict[str, Range]:
        """The range by the name that the buffer has in an Accelerator."""
        return {"shared_buffer": self}

    @property
    def buffers(self) -> dict[str, tuple[int, ...]]:
        """The candidates by the name that the buffer has in an Accelerator."""
        return {"shared_buffer": self.candidates}


@dataclass(frozen=True)
class SeparateBuffers:
    """A global buffer (activations) and a weight buffer; by default the paper's candidates.

    Global buffer 128..2048 KB in steps of 64 KB, weight buffer 144..2304 KB in steps of 72 KB (Sec. 5.3.1).

    Examples
    --------
    >>> {name: len(sizes) for name, sizes in SeparateBuffers().buffers.items()}
    {'global_buffer': 31, 'weight_buffer': 31}
    """

    global_buffer: Range = field(default_factory=lambda: Range(128 * KiB, 2048 * KiB, 64 * KiB))
    weight_buffer: Range = field(default_factory=lambda: Range(144 * KiB, 2304 * KiB, 72 * KiB))

    def __post_init__(self) -> None:
        for name in ("global_buffer", "weight_buffer"):
            value = getattr(self, name)
            if not isinstance(value, Range):
                raise ValueError(f"{name} must be a Range(low, high, step) of bytes, got {value!r}")

    @property
    def ranges(self) -> dict[str, Range]:
        """The ranges by the name that each buffer has in an Accelerator."""
        return {"global_buffer": self.global_buffer, "weight_buffer": self.weight_buffer}

    @property
    def buffers(self) -> dict[str, tuple[int, ...]]:
        """The candidates by the name that the buffer has in an Accelerator."""
        return {"global_buffer": self.global_buffer.candidates, "weight_buffer": self.weight_buffer.candidates}


Space = SharedBuffer | SeparateBuffers


def space_of(ranges: Mapping[str, Range]) -> Space:
    """Return the space of these ranges by buffer."""
    if "shared_buffer" not in ranges:
        return SeparateBuffers(**ranges)
    found = ranges["shared_buffer"]
    return SharedBuffer(**{each.name: getattr(found, each.name) for each in fields(Range)})


def extending(space: Space) -> Space:
    """Return a space whose ranges go on where the answer lies at an end."""
    return space_of({name: replace(each, extends=True) for name, each in space.ranges.items()})
