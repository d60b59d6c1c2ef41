"""A plan that is being changed: groups of layers in the order in which they run, and what stays on chip, by layer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator.metrics import Metric
from simulator.partition.intervals import Span
from simulator.partition.partition import Partition
from workloads.network.network import Network

Group = tuple[int, ...]
Stay = tuple[int, int, int]  #: tensor; layers whose steps are the first and the last in which it stays on chip


@dataclass(frozen=True)
class Draft:
    """A plan by layers, so that its steps can change: intervals of less than two steps keep nothing."""

    groups: tuple[Group, ...]  #: layer ids, ascending in each; the order is that of execution
    stays: frozenset[Stay]
    metric: Metric  #: by which tiles and loop orders are chosen
    spare: tuple[int, ...]  #: bytes that each leaves free for weights of later ones

    def spans(self) -> tuple[Span, ...]:
        """Return the kept intervals as a partition takes them; those of one tensor that meet are one."""
        step = {v: i for i, group in enumerate(self.groups) for v in group}
        found: list[Span] = []
        for tensor, start, end in sorted((u, step[first], step[last]) for u, first, last in self.stays):
            if found and found[-1][0] == tensor and start <= found[-1][2]:
                found[-1] = tensor, found[-1][1], max(end, found[-1][2])
            elif start < end:
                found.append((tensor, start, end))
        return tuple(found)

    def partition(self, network: Network) -> Partition:
        """Return the plan; raises PartitionError where it is not valid."""
        return Partition.from_ids(
            network, self.groups, self.metric, self.spans(), (), self.spare if any(self.spare) else ()
        )

    def with_groups(self, groups: tuple[Group, ...]) -> Draft:
        """Return the draft with other groups; those that were there leave as much free as before."""
        spare = dict(zip(self.groups, self.spare))
        return replace(self, groups=groups, spare=tuple(spare.get(group, 0) for group in groups))


def draft_of(network: Network, plan: Partition) -> Draft:
    """Return a plan as a draft; how several cores share its subgraphs is chosen again."""
    index = network.index
    stays = frozenset((each.tensor_id, index[each.from_layer], index[each.until_layer]) for each in plan.keep)
    return Draft(plan.subgraphs, stays, plan.metric, plan.spare or (0,) * len(plan))


def layerwise(network: Network, metric: Metric) -> Draft:
    """Return the draft in which every layer runs alone and every map stays on chip until its last reader has run."""
    count = len(network.layers)
    readers = [sorted(set(network.consumers[u])) for u in range(len(network.tensors))]
    stays = [(u, u if u < count else each[0], each[-1]) for u, each in enumerate(readers) if each]
    groups = tuple((v,) for v in range(count))
    return Draft(groups, frozenset(stays), metric, (0,) * count)
