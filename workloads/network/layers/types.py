"""Number types of a network: how many bits each kind has, which experts a layer has, what a model input is.

A position of C channels takes ceil(C bits / 8) bytes. The default is the paper's: INT8, and sums of 32 bits (Cocco,
Sec. 5.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from workloads.errors import NetworkError, shown

MAX_BITS = 32  #: of one number; our choice: that of a sum
MAX_EXPERTS = 2**16  #: our choice, far above any

TensorKind = Literal["input", "cache"]
NumberKind = Literal["int", "fp8", "bf16", "fp16", "fp32"]
#: floating-point numbers by name: bits, and those of the significand, the hidden one among them. fp8 is E4M3 (OCP 8-bit
#: Floating Point Specification, 2023), fp16 and fp32 IEEE 754, bf16 fp32 cut to 16 bits
FLOATS: dict[str, tuple[int, int]] = {"fp8": (8, 4), "bf16": (16, 8), "fp16": (16, 11), "fp32": (32, 24)}


class Number(NamedTuple):
    """A number type: its bits, and whether it is an integer or which floating-point format.

    Examples
    --------
    >>> Number(8).name, Number(16, "bf16").name, Number(4).significand, Number(16, "bf16").significand
    ('int8', 'bf16', 4, 8)
    """

    bits: int = 8
    kind: NumberKind = "int"

    @property
    def name(self) -> str:
        """int8, int4, ..., or that of a floating-point number."""
        return f"int{self.bits}" if self.kind == "int" else self.kind

    @property
    def significand(self) -> int:
        """Bits that a multiplier multiplies; for an integer, all."""
        return self.bits if self.kind == "int" else FLOATS[self.kind][1]


KINDS = ("weights", "activations", "cache", "sums")  #: of numbers of a layer


@dataclass(frozen=True, repr=False)
class Bits:
    """Bits of the numbers of a layer, or of all layers of a network.

    Raises
    ------
    NetworkError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> from workloads import Bits
    >>> from workloads.network.layers.types import bits_of
    >>> Bits(weights=4)
    Bits(weights=4, activations=8, cache=8, sums=32)
    >>> bits_of({"weights": "fp8", "activations": "bf16", "cache": "fp8"})
    Bits(weights='fp8', activations='bf16', cache='fp8', sums=32)
    >>> Bits(weights=64)
    Traceback (most recent call last):
    workloads.errors.NetworkError: bits have weights 64; it must be an integer from 1 to 32
    """

    weights: int = 8
    activations: int = 8
    cache: int = 8  #: of rows that are appended to a cache, and of the cache
    sums: int = 32  #: of what is not added up yet
    weights_as: NumberKind = "int"  #: integers, or floating-point numbers of so many bits
    activations_as: NumberKind = "int"
    cache_as: NumberKind = "int"

    def __post_init__(self) -> None:
        for name in KINDS:
            check_number(f"bits have {name}", getattr(self, name), getattr(self, f"{name}_as", "int"))

    def __repr__(self) -> str:
        return f"Bits({', '.join(f'{name}={self.said(name)!r}' for name in KINDS)})"

    @property
    def of_weights(self) -> Number:
        """The number type of a weight."""
        return Number(self.weights, self.weights_as)

    @property
    def of_activations(self) -> Number:
        """The number type of an element of a map."""
        return Number(self.activations, self.activations_as)

    @property
    def of_cache(self) -> Number:
        """The number type of an element of a cache."""
        return Number(self.cache, self.cache_as)

    def said(self, name: str) -> int | str:
        """Return the bits of a kind of numbers, or the name of the format if they are floating-point."""
        kind: str = getattr(self, f"{name}_as", "int")
        bits: int = getattr(self, name)
        return bits if kind == "int" else kind

    def to_json(self) -> dict[str, int | str]:
        """Return the fields that differ from the paper's."""
        return {name: self.said(name) for name in KINDS if self.said(name) != getattr(INT8, name)}


def check_bits(what: str, value: object) -> None:
    """Raise NetworkError unless a value is a number of bits."""
    if type(value) is not int or not 1 <= value <= MAX_BITS:
        raise NetworkError(f"{what} {shown(value)}; it must be an integer from 1 to {MAX_BITS}")


