"""Counter-based randomness: every child draws from its own stream, so no draw depends on another child's.

A stream is named by (seed, generation, child); its n-th draw is mix(key + n * GAMMA) in 64-bit arithmetic, which is
the generator SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014) started
at a key that is itself mixed from the name. Our choice: no state is shared, so the order in which children are made
cannot matter; integers only, so an engine in another language draws the same numbers to the last bit.
"""

from __future__ import annotations

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15  #: 2^64 divided by the golden ratio, odd
MAX_SEED = 2**64 - 1
ONE = 2**32  #: a probability of 1 as a threshold for `chance`
STEP_BITS = 16  #: fractional bits of the standard deviation in `normal_step`

# What stands in the place of the generation where draws belong to none: no search has so many generations
FOUNDERS = 2**40  #: greedy's noise, by island
POLISH, KICKS = 2**40 + 1, 2**40 + 2  #: orders of each round; what is taken apart when rounds gain nothing
CUTS = 2**40 + 3  #: subgraphs that are cut until regions have addresses, by cut
MOVED = 2**40 + 5  #: splits of the best plans in another memory
DIVIDED = 2**40 + 7  #: seeds of searches that share the samples, by search
GENES = 2**40 + 8  #: seeds of the genes of machines, and of the children on each machine
WALKS, STREAMS = 2**41, 2**32  #: blocks of walks of annealing, so many for each walk; WALKS - 1: the splits before one


def mix(value: int) -> int:
    """Return 64 bits that all depend on all 64 bits of value (the finaliser of SplitMix64)."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


class Stream:
    """The random numbers of one child of one generation."""

    __slots__ = ("_state",)

    def __init__(self, seed: int, generation: int, child: int) -> None:
        key = mix(seed + GAMMA & MASK)
        key = mix((key ^ generation) + GAMMA & MASK)
        self._state = mix((key ^ child) + GAMMA & MASK)

    def draw(self) -> int:
        """Return the next 64 bits."""
        self._state = state = self._state + GAMMA & MASK
        return mix(state)

    def below(self, count: int) -> int:
        """Return an integer from 0 to count - 1 (count <= 2^32): 32 bits times count, the high part."""
        return (self.draw() >> 32) * count >> 32

    def chance(self, threshold: int) -> bool:
        """Return True with probability threshold / 2^32."""
        return self.draw() >> 32 < threshold

    def normal_step(self, deviation: int) -> int:
        """Return a whole number, normal around 0 with a standard deviation of deviation / 2^16.

        The sum of 12 uniform numbers minus 6 has variance 1 and is near normal (Irwin-Hall); the halves of six
        draws serve as the 12. Our choice: it is exact in integers, which a logarithm is not.
        """
        total = -6 * ONE
        for _ in range(6):
            bits = self.draw()
            total += (bits >> 32) + (bits & ONE - 1)
        return total * deviation + (1 << 31 + STEP_BITS) >> 32 + STEP_BITS


def threshold(probability: float) -> int:
    """Return the probability as a threshold for `chance`."""
    return round(probability * ONE)


def check_seed(seed: object) -> None:
    """Raise ValueError if a seed is not an integer of 64 bits."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed must be an integer from 0 to {MAX_SEED}, got {seed!r}")
