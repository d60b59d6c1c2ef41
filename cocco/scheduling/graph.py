"""The operators as numbers: tensor i is what operator i makes; sets of operators are bit masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

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
        return tuple(mask_of(operands) for operands in self.reads)

    @cached_property
    def reader_mask(self) -> tuple[int, ...]:
        """The readers of each tensor, as a mask."""
        return tuple(mask_of(readers) for readers in self.readers)

    @cached_property
    def ancestors(self) -> tuple[int, ...]:
        """All that must run before each operator, as a mask."""
        found: list[int] = []
        for operands in self.reads:
            mask = 0
            for a in operands:
                mask |= found[a] | 1 << a
            found.append(mask)
        return tuple(found)

    @cached_property
    def descendants(self) -> tuple[int, ...]:
        """All that must run after each operator, as a mask."""
        found = [0] * len(self)
        for o in reversed(range(len(self))):
            for a in self.reads[o]:
                found[a] |= found[o] | 1 << o
        return tuple(found)

    @cached_property
    def copied(self) -> int:
        """The tensors of which the host has a copy from the start, as a mask."""
        return mask_of(i for i, has in enumerate(self.has_copy) if has)


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


def mask_of(members: Iterable[int]) -> int:
    """Return the bit mask of these numbers."""
    mask = 0
    for member in members:
        mask |= 1 << member
    return mask


def members(mask: int) -> Iterator[int]:
    """Yield the numbers in a bit mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
