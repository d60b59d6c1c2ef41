"""The answer of verify(): whether a partition ran as priced, with every number that was compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.execution.count.checks import Check

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Verification:
    """Whether the partition ran as claimed, with every number that was compared.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, KiB, Partition
    >>> from simulator.execution import verify
    >>> vgg = workloads.load("vgg16")
    >>> found = verify(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=512 * KiB))
    >>> found
    Verification(verified=True, 21 subgraphs, 26 numbers compared in total)
    >>> found.check("ema_bytes").status
    'equal'
    """

    verified: bool
    message: str  #: the first failure, empty where there is none
    notes: tuple[str, ...]  #: what was scaled down or left out
    subgraphs: int  #: executed
    checks: tuple[Check, ...] = ()  #: printed numbers next to counted ones, of the partition, then of each subgraph
    names: tuple[tuple[str, ...], ...] = ()  #: the layers of each subgraph

    def __repr__(self) -> str:
        said = f"{self.subgraphs} subgraphs, {len(self.totals())} numbers compared in total"
        return f"Verification(verified={self.verified}, {said}{f', {self.message!r}' if self.message else ''})"

    def totals(self) -> dict[str, Check]:
        """Return the checks of the whole partition by name."""
        return {each.name: each for each in self.checks if each.subgraph is None}

    def check(self, name: str, subgraph: int | None = None) -> Check:
        """Return the check of one number, of the partition or of a subgraph (its position); raises KeyError."""
        for each in self.checks:
            if (each.name, each.subgraph) == (name, subgraph):
                return each
        raise KeyError(f"no check of {name!r} of {'the partition' if subgraph is None else f'subgraph {subgraph}'}")

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per number, of the partition (no subgraph) and of each subgraph in execution order."""
        import pandas

        rows = [
            {
                "subgraph": each.subgraph,
                "layers": "" if each.subgraph is None else " ".join(self.names[each.subgraph]),
                **each.to_json(),
                "name": each.name,
                "error": each.error,
            }
            for each in self.checks
        ]
        columns = ["subgraph", "layers", "name", "claimed", "counted", "status", "error"]
        return pandas.DataFrame(rows, columns=columns).astype({"subgraph": "Int64"})

    def to_json(self) -> dict[str, Any]:
        """Return what --json prints: all checks of the partition, and those of subgraphs that are not equal."""
        apart: dict[int, dict[str, Any]] = {}
        for each in self.checks:
            if each.subgraph is not None and each.status in ("within", "different"):
                apart.setdefault(each.subgraph, {})[each.name] = each.to_json()
        return {
            "verified": self.verified,
            "checks": {name: each.to_json() for name, each in self.totals().items()},
            "subgraph_checks": [
                {"subgraph": i, "layers": list(self.names[i]), "checks": found} for i, found in sorted(apart.items())
            ],
        }
