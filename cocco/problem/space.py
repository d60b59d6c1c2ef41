"""The memories to choose from: capacity candidates of one core (Cocco, Sec. 5.3.1; docs/model.md, section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from simulator.accelerator import MAX_CAPACITY
from simulator.technology import KiB

MAX_CANDIDATES = 2**16  #: per buffer; our choice: far more than anybody builds, and a step of 0.002 % of the range


@dataclass(frozen=True)
class Range:
    """Capacities low, low + step, ... up to high, of one core.

    Parameters
    ----------
    low, high, step
        Bytes; high is a candidate if the steps meet it.

    Raises
    ------
    ValueError
        Names the field, the rule and the value.

    Examples
    --------
    >>> Range(1024, 4096, 1024).candidates
    (1024, 2048, 3072, 4096)
    """

    low: int
    high: int
    step: int

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CAPACITY:
                raise ValueError(f"range {name} must be an integer from 1 to {MAX_CAPACITY} bytes, got {value!r}")
        if self.low > self.high:
            raise ValueError(f"range low must be at most high, got low={self.low} and high={self.high} bytes")
        count = (self.high - self.low) // self.step + 1
        if count > MAX_CANDIDATES:
            raise ValueError(
                f"a range has at most {MAX_CANDIDATES} candidates, got {count} with step={self.step} bytes"
            )

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """The capacities in ascending order, bytes."""
        return tuple(range(self.low, self.high + 1, self.step))


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
    def buffers(self) -> dict[str, tuple[int, ...]]:
        """The candidates by the name that the buffer has in an Accelerator."""
        return {"global_buffer": self.global_buffer.candidates, "weight_buffer": self.weight_buffer.candidates}


Space = SharedBuffer | SeparateBuffers
