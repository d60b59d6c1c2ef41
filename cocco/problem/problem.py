"""The problem of a search: its networks, the candidates of the memory, the objective. Checked once, then trusted.

Several networks form one disjoint union: the layers of each network follow those of the one before. A subgraph is
connected, so a partition of the union is a partition of each network, and operators need not know about networks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import Any, Unpack, get_args

from cocco.problem.buildable import buildable, within_tables
from cocco.problem.names import Count, Keep, Metric
from cocco.problem.objective import Objective
from cocco.problem.space import SeparateBuffers, SharedBuffer, Space, extending
from simulator.accelerator import Accelerator, Machine, MachineFields, machine_of
from simulator.connected import siblings
from simulator.evaluation import Evaluation, evaluate
from simulator.keywords import check_keywords
from simulator.metrics import DEFAULT_METRIC
from simulator.model.equivalence import Models
from simulator.model.pricing import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TILE_RULES, TileRule
from simulator.partition.partition import Partition, order_subgraphs
from workloads.network.network import Network


@dataclass(frozen=True)
class Problem:
    """The problem of one search. Layer ids are those of the union; a genome chooses the buffers with candidates.

    accelerator: the hardware if `buffers` is empty; else what all candidates share, with any capacities.
    buffers: name of the buffer in Accelerator -> candidates in bytes, ascending.
    """

    networks: tuple[Network, ...]
    accelerator: Accelerator
    buffers: dict[str, tuple[int, ...]]
    objective: Objective
    tile_rule: TileRule = "exact"
    chosen_by: Metric | None = None  #: by which tiles and loop orders are chosen; None: the metric of the objective
    keep: Keep = "none"  #: whether tensors may stay on chip between subgraphs
    space: Space | None = None  #: the ranges that the candidates are of

    def __post_init__(self) -> None:
        if not self.networks:
            raise ValueError("networks is empty; a search needs at least one network")
        for i, network in enumerate(self.networks):
            if not isinstance(network, Network):
                raise ValueError(f"networks must be Network objects (see workloads.load), got {network!r} at {i}")
        names = [network.name for network in self.networks]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"network {name!r} is given twice; give it once, with a weight")
        weights = self.objective.weights
        if len(weights) != len(names):
            raise ValueError(f"weights must be one per network, got {len(weights)} for {len(names)} networks")
        if not isinstance(self.accelerator, Accelerator):
            raise ValueError(f"accelerator must be a simulator.Accelerator, got {self.accelerator!r}")
        if self.tile_rule not in TILE_RULES:
            raise ValueError(f"tile_rule must be one of {', '.join(TILE_RULES)}, got {self.tile_rule!r}")
        if self.keep not in get_args(Keep):
            raise ValueError(f"keep must be one of {', '.join(get_args(Keep))}, got {self.keep!r}")

    def __getstate__(self) -> dict[str, object]:
        """The fields alone, for pickle and copy: what is derived from them is computed again."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Union id of each network's first layer, and the number of layers of all networks at the end."""
        offsets = [0]
        for network in self.networks:
            offsets.append(offsets[-1] + len(network.layers))
        return tuple(offsets)

    @property
    def size(self) -> int:
        """Number of layers of all networks."""
        return self.offsets[-1]

    @cached_property
    def network_of(self) -> tuple[int, ...]:
        """Per layer the position of its network."""
        return tuple(i for i, network in enumerate(self.networks) for _ in network.layers)

    @cached_property
    def producers(self) -> tuple[tuple[int, ...], ...]:
        """Per layer the layers that it reads, each once; model inputs are no layers."""
        return tuple(
            tuple(offset + p for p in producers if p < len(network.layers))
            for network, offset in zip(self.networks, self.offsets)
            for producers in network.producers
        )

    @cached_property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """Per layer the layers that read it, each once, ascending."""
        return tuple(
            tuple(offset + v for v in consumers)
            for network, offset in zip(self.networks, self.offsets)
            for consumers in network.consumers[: len(network.layers)]
        )

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """(producer, consumer), by consumer, then in the order of its operands."""
        return tuple((p, v) for v, producers in enumerate(self.producers) for p in producers)

    @cached_property
    def siblings(self) -> tuple[tuple[int, ...], ...]:
        """Sets of layers that may share a subgraph without an edge (`simulator.connected`), ascending."""
        return tuple(
            tuple(offset + v for v in layers)
            for network, offset in zip(self.networks, self.offsets)
            for layers in siblings(network, self.accelerator.connection)
        )

    @cached_property
    def siblings_of(self) -> tuple[tuple[int, ...], ...]:
        """Per layer the positions in `siblings` of the sets that have it."""
        found: list[list[int]] = [[] for _ in range(self.size)]
        for i, layers in enumerate(self.siblings):
            for v in layers:
                found[v].append(i)
        return tuple(map(tuple, found))

    def near(self, v: int) -> list[int]:
        """Return the layers that are joined with a layer, again for each way: it reads them, they read it, siblings."""
        found = [*self.producers[v], *self.consumers[v]]
        for i in self.siblings_of[v]:
            found += [u for u in self.siblings[i] if u != v]
        return found

    @cached_property
    def weight_bytes(self) -> tuple[int, ...]:
        """Bytes of each layer's weights, of experts those that the batch uses."""
        return tuple(size for rules in self.rules for size in rules.geometry.weight_bytes)

    @cached_property
    def brought_bytes(self) -> tuple[int, ...]:
        """The same, of layers with the same weights only of the first: what any plan loads at least."""
        return tuple(size for rules in self.rules for size in rules.geometry.brought_bytes)

    def weights_of(self, group: Iterable[int]) -> int:
        """Return the bytes of the weights of some layers, each once."""
        return sum([self.weight_bytes[v] for v in {self._first_with[v] for v in group}])

    @cached_property
    def _first_with(self) -> list[int]:
        pairs = zip(self.rules, self.offsets)
        return [offset + v for rules, offset in pairs for v in rules.geometry.network.first_with]

    @property
    def metric(self) -> Metric:
        """The metric by which tiles, loop orders and samples at once are chosen."""
        return self.chosen_by or self.objective.metric

    @cached_property
    def rules(self) -> tuple[PricingRules, ...]:
        """The simulator's rules, per network: what does not change with capacities."""
        return tuple(
            PricingRules(Geometry(network, self.accelerator.technology), self.accelerator, self.tile_rule, self.metric)
            for network in self.networks
        )

    @cached_property
    def models(self) -> tuple[Models, ...]:
        """The subgraph models made so far, per network: equivalent ones are made once for all memories."""
        found: tuple[Models, ...] = self.remembered.setdefault(Models, tuple(map(Models, self.rules)))
        return found

    @cached_property
    def memo(self) -> dict[Hashable, Any]:
        """A cache of results about this problem, by keys that the callers choose; not part of the problem itself."""
        return {}

    @cached_property
    def remembered(self) -> dict[Hashable, Any]:
        """What engines remember about these networks and rules: shared by the problem in any memory (`in_memory`)."""
        return {}

    @cached_property
    def plain(self) -> Problem:
        """The problem with nothing kept, made once."""
        return self if self.keep == "none" else _alike(replace(self, keep="none"), self.rules, {})

    @cached_property
    def candidates(self) -> tuple[tuple[int, ...], ...]:
        """The capacities of each buffer that is chosen, in bytes, ascending."""
        return tuple(self.buffers.values())

    @cached_property
    def memories(self) -> tuple[tuple[int, ...], ...]:
        """Every memory that may be chosen, as positions in the candidates; on given hardware there is only one."""
        return tuple(product(*[range(len(sizes)) for sizes in self.candidates]))

    def memory_of(self, accelerator: Accelerator) -> tuple[int, ...]:
        """Return the memory of hardware of this problem, as positions in the candidates."""
        return tuple(sizes.index(getattr(accelerator, name)) for name, sizes in self.buffers.items())

    def accelerator_of(self, capacities: Sequence[int]) -> Accelerator:
        """Return the accelerator of these capacities, given as positions in the candidates; made once."""
        if not self.buffers:
            return self.accelerator
        key = (Accelerator, *capacities[: len(self.buffers)])
        found: Accelerator | None = self.memo.get(key)
        if found is None:
            chosen: dict[str, Any] = {name: sizes[i] for (name, sizes), i in zip(self.buffers.items(), capacities)}
            found = self.memo[key] = replace(self.accelerator, **chosen)
        return found

    def evaluations(self, plans: Sequence[Partition], accelerator: Accelerator) -> tuple[Evaluation, ...]:
        """Return what the simulator says of a plan of each network on this hardware."""
        pairs = zip(self.networks, plans)
        return tuple(evaluate(network, plan, accelerator, self.tile_rule) for network, plan in pairs)

    def cost(self, evaluations: Sequence[Evaluation]) -> float:
        """Return the objective as the simulator prices it, one evaluation per network."""
        return self.objective.cost(self.objective.judged(evaluations), evaluations[0].accelerator)

    def partitions(self, groups: Sequence[Sequence[int]]) -> tuple[Partition, ...]:
        """Return the partition of each network from groups of union ids; raises if one is not valid."""
        local: list[list[list[int]]] = [[] for _ in self.networks]
        for group in groups:
            i = self.network_of[group[0]]
            local[i].append([v - self.offsets[i] for v in group])
        return tuple(Partition.from_ids(network, groups, self.metric) for network, groups in zip(self.networks, local))

    def labels(self, partitions: Sequence[Partition]) -> list[int]:
        """Return, per layer of the union, the smallest layer of its subgraph; raises if a partition is not valid."""
        if len(partitions) != len(self.networks):
            raise ValueError(
                f"initial needs one partition for each of the {len(self.networks)} networks, got {len(partitions)}"
            )
        labels = [-1] * self.size
        for network, partition, offset in zip(self.networks, partitions, self.offsets):
            if not isinstance(partition, Partition) or partition.network_name != network.name:
                given = partition.network_name if isinstance(partition, Partition) else partition
                raise ValueError(f"initial needs a partition of network {network.name!r}, got {given!r}")
            for group in order_subgraphs(network, partition.subgraphs, connected=self.accelerator.connection):
                for v in group:
                    labels[offset + v] = offset + group[0]
        return labels


