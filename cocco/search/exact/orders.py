"""Orders in which the subgraphs of a partition may run: the order decides how long tensors must stay."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.search.exact.question import Group
from simulator.partition.order import order_subgraphs
from workloads.network.network import Network


def several_orders(network: Network, groups: Sequence[Group], whole: Sequence[int]) -> list[list[Group]]:
    """Return three orders: that of `evaluate`, depth first, and with few bytes alive; whole: bytes per tensor."""
    canonical = [tuple(group) for group in order_subgraphs(network, groups)]
    graph = _Quotient(network, canonical)
    orders = [list(range(len(canonical))), graph.depth_first(), graph.few_alive(whole)]
    return [[canonical[i] for i in order] for order in orders]


class _Quotient:
    """Subgraphs 0, 1, ... and which of them read what."""

    def __init__(self, network: Network, groups: Sequence[Group]) -> None:
        of = {v: i for i, group in enumerate(groups) for v in group}
        self.count, layers = len(groups), len(network.layers)
        self.producers = [
            sorted({of[p] for v in group for p in network.producers[v] if p < layers} - {i})
            for i, group in enumerate(groups)
        ]
        #: per subgraph the tensors that it makes for others, each with the subgraphs that read it
        self.made: list[list[tuple[int, set[int]]]] = [[] for _ in groups]
        self.read: list[list[tuple[int, int]]] = [[] for _ in groups]  # tensor, subgraph that makes it
        for i, group in enumerate(groups):
            for v in group:
                readers = {of[w] for w in network.consumers[v]} - {i}
                if readers:
                    self.made[i].append((v, readers))
                for reader in sorted(readers):
                    self.read[reader].append((v, i))

    def depth_first(self) -> list[int]:
        """Return the order in which each subgraph follows what it needs as late as possible, from the outputs back."""
        read = {p for producers in self.producers for p in producers}
        done, order = set[int](), list[int]()
        stack = [(i, False) for i in reversed(range(self.count)) if i not in read]
        while stack:
            i, is_ready = stack.pop()
            if i in done:
                continue
            if is_ready:
                done.add(i)
                order.append(i)
                continue
            stack.append((i, True))
            stack += [(p, False) for p in reversed(self.producers[i]) if p not in done]
        return order

    def few_alive(self, whole: Sequence[int]) -> list[int]:
        """Return the order that runs next the subgraph that leaves the fewest bytes alive; of equals the first."""
        unread = [{v: len(readers) for v, readers in made} for made in self.made]
        missing = [len(producers) for producers in self.producers]
        following: list[list[int]] = [[] for _ in missing]
        for i, producers in enumerate(self.producers):
            for p in producers:
                following[p].append(i)
        ready, order = {i for i, count in enumerate(missing) if not count}, list[int]()
        while ready:
            chosen = min(ready, key=lambda i: (self._growth(i, unread, whole), i))
            ready.remove(chosen)
            order.append(chosen)
            for v, maker in self.read[chosen]:
                unread[maker][v] -= 1
            for i in following[chosen]:
                missing[i] -= 1
                if not missing[i]:
                    ready.add(i)
        return order

    def _growth(self, i: int, unread: list[dict[int, int]], whole: Sequence[int]) -> int:
        """Return the bytes that a subgraph makes for others, less those that it reads for the last time."""
        bytes_ = 0
        for v, _ in self.made[i]:
            bytes_ += whole[v]
        for v, maker in self.read[i]:
            if unread[maker][v] == 1:
                bytes_ -= whole[v]
        return bytes_
