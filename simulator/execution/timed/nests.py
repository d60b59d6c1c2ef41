"""The loops of an attention, of an attention with its projections, and of a chain of layers, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import product

from simulator.execution.count import layer_facts as facts
from simulator.execution.count.part import Part
from simulator.execution.layer.chained.links import links_of
from simulator.execution.layer.chained.shape import ChainShape, needs_of, rows_met
from simulator.execution.layer.common.folded import Rows, rows_within
from simulator.execution.layer.common.following import Following
from simulator.execution.layer.common.plan import LayerPlan, cuts, key_blocks
from simulator.execution.layer.counted.epilogue import count_gates
from simulator.execution.layer.heads.found import Projection, find_heads, steps_of
from simulator.execution.timed.meter import Meter, Step, follow
from workloads.network.network import Network


def attention_steps(
    network: Network, v: int, meter: Meter, plan: LayerPlan, batch: int, on_chip: Set[int], there: Rows
) -> Iterator[Step]:
    """TB: heads of samples; tiles of queries; blocks of keys and values, which come once where each tile has one."""
    layer, blocks_of = network.layers[v], key_blocks(network.layers[v], plan)
    query, *pair = (facts.tensor_of(network, u) for u in network.operands[v])
    width, made = query.channels // layer.groups, layer.channels // layer.groups
    tiles, is_single = product(blocks_of, cuts(layer.width, plan.tile[1])), max(map(len, blocks_of.values())) == 1
    turns = [(len(down) * len(across), blocks_of[down], block) for down, across in tiles for block in blocks_of[down]]
    for _ in range(batch * layer.groups):
        stop = 0  # of the keys that are there
        for area, blocks, block in turns:
            if block == blocks[0] and network.operands[v][0] not in on_chip:
                meter.load_input(area * facts.row_bytes(width, query.bits))
                meter.activations.hold("MAIN", area * meter.rounded(width, query.bits))
            for below, tensor in zip((0, layer.keys), pair):
                new = range(max(block.start, stop), block.stop) if is_single else block
                channels, span = tensor.channels // layer.groups, range(below + new.start, below + new.stop)
                count = len(new) - rows_within(there, span)
                meter.load_second(count * facts.row_bytes(channels, tensor.bits))
                meter.activations.hold("rows", count * meter.rounded(channels, tensor.bits))
            stop = block.stop
            if block == blocks[-1]:
                meter.hold_results(area * meter.rounded(made, facts.output_bits(layer)))
                meter.store(0, area * facts.row_bytes(made, facts.output_bits(layer)))
            yield meter.step(area * len(block))


def heads_steps(part: Part, plan: LayerPlan, batch: int, word: int) -> Iterator[Step]:
    """HP: samples; steps of heads of keys; heads of queries; tiles. What heads need comes with their first tile."""
    network, lies = part.network, part.lies
    nest = find_heads(network, part.layers)
    steps, context = steps_of(nest, network, plan), network.layers[nest.context]
    meter = Meter(word, nest.context not in lies.on_chip, nest.context in part.outputs)
    rows = {u: facts.tensor_of(network, u).height for u in nest.sources}

    def bring(u: int, count: int) -> None:
        meter.load_input(count * facts.position_bytes(network, u))
        meter.activations.hold("source", count * meter.rounded(network.tensors[u].channels, facts.bits_of(network, u)))

    def make(each: Projection, heads: int) -> int:
        """Load the weights of some heads, let their rows leave, and return the work."""
        inputs = facts.tensor_of(network, each.source).channels
        pieces = cuts(each.width, each.width if steps.passing else steps.inner)
        meter.load_weights(
            heads * sum(facts.loaded_bytes(network.layers[each.layer], inputs * len(outputs)) for outputs in pieces)
        )
        if each.layer in part.outputs:
            size = heads * rows[each.source] * facts.row_bytes(each.width, facts.bits_of(network, each.layer))
            meter.pass_output(size)
        return heads * rows[each.source] * inputs * each.width

    for _ in range(batch):
        meter.turn += not steps.passing
        for u in nest.sources:
            if u not in lies.on_chip:
                bring(u, min(steps.kept, rows[u]) if steps.passing else rows[u])
        for groups in steps.groups:
            work = 0
            for u in nest.sources if steps.passing else ():
                if u not in lies.on_chip:
                    bring(u, max(0, rows[u] - steps.kept))
            for place, each in enumerate(nest.made):
                if place or steps.passing:
                    work += make(each, nest.at_once(place, len(groups)))
            for _ in range(nest.at_once(0, len(groups))):
                if not steps.passing:
                    work += make(nest.made[0], 1)
                for band in steps.bands:
                    for tile in cuts(len(band), steps.tile):
                        size = len(tile) * facts.row_bytes(nest.made[2].width, facts.output_bits(context))
                        meter.hold_results(len(tile) * meter.rounded(nest.made[2].width, facts.output_bits(context)))
                        meter.store(0, size)
                        yield meter.step(work + len(tile) * nest.keys * (nest.made[0].width + nest.made[2].width))
                        work = 0


class _Chain:
    """The steps of a chain."""

    def __init__(self, network: Network, layers: list[int], meter: Meter, plan: LayerPlan, is_there: bool) -> None:
        self.links, self.meter, self.plan, self.is_there = links_of(network, layers), meter, plan, is_there
        self.shape = ChainShape(network, self.links)
        lined = self.shape.lined
        self.tiles = cuts(lined.closer[0].outputs, plan.tile[0])
        is_ring = plan.order in ("TW", "MT")
        self.needs = needs_of(lined, self.tiles, is_ring, self.links.residual is not None)
        wanted, seen, self.new = [need.x for need in self.needs], set[int](), list[int]()
        for need in wanted:
            self.new.append(len(need - seen))
            seen |= need
        self.met = [len(rows_met(lined.openers, need.e_made)) for need in self.needs]
        kept = plan.kept if plan.order in ("TM", "TW") else 0
        self.kept = min(kept, self.shape.middle)
        self.chunks = cuts(self.kept, plan.chunk)
        self.chunks += [
            range(self.kept + c.start, self.kept + c.stop) for c in cuts(self.shape.middle - self.kept, plan.chunk)
        ]
        self.slices = cuts(self.shape.outputs, plan.slice)
        self.cuts = cuts(self.shape.inputs, plan.kept) if plan.order == "TS" else [range(self.shape.inputs)]
        self.following: Following | None = None

    def bring(self, rows: int, channels: int) -> None:
        """Load rows of x, or of some of its channels."""
        if not self.is_there:
            shape = self.shape
            self.meter.load_input(rows * shape.width * facts.row_bytes(channels, shape.bits_x))
            self.meter.activations.hold("x", rows * shape.width * self.meter.rounded(channels, shape.bits_x))

    def load(self, v: int, outputs: int, inputs: int, size: int) -> None:
        """Load weights in pieces of so many outputs."""
        for piece in cuts(outputs, size):
            self.meter.load_weights(self.shape.weight_bytes(v, len(piece), inputs))

    def open(self, i: int, chunk: range, part: range, stays: bool) -> int:
        """Make a chunk of a tile of what is opened, from some inputs; return the work."""
        count, shape, rows = len(chunk), self.shape, len(self.needs[i].e_made)
        taps = 0
        for v in self.links.openers:
            layer = shape.layer(v)
            taps += layer.kernel[0] * layer.kernel[1]
            if rows and not stays:
                self.load(v, count, len(part), self.plan.apart)
        return rows * shape.e_width * count * len(part) * taps

    def close(self, i: int, chunk: range, outputs: range, stays: bool) -> int:
        """Make a chunk of a tile of the middle layer and add it to the sums; return the work."""
        count, shape, rows, work = len(chunk), self.shape, len(self.needs[i].d_made), 0
        if self.links.middle is not None:
            layer = shape.layer(self.links.middle)
            if rows and not stays and facts.has_weights(layer):
                self.load(self.links.middle, count, 1, count)
            taps = layer.kernel[0] * layer.kernel[1] if facts.has_weights(layer) else 1
            work += rows * shape.d_width * count * taps
        if not stays:
            self.load(self.links.closer, len(outputs), count, self.plan.inner)
        layer = shape.layer(self.links.closer)
        return work + self.positions(i) * count * len(outputs) * layer.kernel[0] * layer.kernel[1]

    def positions(self, i: int) -> int:
        """Positions of a tile."""
        return len(self.tiles[i]) * self.shape.out_width

    def deliver(self, i: int, outputs: range) -> None:
        """Store results of a slice of a tile."""
        shape, meter, positions, count = self.shape, self.meter, self.positions(i), len(outputs)
        bits = shape.bits_out
        if self.following is not None:
            follow(self.following, meter, positions, count)
            bits = facts.output_bits(self.following.network.layers[self.following.last])
        if self.links.residual is not None and self.plan.order == "TS" and not self.is_there:
            meter.pass_input(positions * facts.row_bytes(count, shape.bits_x))
        meter.hold_results(positions * meter.rounded(count, bits))
        meter.store(0, positions * facts.row_bytes(count, bits))


def chain_steps(
    network: Network,
    layers: list[int],
    meter: Meter,
    plan: LayerPlan,
    batch: int,
    is_there: bool,
    following: Following | None,
) -> Iterator[Step]:
    """TM, TW, TS: samples; tiles; slices; chunks; slices of x. MT: chunks; samples; tiles."""
    chain = _Chain(network, layers, meter, plan, is_there)
    if following is not None:
        chain.following = following
        count_gates(following, meter, batch)
    shape, every = chain.shape, range(len(chain.tiles))
    if plan.order == "MT":
        meter.turn = int(plan.mode == "whole")
        for chunk, sample, i in product(chain.chunks, range(batch), every):
            if (sample, i) == (0, 0):
                meter.load_weights(_chunk_bytes(shape, chunk))
            if plan.mode != "whole" or chunk == chain.chunks[0]:
                chain.bring(chain.new[i], shape.inputs)
            work = chain.open(i, chunk, range(shape.inputs), True)
            work += chain.close(i, chunk, range(shape.outputs), True)
            if chunk == chain.chunks[-1]:
                chain.deliver(i, range(shape.outputs))
            yield meter.step(work)
        return
    if chain.kept:
        meter.load_weights(shape.stay_bytes(chain.kept))
        meter.stay()
    for _, i in product(range(batch), every):
        if plan.order != "TS":
            chain.bring(chain.new[i], shape.inputs)
        for outputs, chunk, part in product(chain.slices, chain.chunks, chain.cuts):
            stays, is_last = chunk.start < chain.kept, part == chain.cuts[-1]
            if plan.order == "TS":
                chain.bring(chain.met[i], len(part))
            work = chain.open(i, chunk, part, stays)
            if is_last:
                work += chain.close(i, chunk, outputs, stays)
                if chunk == chain.chunks[-1]:
                    chain.deliver(i, outputs)
            yield meter.step(work)


def _chunk_bytes(shape: ChainShape, chunk: range) -> int:
    """Return the weights of a chunk, so that all chunks have those of all middle channels."""
    whole, middle = shape.stay_bytes(shape.middle), shape.middle
    return whole * chunk.stop // middle - whole * chunk.start // middle
