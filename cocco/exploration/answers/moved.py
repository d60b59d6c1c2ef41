"""What was changed so that every region has an address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Moved:
    """One change that was made so that every region has an address."""

    network: str
    what: Literal["replanned", "reordered", "dropped", "shortened", "cut", "split", "resized"]
    tensor: str | None  #: that was kept; None where a subgraph was moved or split
    layer: str | None  #: the first of that subgraph
    text: str  #: a sentence

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of an element of "moved"."""
        return {"network": self.network, "what": self.what, "tensor": self.tensor, "layer": self.layer,
                "text": self.text}  # fmt: skip
