from collections.abc import Sequence

from simulator.model.layer.cheapest import Tiles
from simulator.model.layer.loops import LoopLayer

class LoopLayers:
    def __init__(self, layers: Sequence[LoopLayer], tiles: Tiles = "bands") -> None: ...
    def cheapest(
        self,
        layer: int,
        activation: int,
        weights: int | None,
        metric: str,
        dram: float,
        global_buffer: float,
        weight_buffer: float,
    ) -> tuple[str | int | tuple[int, int], ...] | None: ...
