"""Layers that follow a dense one, with values: each chunk of a tile of results passes through them, or is stored."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator.execution.count.layer_facts import bits_of, row_bytes, size_bytes
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.following import Following, Operand, gate_bytes, mixes
from simulator.execution.layer.common.held import LOST, at
from simulator.execution.layer.common.problem import Values, join
from simulator.execution.layer.common.statistics import POWERS

Where = tuple[range, range, range, range]  #: samples, channels, rows, columns


class Epilogue:
    """The maps that following layers read, and those that they make.

    maps: values of some of the operands; others are drawn.
    """

    def __init__(self, following: Following, maps: Mapping[int, Values], batch: int, seed: int) -> None:
        self.following, self.network, self.batch = following, following.network, batch
        rng, layer = np.random.default_rng(seed + 1), self.network.layers[following.first]
        self.maps = dict(maps)
        for operand in following.operands:
            tensor = self.network.tensors[operand.tensor]
            drawn = rng.integers(1, 100, (batch, tensor.channels, tensor.height, tensor.width))
            self.maps.setdefault(operand.tensor, drawn)
        self.given = {u: values.copy() for u, values in self.maps.items()}  #: as they were before any loop ran
        self.shape = batch, layer.channels, layer.height, layer.width
        self.made = {v: np.full(self.shape, LOST) for v in (*following.stored, following.last)}
        self.waiting: list[tuple[Where, Values]] = []  #: stored channels of a tile that wait for the others

    def begin(self, chip: Chip) -> None:
        """Load what is broadcast, for all samples."""
        for u in self._gates():
            chip.activations.take(f"operand {u}", self.batch * gate_bytes(self.network, u, chip.word))
            chip.load_input(self.batch * size_bytes(self.network, u))

    def end(self, chip: Chip) -> None:
        """Give it up."""
        for u in self._gates():
            chip.activations.give(f"operand {u}", chip.activations.used[f"operand {u}"])

    def together(self, outputs: range) -> range:
        """Return the channels whose results lie in their region while these are made."""
        return range(self.shape[1]) if self.following.is_mixed else outputs

    def finish(self, chip: Chip, where: Where, values: Values, stage: int = 0) -> None:
        """Pass results through the layers of a stage, then store them, or deliver those of the last one."""
        following, before = self.following, (*self.following.stored, self.following.last)
        for v in following.stages[stage]:
            values = _apply(self.network.layers[v].op, [values, *self._pieces(chip, v, where)])
        self._store(chip, before[stage], where, values)
        if before[stage] == following.last:
            return
        if mixes(self.network, following.stages[stage + 1][0]):
            self.waiting.append((where, values))
            where, values = self._complete(where)
        if values.size:
            chip.global_buffer += self._bytes(before[stage], where)
            self.finish(chip, where, values, stage + 1)

    def _store(self, chip: Chip, v: int, where: Where, values: Values) -> None:
        """Write results where they lie, from where they go to DRAM if they leave."""
        place = self.made[v][at(*where)]
        if (place != LOST).any():
            raise Miss(f"samples, channels, rows and columns {where} are made twice")
        place[...] = values
        if self.following.place is not None and self.following.place[1] in (v, self.following.last):
            self.maps[self.following.place[0]][at(*where)] = values
        size = self._bytes(v, where)
        if v == self.following.last:
            chip.store(values.size, size)
            return
        chip.write(size)
        if v in self.following.leaving:
            chip.ema_outputs += size
            chip.global_buffer += size

    def _bytes(self, u: int, where: Where) -> int:
        """Return the bytes of some numbers of a map."""
        samples, channels, rows, columns = map(len, where)
        return samples * rows * columns * row_bytes(channels, bits_of(self.network, u))

    def _complete(self, where: Where) -> tuple[Where, Values]:
        """Return all channels of a tile once they are there; nothing before."""
        samples, _, *tile = where
        if any((other[0], *other[2:]) != (samples, *tile) for other, _ in self.waiting):
            raise Miss(f"results of {tile} take the place of channels that wait for others")
        parts = sorted(self.waiting, key=lambda part: part[0][1].start)
        if sum(len(each[1]) for each, _ in parts) < self.shape[1]:
            return where, np.zeros(0)
        self.waiting = []
        return (samples, range(self.shape[1]), where[2], where[3]), np.concatenate([part for _, part in parts], axis=1)

    def _pieces(self, chip: Chip, v: int, where: Where) -> list[Values]:
        """Return what else a layer reads for these results: of a gate, or word by word of a map that passes."""
        found = []
        for operand in self._operands(v):
            values, size = self.maps[operand.tensor], self._bytes(operand.tensor, where)
            spans = [each if count > 1 else range(1) for each, count in zip(where, values.shape)]
            spans[:2] = where[:2]
            if operand.comes and not operand.is_gate:
                chip.activations.hold("operands that pass", chip.rounded(1, bits_of(self.network, operand.tensor)))
                chip.load_input(size)
            chip.global_buffer += size
            found.append(np.broadcast_to(values[at(*spans)], [len(each) for each in where]))
        return found

    def _operands(self, v: int) -> list[Operand]:
        return [operand for operand in self.following.operands if operand.reader == v]

    def _gates(self) -> list[int]:
        return [operand.tensor for operand in self.following.operands if operand.is_gate and operand.comes]

    def check(self, results: Values) -> None:
        """Raise Miss unless every map is what following the results of the first layer gives, computed directly."""
        for stage, made in zip(self.following.stages, (*self.following.stored, self.following.last)):
            for v in stage:
                others = [np.broadcast_to(self.given[each.tensor], self.shape) for each in self._operands(v)]
                results = _apply(self.network.layers[v].op, [results, *others])
            if (self.made[made] != results).any():
                raise Miss(f"tensor {self.network.layers[made].name!r}: differs from the output computed directly")


def _apply(op: str, parts: list[Values]) -> Values:
    """Return the result of an element-wise layer; a softmax is of residues."""
    return join(op, [part % len(POWERS) for part in parts] if op == "softmax" else parts)
