"""What may be chosen about the program: weights of the objectives and the rules of the published code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

HALOS = ("corrected", "published", "exact")
STRIDE_RULES = ("per_factor", "once")
AIMS = ("weighted", "balance")


class Weights(NamedTuple):
    """Of the three objectives, as in the published code."""

    compute: float = 10.0
    utilization: float = 0.1
    traffic: float = 1.0


@dataclass(frozen=True)
class Rules:
    """halo: "corrected"; "published", R and S only at DRAM; "exact", the words of an input tile and no proxy.

    stride_rule: "per_factor" charges the stride for every factor of P and Q, as published; "once" for each of them.
    multicast: lanes that do not walk through a tensor cost it nothing. ranks: the order of the loops at the outermost
    level of the chip is decided; without, no loop is there. split: the shares of I and O there are decided. aim:
    "weighted", the weighted sum of the three objectives; "balance", |traffic - compute|, weighted (CoSA, Sec. III-D).
    Raises ValueError that names the rule and the value.
    """

    halo: Literal["corrected", "published", "exact"] = "corrected"
    stride_rule: Literal["per_factor", "once"] = "per_factor"
    multicast: bool = False
    ranks: bool = True
    split: bool = False
    weights: Weights = Weights()
    aim: Literal["weighted", "balance"] = "weighted"

    def total(self, parts: Mapping[str, float]) -> float:
        """Return the objective of these parts, in bits.

        >>> parts = {"compute": 2.0, "utilization": 30.0, "traffic": 26.0}
        >>> Rules().total(parts), Rules(aim="balance").total(parts)
        (43.0, 6.0)
        """
        compute, traffic = self.weights.compute * parts["compute"], self.weights.traffic * parts["traffic"]
        if self.aim == "balance":
            return abs(traffic - compute)
        return compute - self.weights.utilization * parts["utilization"] + traffic

    def __post_init__(self) -> None:
        if self.halo not in HALOS:
            raise ValueError(f"halo must be one of {', '.join(HALOS)}, got {self.halo!r}")
        if self.stride_rule not in STRIDE_RULES:
            raise ValueError(f"stride_rule must be one of {', '.join(STRIDE_RULES)}, got {self.stride_rule!r}")
        if self.aim not in AIMS:
            raise ValueError(f"aim must be one of {', '.join(AIMS)}, got {self.aim!r}")
        for name, weight in zip(Weights._fields, self.weights):
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < math.inf:
                raise ValueError(f"the weight of {name} must be a finite number of at least 0, got {weight!r}")

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"weights": self.weights._asdict()}


def factors_of(extent: int) -> dict[int, int]:
    """Return the prime factors of an extent and how often each occurs.

    >>> factors_of(112)
    {2: 4, 7: 1}
    """
    found: dict[int, int] = {}
    prime = 2
    while prime * prime <= extent:
        while extent % prime == 0:
            found[prime] = found.get(prime, 0) + 1
            extent //= prime
        prime += 1
    if extent > 1:
        found[extent] = found.get(extent, 0) + 1
    return found