def on_hardware(
    networks: Network | Sequence[Network],
    accelerator: Accelerator,
    *,
    metric: Metric = DEFAULT_METRIC,
    weights: Sequence[float] | None = None,
    tile_rule: TileRule = "exact",
    keep: Keep = "none",
) -> Problem:
    """Return the problem of Formula 1: networks that run one after another on given hardware."""
    together = _as_tuple(networks)
    objective = Objective(metric, None, _weights(weights, together))
    return Problem(together, accelerator, {}, objective, tile_rule, keep=keep)


def over_space(
    networks: Network | Sequence[Network],
    space: Space | None = None,
    *,
    machine: Machine | None = None,
    alpha: float = 0.002,
    metric: Metric = DEFAULT_METRIC,
    weights: Sequence[float] | None = None,
    tile_rule: TileRule = "exact",
    keep: Keep = "none",
    count: Count = "one",
    **fields: Unpack[MachineFields],
) -> Problem:
    """Return the problem of Formula 2: networks that run one after another on one memory to be chosen.

    machine: what all memories share; **fields: replace its own. count: as in Objective.
    """
    check_keywords(over_space, fields, MachineFields.__optional_keys__)
    together = _as_tuple(networks)
    space = extending(SharedBuffer()) if space is None else space
    if not isinstance(space, SharedBuffer | SeparateBuffers):
        raise ValueError(f"space must be a SharedBuffer or SeparateBuffers, got {space!r}")
    if alpha is None:
        raise ValueError("alpha must be a finite number of at least 0, got None")
    found = machine_of(machine, fields)
    space = within_tables(space, found.technology)
    buffers = buildable(space.buffers, found.technology)
    accelerator = found.with_buffers(**{name: sizes[0] for name, sizes in buffers.items()})
    objective = Objective(metric, alpha, _weights(weights, together), count)
    return Problem(together, accelerator, buffers, objective, tile_rule, keep=keep, space=space)


