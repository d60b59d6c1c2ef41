"""The operators as numbers: tensor i is what operator i makes; sets of operators are bit masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cocco.candidates.sets import Cones, bits
from simulator.schedule.schedule import Operator, check_operators


@dataclass(frozen=True)
class Graph:
    """What the optimisers see of a model; operators stand in the default order."""

    operators: tuple[Operator, ...]
    size: tuple[int, ...]  #: bytes of each tensor
    weight: tuple[int, ...]  #: bytes of parameters in the scratchpad at the operator's step
    reads: tuple[tuple[int, ...], ...]
    has_copy: tuple[bool, ...]  #: whether the host has the tensor from the start

    def __len__(self) -> int:
        return len(self.size)

    @cached_property
    def readers(self) -> tuple[tuple[int, ...], ...]:
        """The operators that read each tensor, ascending."""
        found: list[list[int]] = [[] for _ in self.size]
        for operator, operands in enumerate(self.reads):
            for tensor in operands:
                found[tensor].append(operator)
        return tuple(map(tuple, found))

    @cached_property
    def need(self) -> tuple[int, ...]:
        """Bytes that each operator needs at its step: operands, result and parameters."""
        size = self.size
        return tuple(size[o] + self.weight[o] + sum(size[a] for a in operands) for o, operands in enumerate(self.reads))

    @cached_property
    def read_mask(self) -> tuple[int, ...]:
        """The operands of each operator, as a mask."""
        return tuple(bits(operands) for operands in self.reads)

    @cached_property
    def reader_mask(self) -> tuple[int, ...]:
        """The readers of each tensor, as a mask."""
        return tuple(bits(readers) for readers in self.readers)

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """All that must run before each operator, as a mask."""
        return tuple(mask ^ 1 << o for o, mask in enumerate(self._cones.up))

    @cached_property
    def descendants(self) -> tuple[int, ...]:
        """All that must run after each operator, as a mask."""
        return tuple(mask ^ 1 << o for o, mask in enumerate(self._cones.down))

    @cached_property
    def _cones(self) -> Cones:
        return Cones(self.reads)

    @cached_property
    def copied(self) -> int:
        """The tensors of which the host has a copy from the start, as a mask."""
        return bits(i for i, has in enumerate(self.has_copy) if has)


def graph_of(operators: Sequence[Operator], input_has_host_copy: bool = False) -> Graph:
    """Return the graph of these operators. Raises ScheduleError where they are malformed."""
    check_operators(operators)
    index = {operator.name: i for i, operator in enumerate(operators)}
    return Graph(
        tuple(operators),
        tuple(operator.size for operator in operators),
        tuple(operator.parameters for operator in operators),
        tuple(tuple(index[name] for name in operator.inputs) for operator in operators),
        tuple(operator.is_input and input_has_host_copy for operator in operators),
    )
