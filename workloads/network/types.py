"""Numbers of a network: how many bits each kind has, which experts a layer has, what a model input is.

A position of C channels takes ceil(C bits / 8) bytes. The default is the paper's: INT8, and sums of 32 bits (Cocco,
Sec. 5.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from workloads.errors import NetworkError, shown

MAX_BITS = 32  #: of one number; our choice: that of a sum
MAX_EXPERTS = 2**16  #: our choice, far above any

TensorKind = Literal["input", "cache"]


@dataclass(frozen=True)
class Bits:
    """Bits of the numbers of a layer, or of all layers of a network.

    Raises
    ------
    NetworkError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> from workloads import Bits
    >>> Bits(weights=4)
    Bits(weights=4, activations=8, cache=8, sums=32)
    >>> Bits(weights=64)
    Traceback (most recent call last):
    workloads.errors.NetworkError: bits have weights 64; it must be an integer from 1 to 32
    """

    weights: int = 8
    activations: int = 8
    cache: int = 8  #: of rows that are appended to a cache, and of the cache
    sums: int = 32  #: of what is not added up yet

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            check_bits(f"bits have {name}", value)

    def to_json(self) -> dict[str, int]:
        """Return the fields that are not those of the paper."""
        return {name: value for name, value in asdict(self).items() if value != getattr(INT8, name)}


def check_bits(what: str, value: object) -> None:
    """Raise NetworkError unless a value is a number of bits."""
    if type(value) is not int or not 1 <= value <= MAX_BITS:
        raise NetworkError(f"{what} {shown(value)}; it must be an integer from 1 to {MAX_BITS}")


def bits_of(content: object, default: Bits | None = None) -> Bits:
    """Return the bits that a mapping says, the others as by default; raises NetworkError."""
    known = asdict(default or INT8)
    if not isinstance(content, Mapping):
        raise NetworkError(f"bits are {shown(content)}; it must be a mapping of {', '.join(known)}")
    for name in content:
        if name not in known:
            raise NetworkError(f"bits have {shown(name)}; known are {', '.join(known)}")
    return Bits(**known | dict(content))


INT8 = Bits()


def row_bytes(channels: int, bits: int) -> int:
    """Return the bytes of so many channels of one position.

    Examples
    --------
    >>> row_bytes(3, 4), row_bytes(8, 16)
    (2, 16)
    """
    return -(-channels * bits // 8)


@dataclass(frozen=True)
class Experts:
    """Of a fully connected layer with several experts: how many there are, take part for a token, and are in use.

    Examples
    --------
    Of 8 experts 2 for each token, 4 tokens are expected to use 6: 8 (1 - (1 - 2/8)^4) = 5.5, rounded up.

    >>> from workloads import Experts
    >>> Experts.expected(8, 2, tokens=4)
    Experts(count=8, active=2, used=6)
    """

    count: int
    active: int  #: for each token
    used: int  #: for all tokens: whose weights are loaded

    @staticmethod
    def expected(count: int, active: int, tokens: int) -> Experts:
        """Return the experts that so many tokens are expected to use, routed uniformly (our choice), rounded up."""
        check_experts("experts", Experts(count, active, active))
        left = (count - active) ** tokens  # of count ** tokens: an expert that no token takes
        return Experts(count, active, count - count * left // count**tokens)


def check_experts(name: str, experts: object) -> None:
    """Raise NetworkError unless the numbers are sane."""
    if not isinstance(experts, Experts):
        raise NetworkError(f"layer {name!r} has experts {shown(experts)}; it must be None or Experts")
    least, rule = 1, "integers with 1 <= active <= used <= count <= 2**16"
    for value in (experts.active, experts.used, experts.count):
        if type(value) is not int or not least <= value <= MAX_EXPERTS:
            raise NetworkError(
                f"layer {name!r} has experts {experts.count}, {experts.active} active, {experts.used} used; "
                f"they must be {rule}"
            )
        least = value
