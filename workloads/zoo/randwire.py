"""RandWire (Xie et al., 2019): stages of 32 nodes wired by Watts-Strogatz graphs WS(32, 4, 0.75), at 224x224.

randwire_a: small regime, 78 channels, 0.58 GMAC, 5.6 M parameters; randwire_b: regular regime, 109 channels,
4.0 GMAC, 31.9 M. A node is a 3x3 separable convolution; several inputs are summed first (the learnt weights of that
sum are scalars: free). Edges run from the lower node to the higher. A node without a predecessor reads the stage's
input with stride 2; the nodes without a successor are averaged into the stage's output, one sum.
"""

from __future__ import annotations

import random

from workloads.errors import NetworkError, shown
from workloads.network.builder import Builder
from workloads.network.network import Network

NODES, NEIGHBOURS, REWIRE = 32, 4, 0.75  #: N, K, P of the Watts-Strogatz graphs
FEATURES = 1280  #: of the 1x1 convolution before the classifier


def randwire_a(seed: int = 0) -> Network:
    """Return the small regime: conv1 and conv2 are plain, conv3 to conv5 random stages of C, 2C and 4C channels."""
    b, x = _start("randwire_a", 39, seed)
    x = b.conv("conv2", x, 78, kernel=3, stride=2, padding=1)
    for stage, channels in ((3, 78), (4, 156), (5, 312)):
        x = _stage(b, f"s{stage}", x, channels, NODES, _wiring(NODES, seed, stage))
    return _finish(b, x)


def randwire_b(seed: int = 0) -> Network:
    """Return the regular regime: conv2 to conv5 are random stages of C (16 nodes), 2C, 4C and 8C channels."""
    b, x = _start("randwire_b", 54, seed)
    for stage, channels in ((2, 109), (3, 218), (4, 436), (5, 872)):
        nodes = NODES // 2 if stage == 2 else NODES
        x = _stage(b, f"s{stage}", x, channels, nodes, _wiring(nodes, seed, stage))
    return _finish(b, x)


def _start(name: str, channels: int, seed: int) -> tuple[Builder, str]:
    if type(seed) is not int:
        raise NetworkError(f"{name} has seed {shown(seed)}; it must be an integer")
    b = Builder(name)
    return b, b.conv("conv1", b.input("image", 224, 224, 3), channels, kernel=3, stride=2, padding=1)


def _finish(b: Builder, x: str) -> Network:
    x = b.conv("conv6", x, FEATURES)
    b.fc("fc", b.global_avgpool("pool", x), 1000)
    return b.build()


def _wiring(nodes: int, seed: int, stage: int) -> list[tuple[int, int]]:
    """Edges (lower, higher) of a connected Watts-Strogatz graph, its own for each seed and stage."""
    rng = random.Random(f"randwire {seed} {stage}")
    while True:
        edges = _watts_strogatz(nodes, rng)
        reached = {0}
        while more := {node for edge in edges if not reached.isdisjoint(edge) for node in edge} - reached:
            reached |= more
        if len(reached) == nodes:
            return sorted(edges)


def _watts_strogatz(nodes: int, rng: random.Random) -> set[tuple[int, int]]:
    """A ring of nodes joined with their nearest; some edges get a new end, where there is no edge yet."""
    ring = [(u, (u + step) % nodes) for step in range(1, NEIGHBOURS // 2 + 1) for u in range(nodes)]
    edges = {(min(edge), max(edge)) for edge in ring}
    for u, v in ring:
        if rng.random() < REWIRE:
            while (w := rng.choice(range(nodes))) == u or (min(u, w), max(u, w)) in edges:
                pass
            edges.remove((min(u, v), max(u, v)))
            edges.add((min(u, w), max(u, w)))
    return edges


def _stage(b: Builder, name: str, x: str, channels: int, nodes: int, edges: list[tuple[int, int]]) -> str:
    """A random stage; halves the map."""
    outputs: list[str] = []
    for node in range(nodes):
        sources = [outputs[low] for low, high in edges if high == node]
        outputs.append(
            b.separable(f"{name}n{node:02d}", _sum(b, f"{name}n{node:02d}_add", sources or [x]), channels,
                        stride=1 if sources else 2, padding=(1, 1, 1, 1))
        )  # fmt: skip
    followed = {low for low, _ in edges}
    return _sum(b, f"{name}_out", [output for node, output in enumerate(outputs) if node not in followed])


def _sum(b: Builder, name: str, sources: list[str]) -> str:
    return sources[0] if len(sources) == 1 else b.add(name, sources)
