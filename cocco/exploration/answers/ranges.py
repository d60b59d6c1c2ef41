"""Ranges: which sizes cost nearly as little as the recommended one, as far as proven, and which terms decide.

Each candidate has a lower bound of its cost, and some have the cost of a known plan. So a size is certainly within a
margin of the recommendation's cost (by a known plan), certainly outside it (by the bound), or open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cocco.effort.shown import Shown

if TYPE_CHECKING:
    import pandas

    from simulator.partition.partition import Partition

Kind = Literal["within", "open", "outside"]
RANGE_KINDS: tuple[Kind, ...] = ("within", "open", "outside")
MARGINS = (0.01, 0.03)  #: of the cost; our choice: what a layout or another compiler version may change
LISTED = 4096  #: sizes up to which all are listed, so that a page has the whole front; our choice: a megabyte


class Terms(NamedTuple):
    """Energy of a plan in pJ, split into the terms that decide about a size; the weighted sum over the networks."""

    dram: float  #: with its background
    sram: float  #: reads and writes of the buffers
    leakage: float  #: of buffers and logic of all cores
    compute: float  #: operations, the crossbar and idle MACs


@dataclass(frozen=True)
class Candidate:
    """A size that may be chosen, with a lower bound of its cost and the cost of the best known plan.

    buffers: bytes of one core by column, such as shared_buffer_bytes. cost: of the best plan known there, by its bytes
    (no addresses were sought); None if none is known. value: Formula 1 of that plan. plans: that plan, for each
    network, if more than its price is known.
    """

    buffers: tuple[tuple[str, int], ...]
    bound: float
    area_mm2: float  #: of all cores
    leakage_mw: float
    cost: float | None = None
    value: float | None = None
    terms: Terms | None = None  #: where that plan was priced part by part
    plans: tuple[Partition, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def size_bytes(self) -> int:
        """Bytes of all buffers of one core."""
        return sum(size for _, size in self.buffers)

    def kind(self, most: float) -> Kind:
        """Return "within" if this size certainly costs at most so much, "outside" if certainly more, else "open"."""
        if self.cost is not None and self.cost <= most:
            return "within"
        return "outside" if self.bound > most else "open"

    def to_json(self) -> dict[str, Any]:
        """Return plain data; terms are named with their unit."""
        content: dict[str, Any] = dict(self.buffers)
        content |= {
            "bound": self.bound,
            "cost": self.cost,
            "value": self.value,
            "area_mm2": self.area_mm2,
            "leakage_mw": self.leakage_mw,
        }
        if self.terms is not None:
            content |= {f"{name}_pj": value for name, value in self.terms._asdict().items()}
        return content


class SizeBand(NamedTuple):
    """Neighbouring candidates of one buffer of the same kind."""

    low: int  #: bytes
    high: int
    kind: Kind


def band_edges(sizes: Sequence[int], band: SizeBand) -> tuple[float, float]:
    """Return where a band is drawn, in KB: halfway to the next sizes, so that a band of one size is visible."""
    first, last = sizes.index(band.low), sizes.index(band.high)
    before = sizes[first - 1] if first else band.low
    after = sizes[last + 1] if last + 1 < len(sizes) else band.high
    return (band.low + before) / 2048, (band.high + after) / 2048


@dataclass(frozen=True, repr=False)
class Ranges(Shown):
    """The sizes around a recommendation, ascending, and which of them certainly cost as little within a margin.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(512 * 2**10, 1536 * 2**10, 256 * 2**10)
    >>> ranges = cocco.explore(workloads.load("vgg16"), space=space, samples=500).ranges
    >>> ranges
    Ranges(cost=3.95168e+07, sizes=5, within='1 % 3, 3 % 5', open=0)
    >>> [(band.low // 2**10, band.high // 2**10, band.kind) for band in ranges.bands(0.01)]
    [(512, 512, 'outside'), (768, 1280, 'within'), (1536, 1536, 'outside')]
    """

    cost: float  #: of the recommendation
    candidates: tuple[Candidate, ...]
    others: int = 0  #: candidates outside the widest margin that are not among them

    def most(self, margin: float) -> float:
        """Return the recommendation's cost plus a margin of it: the most that a size within the margin costs."""
        return self.cost * (1 + margin)

    def of_kind(self, kind: Kind, margin: float) -> tuple[Candidate, ...]:
        """Return the candidates that are certainly within a margin, certainly outside, or open."""
        return tuple(each for each in self.candidates if each.kind(self.most(margin)) == kind)

    def count(self, kind: Kind, margin: float) -> int:
        """Return how many candidates are of a kind."""
        return len(self.of_kind(kind, margin)) + (self.others if kind == "outside" else 0)

    @property
    def is_one_buffer(self) -> bool:
        """Whether sizes lie on one axis: one shared buffer."""
        return len(self.candidates[0].buffers) == 1

    def bands(self, margin: float) -> tuple[SizeBand, ...]:
        """Return the sizes of the only buffer, ascending; neighbouring sizes of one kind form a band."""
        if not self.is_one_buffer:
            raise ValueError("sizes of two buffers lie in no band; use of_kind")
        found: list[SizeBand] = []
        for each in self.candidates:
            size, kind = each.size_bytes, each.kind(self.most(margin))
            if found and found[-1].kind == kind:
                found[-1] = found[-1]._replace(high=size)
            else:
                found.append(SizeBand(size, size, kind))
        return tuple(found)

    def facts(self) -> dict[str, object]:
        """Return how many sizes there are, and how many are certainly within each margin."""
        within = ", ".join(f"{100 * margin:g} % {self.count('within', margin)}" for margin in MARGINS)
        counted: dict[str, object] = {"sizes": len(self.candidates) + self.others, "within": within}
        counted["open"] = self.count("open", MARGINS[-1])
        return {"cost": self.cost} | counted

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each candidate: its buffers, bound, cost, terms, area and leakage."""
        import pandas

        return pandas.DataFrame([each.to_json() for each in self.candidates])

    def to_json(self) -> dict[str, Any]:
        """Return the margins with the number of candidates of each kind, and the candidates.

        If there are more than 4096 sizes, only those not outside the widest margin are listed.
        """
        margins = []
        for margin in MARGINS:
            content: dict[str, Any] = {"percent": 100 * margin}
            content |= {kind: self.count(kind, margin) for kind in RANGE_KINDS}
            if self.is_one_buffer:
                content["bands"] = [band._asdict() for band in self.bands(margin) if band.kind != "outside"]
            margins.append(content)
        return {"cost": self.cost, "margins": margins, "sizes": [each.to_json() for each in self._listed()]}

    def _listed(self) -> Sequence[Candidate]:
        if len(self.candidates) <= LISTED:
            return self.candidates
        most = self.most(MARGINS[-1])
        return [each for each in self.candidates if each.kind(most) != "outside"]
