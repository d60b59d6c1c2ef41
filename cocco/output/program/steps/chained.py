"""What a chain holds, and which rows its tiles make: from the windows of its layers."""

from __future__ import annotations

from cocco.output.program.layout import weights_id
from cocco.output.program.steps.pieces import Pieces
from simulator.model.nests.chain import Links, links_of
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import JOIN_OPS

Span = tuple[int, int]


def rows_of_tiles(
    links: Links, layers: tuple[Layer, ...], extents: dict[int, int], tile: int, stays: bool
) -> list[dict[str, Span]]:
    """Return for each tile the rows of D and E that it makes, and those of x that are there from now on (first, stop).

    stays: rows that were made stay for later tiles, so each is made once; else each tile makes all that it reads.
    """
    height, found = layers[links.closer].height, list[dict[str, Span]]()
    done = {"d": 0, "e": 0}
    for first in range(0, height, tile):
        stop = min(first + tile, height)
        made = met(layers[links.closer], (first, stop), extents[links.closer])
        rows = {}
        if links.middle is not None:
            rows["d"] = made = _new(made, done["d"], stays)
            done["d"] = max(done["d"], made[1])
            made = met(layers[links.middle], made, extents[links.middle])
        rows["e"] = made = _new(made, done["e"], stays)
        done["e"] = max(done["e"], made[1])
        x = met(layers[links.openers[0]], made, extents[links.openers[0]])
        if links.residual is not None:
            x = (min(x[0], first), max(x[1], stop)) if x[0] < x[1] else (first, stop)
        found.append(rows | {"x": x})
    low, high = extents[links.openers[0]], 0
    for rows in reversed(found):
        low = min(low, rows["x"][0]) if rows["x"][0] < rows["x"][1] else low
        rows["x"] = (low, rows["x"][1])
    for rows in found:
        high = max(high, rows["x"][1])
        rows["x"] = (min(rows["x"][0], high), high)
    return found


def met(layer: Layer, rows: Span, extent: int) -> Span:
    """Return the input rows that these rows of a layer meet; (0, 0) if there are none."""
    if rows[0] >= rows[1]:
        return 0, 0
    first = max(0, rows[0] * layer.stride[0] - layer.padding[0])
    stop = min(extent, (rows[1] - 1) * layer.stride[0] - layer.padding[0] + layer.reach[0])
    return (first, stop) if first < stop else (0, 0)


def _new(rows: Span, done: int, stays: bool) -> Span:
    """Return those of the rows that are not there yet."""
    if not stays:
        return rows
    first = max(rows[0], done)
    return (first, rows[1]) if first < rows[1] else (0, 0)


class ChainPieces(Pieces):
    """The regions of x, E, D and the result, and the weights: those that stay, and one slot for all others."""

    def _links(self) -> tuple[int, tuple[int, ...]]:
        layers, network = self.stage.layers, self.layout.network
        found = (links_of(network, layers[:count]) for count in range(len(layers), 1, -1))
        self.links = next(each for each in found if each is not None)
        return self.links.closer, layers[layers.index(self.links.closer) + 1 :]

    def _input(self) -> None:
        x, links, network = self.links.x, self.links, self.layout.network
        self.is_cut = self.plan.order == "TS" and self.plan.kept < network.tensors[x].channels
        if self.plan.order == "TS" and self.layout.kept(self.stage, x) is None:
            self.slices_of = x
            self._define(x, self._up(self.plan.kept), self.place(x))
        elif self.layout.kept(self.stage, x) is None:
            self.coming[self._define(x, self._up(network.tensors[x].channels), self.place(x))] = x
        for u in dict.fromkeys((links.opened[-1], links.opened[-1] if links.middle is None else links.middle)):
            name = self._define(u, self._up(self.plan.chunk), self.place(u))
            self.begin.append(f"ring(&{name});")

    @property
    def stay(self) -> int:
        """How many middle channels have weights that stay over a tile."""
        return {"MT": self.plan.chunk, "TS": 0}.get(self.plan.order, self.plan.kept)

    def _weights(self) -> None:
        links, offset, at = self.links, 0, self.layout.at(weights_id(self.stage.number))
        self.weights, self.dense = self._name("slot"), [v for v in links.layers if self.layout.layer(v).has_weights]
        for v in self.dense if self.stay else ():
            layer = self.layout.layer(v)
            self.lines.append(f"static struct weights {self.staying(v)} = {{.at = {at} + {offset}}};")
            self.begin.append(f"forget(&{self.staying(v)});")
            taps, inputs = layer.kernel[0] * layer.kernel[1], layer.in_channels // layer.groups
            offset += self.stay * taps * (layer.channels if v == links.closer else inputs)
        if self.stay < self.middle and self.plan.order != "MT":
            self.lines.append(f"static struct weights {self.weights} = {{.at = {at} + {offset}}};")

    @property
    def middle(self) -> int:
        """How many middle channels there are."""
        return self.layout.layer(self.links.closer).in_channels

    def staying(self, v: int) -> str:
        """Return the name of the weights of a layer that stay."""
        return f"s{self.stage.number}_{self.layout.names[v]}_weights"

    def _output(self) -> None:
        self.sums, self.out = self.place(self.result, self.links.x), self.layout.region_name(self.stage, self.result)
        self.has_sums = self.plan.chunk < self.middle
        if self.is_kept:
            return
        closer = self.layout.layer(self.links.closer)
        cell = self._up(self.plan.inner)
        if any(self.layout.layer(v).op not in JOIN_OPS for v in self.after):
            cell = self._up(closer.channels)
        if self.has_sums:  # results lie where their sums lay
            cell = closer.channels if self.plan.order == "MT" else self.plan.slice
        self.lines.append(self.layout.region(self.out, self.result, self.sums, self.regions[self.result], cell))
        self.begin.append(f"drop(&{self.out});")
