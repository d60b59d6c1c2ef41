"""A mapping: how the loops of a layer are cut into factors, spread over lanes and laid into the levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simulator.mapping.shapes import LOOPS


class LevelLoops(NamedTuple):
    """What one level does: lanes below it that work at once, and its own loops.

    Examples
    --------
    >>> from simulator.mapping import LevelLoops
    >>> LevelLoops(spatial={"K": 8}, temporal=(("P", 14), ("Q", 7))).spatial
    {'K': 8}
    """

    spatial: Mapping[str, int]  #: lanes by dimension
    temporal: tuple[tuple[str, int], ...]  #: (dimension, factor), innermost first


@dataclass(frozen=True)
class LayerMapping:
    """The loops of every level, the innermost level first; factors of 1 may be left out.

    Examples
    --------
    >>> from simulator.mapping import LayerMapping
    >>> mapping = LayerMapping.of([({"K": 4}, [("P", 2)]), ({}, [("Q", 3)])])
    >>> print(mapping.to_text(["buffer", "DRAM"]))
    # DRAM
    for q in 0..2
      # buffer
      for p in 0..1
        parallel for k in 0..3
          multiply, accumulate
    """

    levels: tuple[LevelLoops, ...]

    @classmethod
    def of(cls, levels: Sequence[tuple[Mapping[str, int], Sequence[tuple[str, int]]]]) -> LayerMapping:
        """Return the mapping of ({dimension: spatial factor}, [(dimension, temporal factor), ...]) per level."""
        return cls(tuple(LevelLoops(dict(each[0]), tuple((d, f) for d, f in each[1])) for each in levels))

    def with_groups(self, groups: int) -> LayerMapping:
        """Return the mapping with so many groups as its outermost loop, if it has none over them."""
        if groups == 1 or any("G" in each.spatial or "G" in dict(each.temporal) for each in self.levels):
            return self
        last = self.levels[-1]
        return LayerMapping((*self.levels[:-1], last._replace(temporal=(*last.temporal, ("G", groups)))))

    def to_json(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return plain data, level by level under these names."""
        return [
            {"level": name, "spatial": dict(each.spatial), "temporal": [list(loop) for loop in each.temporal]}
            for name, each in zip(names, self.levels)
        ]

    def to_text(self, names: Sequence[str]) -> str:
        """Return the loop nest for people, the outermost loop first."""
        lines, depth = [], 0
        for name, each in reversed(list(zip(names, self.levels))):
            lines.append(f"{'  ' * depth}# {name}")
            loops = [("for", d, f) for d, f in reversed(each.temporal)]
            loops += [("parallel for", d, each.spatial[d]) for d in LOOPS if d in each.spatial]
            for word, dimension, factor in loops:
                if factor > 1:
                    lines.append(f"{'  ' * depth}{word} {dimension.lower()} in 0..{factor - 1}")
                    depth += 1
        return "\n".join([*lines, f"{'  ' * depth}multiply, accumulate"])
