"""The outputs that a program must give: the judge's operators in bytes, layer by layer on whole maps.

The judge's numbers stand in for real ones; here they are residues of 251, so that each fits a byte. Products are those
of matrices, and softmax and norms those of all channels of a head, as the judge has them where it runs loops.
"""

from __future__ import annotations

import numpy as np

from cocco.output.program.text import heads_of, is_transposed
from simulator.execution.count.miss import Span
from simulator.execution.value.arithmetic import Arithmetic, Block, Read, ReadWhole
from workloads.network.layers.ops import NORM_OPS
from workloads.network.network import Network

PRIME = 251  #: the largest prime below 2**8
POWERS = np.array([pow(3, i, PRIME) for i in range(PRIME)])


def numbers(count: int) -> np.ndarray:
    """Return the first numbers of the sequence from which a program fills weights and inputs."""
    i: np.ndarray = np.arange(count, dtype=np.uint32)
    i = (i ^ (i >> 16)) * np.uint32(0x7FEB352D)
    i = (i ^ (i >> 15)) * np.uint32(0x846CA68B)
    return i ^ (i >> 16)


class ByteArithmetic(Arithmetic):
    """The judge's operators with all channels, weights from the sequence, and real products and norms."""

    def __init__(self, network: Network, batch: int) -> None:
        super().__init__(network, prime=PRIME)
        self.batch, end = batch, 0
        sequence = numbers(network.weight_bytes + batch * sum(t.size_bytes for t in network.inputs))
        for v, layer in enumerate(network.layers):
            if v in self.weights:
                width, depth = layer.channels // layer.groups, layer.in_channels // layer.groups
                found = 1 + sequence[end : end + layer.weight_bytes].astype(np.int64) % 7
                found = found.reshape(layer.channels, *layer.kernel, depth).transpose(0, 3, 1, 2)
                self.weights[v] = np.zeros((layer.channels, layer.in_channels, *layer.kernel))  # sums below 2**53
                for k in range(0, layer.channels, width):
                    first = k // width * depth
                    self.weights[v][k : k + width, first : first + depth] = found[k : k + width]
                end += layer.weight_bytes
        self.sequence = sequence[end:].astype(np.int64) % PRIME

    def sample(self, number: int) -> dict[int, Block]:
        """Return the model inputs of a sample by tensor id."""
        found, end = dict[int, Block](), 0
        for j, tensor in enumerate(self.network.inputs):
            first = end + number * tensor.size_bytes
            values = self.sequence[first : first + tensor.size_bytes]
            found[len(self.network.layers) + j] = values.reshape(tensor.height, tensor.width, -1).transpose(2, 0, 1)
            end += self.batch * tensor.size_bytes
        return found

    def outputs(self) -> bytes:
        """Return the outputs of all samples, one tensor behind the other, as the program writes them."""
        runs = [self.run_layers(self.sample(number)) for number in range(self.batch)]
        maps = [run[v].transpose(1, 2, 0) for v in self.network.outputs for run in runs]
        return b"".join(each.astype(np.uint8).tobytes() for each in maps)

    def block(self, v: int, rows: Span, columns: Span, read: Read, whole: ReadWhole) -> Block:
        """Return rows x columns of layer v's output."""
        layer, operands = self.network.layers[v], self.network.operands[v]
        if layer.op == "rearrange":
            flat = np.concatenate([whole(u).transpose(1, 2, 0).reshape(-1) for u in operands])
            made = np.resize(flat[::-1], (layer.height, layer.width, layer.channels)).transpose(2, 0, 1)
            return made[:, slice(*rows), slice(*columns)]
        if layer.op == "matmul":
            left = whole(operands[0]) if 0 in layer.whole else read(operands[0], rows, columns)
            maps = [whole(u).reshape(layer.second_heads, -1, whole(u)[0].size) for u in operands[1:]]
            second = np.concatenate(maps, axis=2)  # heads, channels, rows
            second = second.repeat(layer.groups // layer.second_heads, axis=0)
            matrices = second if not is_transposed(self.network, v) else second.transpose(0, 2, 1)
            pairs = zip(matrices, np.split(left, layer.groups))
            return np.concatenate([np.tensordot(one, part, axes=1) for one, part in pairs]) % PRIME
        if layer.op in NORM_OPS or layer.op == "lrn":
            parts = np.split(read(operands[0], rows, columns), heads_of(self.network, v))
            return np.concatenate([_normalized(layer.op, part) for part in parts]) % PRIME
        return super().block(v, rows, columns, read, whole)


def _normalized(op: str, values: Block) -> Block:
    """Return softmax, norm or local response normalization of the channels of each position."""
    total = values.sum(axis=0)
    if op == "softmax":
        most = values.max(axis=0)
        return POWERS[most - values] * (POWERS[most - values].sum(axis=0) % PRIME)
    return values * total - ((values**2).sum(axis=0) if op == "layernorm" else 0)