def check_number(what: str, bits: object, kind: object) -> None:
    """Raise NetworkError unless these are bits that match the kind of number."""
    check_bits(what, bits)
    if kind != "int" and (not isinstance(kind, str) or kind not in FLOATS):
        raise NetworkError(f"{what} {shown(kind)}; known are {', '.join(('int', *FLOATS))}")
    if kind != "int" and FLOATS[str(kind)][0] != bits:
        raise NetworkError(f"{what} {bits} bits as {kind}; it must be {FLOATS[str(kind)][0]}")


def bits_of(content: object, default: Bits | None = None) -> Bits:
    """Return the bits given in a mapping, with defaults for the others; raises NetworkError.

    A value is the number of bits of integers, or the name of a floating-point format: {"weights": 4, "cache": "fp8"}.
    """
    known = asdict(default or INT8)
    if not isinstance(content, Mapping):
        raise NetworkError(f"bits are {shown(content)}; it must be a mapping of {', '.join(KINDS)}")
    for name, value in content.items():
        if name not in KINDS:
            raise NetworkError(f"bits have {shown(name)}; known are {', '.join(KINDS)}")
        if isinstance(value, str) and (value not in FLOATS or name == "sums"):
            rule = "" if name == "sums" else f", or {', '.join(FLOATS)}"
            raise NetworkError(f"bits have {name} {shown(value)}; it must be an integer from 1 to {MAX_BITS}{rule}")
        known[name] = FLOATS[value][0] if isinstance(value, str) else value
        if name != "sums":
            known[f"{name}_as"] = value if isinstance(value, str) else "int"
    return Bits(**known)


INT8 = Bits()


def row_bytes(channels: int, bits: int) -> int:
    """Return the bytes of this many channels of one position.

    Examples
    --------
    >>> row_bytes(3, 4), row_bytes(8, 16)
    (2, 16)
    """
    return -(-channels * bits // 8)


@dataclass(frozen=True)
class Experts:
    """The experts of a fully connected layer: how many there are, and how many take part for a token.

    Examples
    --------
    With 8 experts, 2 for each token, 4 tokens are expected to use 6: 8 (1 - (1 - 2/8)^4) = 5.5, rounded up.

    >>> from workloads import Experts
    >>> Experts(8, 2).in_use(tokens=4), Experts(8, 2, used=3).in_use(tokens=4)
    (6, 3)
    """

    count: int
    active: int  #: for each token
    used: int | None = None  #: for all tokens, where it is given: whose weights are loaded

    def in_use(self, tokens: int) -> int:
        """Return how many are used, and thus loaded: as given, or as expected if tokens are routed uniformly.

        Our choice: the expectation n (1 - (1 - k/n)^t), rounded up.
        """
        if self.used is not None:
            return self.used
        return _expected(self.count, self.active, tokens)

    def said(self, tokens: int) -> str:
        """Return how many are in use, and whether that is what this many tokens are expected to use.

        Examples
        --------
        >>> Experts(8, 2).said(4)
        '6 of 8 in use, as 4 tokens of 2 each are expected to, routed uniformly (our choice): 8 (1 - (1 - 2/8)^4)'
        >>> Experts(8, 2, 3).said(4)
        '3 of 8 in use, as given'
        """
        first = f"{self.in_use(tokens)} of {self.count} in use"
        if self.used is not None:
            return f"{first}, as given"
        return (
            f"{first}, as {tokens:,} token{'s' * (tokens > 1)} of {self.active} each are expected to, routed uniformly "
            f"(our choice): {self.count} (1 - (1 - {self.active}/{self.count})^{tokens})"
        )


@lru_cache
def _expected(count: int, active: int, tokens: int) -> int:
    if tokens * active >= count * count.bit_length():  # (1 - k/n)^t < exp(-k t / n) < 1/n
        return count
    left = (count - active) ** tokens  # of count ** tokens: an expert that no token takes
    return count - count * left // count**tokens


def check_experts(name: str, experts: object) -> None:
    """Raise NetworkError unless the numbers are sane."""
    if not isinstance(experts, Experts):
        raise NetworkError(f"layer {name!r} has experts {shown(experts)}; it must be None or Experts")
    least, rule = 1, "integers with 1 <= active <= used <= count <= 2**16"
    used = experts.active if experts.used is None else experts.used
    for value in (experts.active, used, experts.count):
        if type(value) is not int or not least <= value <= MAX_EXPERTS:
            raise NetworkError(
                f"layer {name!r} has experts {experts.count}, {experts.active} active, {used} used; they must be {rule}"
            )
        least = value