def _as_tuple(networks: Network | Sequence[Network]) -> tuple[Network, ...]:
    if isinstance(networks, Network):
        return (networks,)
    if not isinstance(networks, Sequence) or isinstance(networks, str):
        raise ValueError(f"networks must be a Network or a sequence of them (see workloads.load), got {networks!r}")
    return tuple(networks)


def _weights(weights: Sequence[float] | None, networks: tuple[Network, ...]) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * len(networks)
    if not isinstance(weights, Sequence) or isinstance(weights, str):
        raise ValueError(f"weights must be a sequence of one number per network, got {weights!r}")
    return tuple(weights)


def in_memory(problem: Problem, capacities: Sequence[int]) -> Problem:
    """Return the problem on the hardware of these capacities, positions in the candidates: Formula 1 is its cost."""
    if not problem.buffers:
        return problem
    given = replace(
        problem,
        accelerator=problem.accelerator_of(capacities),
        buffers={},
        space=None,
        objective=replace(problem.objective, alpha=None),
    )
    return _alike(given, problem.rules, problem.remembered)


def part_of(problem: Problem, i: int) -> Problem:
    """Return the problem of one of the networks, made once."""
    if len(problem.networks) == 1:
        return problem
    found: Problem | None = problem.memo.get((part_of, i))
    if found is None:
        objective = replace(problem.objective, weights=problem.objective.weights[i : i + 1])
        part = replace(problem, networks=problem.networks[i : i + 1], objective=objective)
        found = _alike(part, problem.rules[i : i + 1], problem.remembered.setdefault((part_of, i), {}))
        problem.memo[part_of, i] = found
    return found


def _alike(problem: Problem, rules: tuple[PricingRules, ...], remembered: dict[Hashable, Any]) -> Problem:
    """Return the problem, made to share what does not change with capacities."""
    vars(problem).update(rules=rules, remembered=remembered)
    return problem
