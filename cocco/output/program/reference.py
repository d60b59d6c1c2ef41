"""The outputs that a program must give: the judge's operators in bytes, layer by layer on whole maps.

The judge's numbers stand in for real ones; here they are residues of a prime that an element has room for. Products are
those of matrices, and softmax and norms those of all channels of a head, as the judge has them where it runs loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from cocco.output.program.text import heads_of, is_transposed
from simulator.execution.count.miss import Span
from simulator.execution.value.arithmetic import Arithmetic, Block, Read, ReadWhole
from workloads.network.layers.attention import keys_and_values, steps_of
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import NORM_OPS
from workloads.network.network import Network

PRIMES = {8: 251, 16: 65521}  #: the largest below 2**bits


def numbers(count: int) -> np.ndarray:
    """Return the first numbers of the sequence from which a program fills weights and inputs."""
    i: np.ndarray = np.arange(count, dtype=np.uint32)
    i = (i ^ (i >> 16)) * np.uint32(0x7FEB352D)
    i = (i ^ (i >> 15)) * np.uint32(0x846CA68B)
    return i ^ (i >> 16)


class ByteArithmetic(Arithmetic):
    """The judge's operators with all channels, weights from the sequence, and real products and norms."""

    def __init__(self, network: Network, batch: int) -> None:
        network = network.in_batch(batch)
        self.bits = network.tensors[0].bits
        super().__init__(network, prime=PRIMES[self.bits])
        self.powers = np.array([pow(3, i, self.prime) for i in range(self.prime)])
        self.batch, end, element = batch, 0, self.bits // 8
        sequence = numbers(network.weight_bytes // element + batch * sum(each.elements for each in network.inputs))
        for v, layer in enumerate(network.layers):
            if v in self.weights:
                width, depth = layer.channels // layer.groups, layer.in_channels // layer.groups
                found = 1 + sequence[end : end + layer.channels * prod(layer.kernel) * depth].astype(np.int64) % 7
                found = found.reshape(layer.channels, *layer.kernel, depth).transpose(0, 3, 1, 2)
                self.weights[v] = np.zeros((layer.channels, layer.in_channels, *layer.kernel))  # sums below 2**53
                for k in range(0, layer.channels, width):
                    first = k // width * depth
                    self.weights[v][k : k + width, first : first + depth] = found[k : k + width]
                end += layer.weight_bytes // element  # of experts those that take part come first
        self.sequence = sequence[end:].astype(np.int64) % self.prime

    def sample(self, number: int) -> dict[int, Block]:
        """Return the model inputs of a sample by tensor id."""
        found, end = dict[int, Block](), 0
        for j, tensor in enumerate(self.network.inputs):
            first = end + number * tensor.elements
            values = self.sequence[first : first + tensor.elements]
            found[len(self.network.layers) + j] = values.reshape(tensor.height, tensor.width, -1).transpose(2, 0, 1)
            end += self.batch * tensor.elements
        return found

    def outputs(self) -> bytes:
        """Return the outputs of all samples, one tensor behind the other, as the program writes them."""
        runs = [self.run_layers(self.sample(number)) for number in range(self.batch)]
        maps = [run[v].transpose(1, 2, 0) for v in self.network.outputs for run in runs]
        return b"".join(each.astype(f"<u{self.bits // 8}").tobytes() for each in maps)

    def block(self, v: int, rows: Span, columns: Span, read: Read, whole: ReadWhole, *leave: object) -> Block:
        """Return rows x columns of layer v's output."""
        layer, operands = self.network.layers[v], self.network.operands[v]
        if layer.op == "rearrange":
            flat = np.concatenate([whole(u).transpose(1, 2, 0).reshape(-1) for u in operands])
            made = np.resize(flat[::-1], (layer.height, layer.width, layer.channels)).transpose(2, 0, 1)
            return made[:, slice(*rows), slice(*columns)]
        if layer.op == "matmul":
            left = whole(operands[0]) if 0 in layer.whole else read(operands[0], rows, columns)
            return self._product(layer, left, [whole(u) for u in operands[1:]], is_transposed(self.network, v))
        if layer.op == "attention":
            first, _, last = steps_of(layer)
            keys, values = keys_and_values([whole(u) for u in operands])
            scores = self._product(first, read(operands[0], rows, columns), keys, True)
            return self._product(last, self._normalized("softmax", scores, layer.groups), values, False)
        if layer.op in NORM_OPS or layer.op == "lrn":
            return self._normalized(layer.op, read(operands[0], rows, columns), heads_of(self.network, v))
        return super().block(v, rows, columns, read, whole)

    def _product(self, layer: Layer, left: Block, seconds: Sequence[Block], is_turned: bool) -> Block:
        """Return the product of each head with that of the second operand, which several may share."""
        maps = [each.reshape(layer.second_heads, -1, each[0].size) for each in seconds]
        second = np.concatenate(maps, axis=2)  # heads, channels, rows
        second = second.repeat(layer.groups // layer.second_heads, axis=0)
        matrices = second if not is_turned else second.transpose(0, 2, 1)
        pairs = zip(matrices, np.split(left, layer.groups))
        return np.concatenate([np.tensordot(one, part, axes=1) for one, part in pairs]) % self.prime

    def _normalized(self, op: str, values: Block, heads: int) -> Block:
        """Return softmax, norm or local response normalization of the channels of each position, head by head."""
        return np.concatenate([self._of_head(op, part) for part in np.split(values, heads)]) % self.prime

    def _of_head(self, op: str, values: Block) -> Block:
        total = values.sum(axis=0) % self.prime
        if op == "softmax":
            powers = self.powers[values.max(axis=0) - values]
            return powers * (powers.sum(axis=0) % self.prime)
        return values * total - ((values**2).sum(axis=0) % self.prime if op == "layernorm" else 0)
