"""Operators and schedules of whole tensors: the data, and what makes operators malformed.

The model of COSMA (arXiv 2311.18246, Sec. III): an operator is one unit and takes one step; its operands, its result
and its parameters lie in the scratchpad at that step; a tensor does not move unless it leaves and comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workloads.errors import shown

MAX_TENSOR_BYTES = 2**62  #: of all tensors together; our choice: sums stay within 64 bits

Enters = Literal["created", "retrieved", "loaded"]
Leaves = Literal["dead", "spilled", "dropped"]


class ScheduleError(ValueError):
    """Operators or a schedule that are malformed: one line that names the thing, the rule and the value.

    Examples
    --------
    >>> from simulator.schedule import Operator, Schedule, replay
    >>> replay(Schedule(("y",), ()), [Operator("y", ("x",), 16)], capacity=64)
    Traceback (most recent call last):
    simulator.schedule.schedule.ScheduleError: operator 'y' reads 'x', which is not defined before it
    """


@dataclass(frozen=True)
class Operator:
    """One unit of work, and the tensor that it makes, which carries its name.

    Examples
    --------
    >>> from simulator.schedule import Operator
    >>> Operator("y", inputs=("x",), size=16)
    Operator(name='y', inputs=('x',), size=16, parameters=0, is_input=False)
    """

    name: str
    inputs: tuple[str, ...]  #: operators whose tensors it reads, each once
    size: int  #: bytes of its tensor
    parameters: int = 0  #: bytes that it alone reads and that lie in the scratchpad at its step; 0: none, or elsewhere
    is_input: bool = False  #: a model input: its tensor comes from the host


class Segment(NamedTuple):
    """A stay of a tensor in the scratchpad: steps first to last, both included, at one address.

    Examples
    --------
    >>> from simulator.schedule import Segment
    >>> Segment("x", first=0, last=3, address=0, size=8, enters="loaded", leaves="dead").last
    3
    """

    tensor: str  #: an operator's name, or a name of parameter_names
    first: int  #: step
    last: int  #: step, the last one that it is there
    address: int  #: bytes
    size: int  #: bytes
    enters: Enters  #: loaded: a model input at its step, or parameters
    leaves: Leaves  #: spilled: written to the host; dropped: the host has a copy; dead: not read again


@dataclass(frozen=True)
class Schedule:
    """The order of the operators, one a step from step 0, and all stays of all tensors.

    Examples
    --------
    >>> from simulator.schedule import Schedule, Segment
    >>> Schedule(("x",), (Segment("x", 0, 0, 0, 8, "loaded", "dead"),))
    Schedule(1 operators, 1 stays)
    """

    order: tuple[str, ...]  #: names of operators
    segments: tuple[Segment, ...]

    def __repr__(self) -> str:
        return f"Schedule({len(self.order)} operators, {len(self.segments)} stays)"


def check_operators(operators: Sequence[Operator]) -> None:
    """Raise ScheduleError where a name repeats, an operator stands before what it reads, or a size is none."""
    seen: set[str] = set()
    total = 0
    for operator in operators:
        name = shown(operator.name)
        if operator.name in seen:
            raise ScheduleError(f"operator {name} is defined twice; names must be unique")
        for producer in operator.inputs:
            if producer not in seen:
                raise ScheduleError(f"operator {name} reads {shown(producer)}, which is not defined before it")
        if len(set(operator.inputs)) < len(operator.inputs):
            raise ScheduleError(f"operator {name} names an input twice; a tensor that is read twice is named once")
        if not 1 <= operator.size <= MAX_TENSOR_BYTES or not 0 <= operator.parameters <= MAX_TENSOR_BYTES:
            raise ScheduleError(
                f"operator {name} makes {shown(operator.size)} bytes from {shown(operator.parameters)} bytes of "
                f"parameters; the first must be at least 1, the second at least 0, both at most {MAX_TENSOR_BYTES}"
            )
        seen.add(operator.name)
        total += operator.size + operator.parameters
    if total > MAX_TENSOR_BYTES:
        raise ScheduleError(f"the tensors of all operators take {total} bytes; the most is {MAX_TENSOR_BYTES}")


def parameter_names(operators: Sequence[Operator]) -> dict[str, str]:
    """Return the name of each operator's parameters, where it has some: no operator has the same name."""
    taken = {operator.name for operator in operators}
    suffix = " (parameters)"
    while any(f"{operator.name}{suffix}" in taken for operator in operators):
        suffix += "'"
    return {each.name: f"{each.name}{suffix}" for each in operators if each.parameters}


def compulsory_bytes(operators: Sequence[Operator]) -> int:
    """Return the bytes that every schedule moves: inputs and parameters in, tensors that no operator reads out."""
    read = {name for operator in operators for name in operator.inputs}
    loaded = sum(each.parameters + (each.size if each.is_input else 0) for each in operators)
    return loaded + sum(each.size for each in operators if each.name not in read and not each.is_input)
