"""Figure 4 of the paper by hand, and both ways executed: position by position, on maps of booleans."""

from __future__ import annotations

import numpy as np
import pytest

import workloads
from simulator.model.subgraph.production import Flow, Span, consumed, produced
from workloads import Builder, Network


def executed(network: Network, layers: list[int], there: dict[int, np.ndarray], v: int) -> np.ndarray:
    """Return which outputs of a layer can be made: all positions of their windows are there, or padding."""
    layer = network.layers[v]
    made = np.ones((layer.height, layer.width), bool)
    for i, j in np.ndindex(made.shape):
        for u in network.operands[v]:
            for di in range(0, layer.reach[0], layer.dilation[0]):
                for dj in range(0, layer.reach[1], layer.dilation[1]):
                    a = i * layer.stride[0] - layer.padding[0] + di
                    b = j * layer.stride[1] - layer.padding[1] + dj
                    if 0 <= a < there[u].shape[0] and 0 <= b < there[u].shape[1]:
                        made[i, j] &= there[u][a, b]
    return made


def area(shape: tuple[int, int], spans: tuple[Span, Span]) -> np.ndarray:
    found = np.zeros(shape, bool)
    (top, bottom), (left, right) = spans
    found[top : bottom + 1, left : right + 1] = True
    return found


def shape_of(network: Network, u: int) -> tuple[int, int]:
    return network.tensors[u].height, network.tensors[u].width


def check(network: Network, layers: list[int], rows: Span, columns: Span) -> tuple[Flow, Flow]:
    """Execute both: produced is exactly what can be made, consumed suffices, and nothing of it can be left out."""
    on_demand = consumed(network, layers, rows, columns)
    eager = produced(network, layers, on_demand.spans)
    there = {u: area(shape_of(network, u), spans) for u, spans in on_demand.spans.items() if u not in layers}
    asked = dict(there)
    for v in sorted(layers):
        there[v] = executed(network, layers, there, v)
        assert (there[v] == area(shape_of(network, v), eager.spans[v])).all()
        wanted = area(shape_of(network, v), on_demand.spans[v])
        assert (executed(network, layers, asked, v) >= wanted).all(), "all that is asked for can be made"
        asked[v] = wanted
        assert (there[v] >= wanted).all()
    assert on_demand.bytes <= eager.bytes
    return on_demand, eager


def test_two_branches_of_unlike_kernels_by_hand():
    """As in Figure 4, for one output: Node(2) makes 3 x 3 one is taken, from 5 x 5 of Node(1) for 3 x 3."""
    b = Builder("figure4")
    x = b.input("x", 9, 9, 1)
    b.add("n3", [b.conv("n0", x, 1, 5, padding=2), b.conv("n2", b.conv("n1", x, 1, 1), 1, 3, padding=1)])
    network = b.build()
    ids = {layer.name: i for i, layer in enumerate(network.layers)}
    on_demand, eager = check(network, list(range(4)), (4, 4), (4, 4))
    size = lambda flow, name: tuple(last - first + 1 for first, last in flow.spans[ids[name]])  # noqa: E731
    assert [size(on_demand, name) for name in ("n0", "n1", "n2", "n3")] == [(1, 1), (3, 3), (1, 1), (1, 1)]
    assert [size(eager, name) for name in ("n0", "n1", "n2", "n3")] == [(1, 1), (5, 5), (3, 3), (1, 1)]
    assert (on_demand.bytes, eager.bytes) == (25 + 1 + 9 + 1 + 1, 25 + 1 + 25 + 9 + 1)


@pytest.mark.parametrize(("rows", "columns"), [((0, 3), (3, 4)), ((2, 5), (0, 6)), ((3, 3), (6, 6))])
def test_blocks_of_googlenet_are_executed_as_they_are_counted(rows: Span, columns: Span):
    network = workloads.load("googlenet")
    ids = [i for i, layer in enumerate(network.layers) if layer.name.startswith("inception_5a")]
    assert len(ids) >= 7
    on_demand, eager = check(network, ids, rows, columns)
    assert eager.bytes > on_demand.bytes or rows == (0, 6)


def test_a_layer_that_reads_all_of_an_operand_is_refused():
    network = workloads.load("gpt")
    (first, *_) = [i for i, layer in enumerate(network.layers) if layer.whole]
    with pytest.raises(ValueError, match="has no tile that production and consumption share"):
        consumed(network, [first], (0, 0), (0, 0))
