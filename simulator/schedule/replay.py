"""replay(): runs a schedule step by step, checks every rule and counts off-chip bytes (COSMA, Sec. III)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.schedule.schedule import (
    Enters,
    Operator,
    Schedule,
    Segment,
    check_operators,
    compulsory_bytes,
    parameter_names,
)
from workloads.errors import shown

MAX_OVERLAPS = 1_000  #: pairs of stays that replay names; our choice: a malformed file must not fill the memory

Rule = Literal[
    "order", "creation", "residency", "overlap", "bounds", "alignment", "host copy", "spilled once", "size", "time",
    "label",
]  # fmt: skip


class Violation(NamedTuple):
    """One broken rule: which, at which step, by which tensor or operator, and a line that says how."""

    rule: Rule
    step: int | None
    tensor: str
    message: str


@dataclass(frozen=True)
class Replay:
    """What a schedule does, in bytes. The counts mean something only where there is no violation.

    Examples
    --------
    >>> from simulator.schedule import Operator, Schedule, Segment, replay
    >>> operators = [Operator("x", (), 8, is_input=True), Operator("y", ("x",), 16)]
    >>> stays = (Segment("x", 0, 1, 0, 8, "loaded", "dead"), Segment("y", 1, 1, 8, 16, "created", "dead"))
    >>> found = replay(Schedule(("x", "y"), stays), operators, capacity=24)
    >>> found.compulsory_bytes, found.offchip_bytes, found.peak_live_bytes, found.violations
    (24, 0, 24, ())
    """

    spilled_bytes: int  #: written to the host, to come back
    retrieved_bytes: int  #: that come back
    compulsory_bytes: int  #: inputs and parameters loaded once, results stored once: the same for every schedule
    peak_live_bytes: int  #: the most that is resident in one step
    height_bytes: int  #: the highest address in use plus one
    violations: tuple[Violation, ...]

    @property
    def offchip_bytes(self) -> int:
        """Non-compulsory bytes: what spilling and retrieving moves (Eq. 12)."""
        return self.spilled_bytes + self.retrieved_bytes


def replay(
    schedule: Schedule,
    operators: Sequence[Operator],
    capacity: int,
    input_has_host_copy: bool = False,
    alignment: int = 1,
) -> Replay:
    """Return what a schedule does in a scratchpad of so many bytes, and every rule that it breaks.

    Rules (COSMA, Eqs. 1 to 11): every operator runs once; at its step its operands, its result and its parameters
    are resident; stays are apart in step x address, inside [0, capacity), the last step included; a tensor is made
    once; it comes back only if the host has a copy, and is spilled at most once. A tensor may leave at the end of one
    step and be back, elsewhere, at the next: both are counted (our choice: the paper wants a step between, the
    baselines repack).

    Parameters
    ----------
    schedule : Schedule
        The answer to judge, whoever made it.
    operators : sequence of Operator
        In an order that works, such as that of `operators_of`.
    capacity : int
        Bytes of the scratchpad.
    input_has_host_copy : bool
        A model input need not be spilled before it is retrieved.
    alignment : int
        Bytes; every address is a multiple of it.

    Returns
    -------
    Replay
        Bytes that move, and every broken rule.

    Raises
    ------
    ScheduleError
        The operators are malformed.

    Examples
    --------
    >>> from simulator.schedule import Operator, Schedule, Segment, replay
    >>> operators = [Operator("x", (), 8, is_input=True), Operator("y", ("x",), 16)]
    >>> stays = (Segment("x", 0, 1, 0, 8, "loaded", "dead"), Segment("y", 1, 1, 8, 16, "created", "dead"))
    >>> replay(Schedule(("x", "y"), stays), operators, capacity=20).violations[0].message
    "'y' from step 1 lies at [8, 24), outside the scratchpad of 20 bytes"
    """
    check_operators(operators)
    by_name = {operator.name: operator for operator in operators}
    owner = {tensor: name for name, tensor in parameter_names(operators).items()}
    stays: dict[str, list[Segment]] = {name: [] for name in (*by_name, *owner)}
    found: list[Violation] = []
    for segment in schedule.segments:
        if segment.tensor not in stays:
            found.append(Violation("label", segment.first, segment.tensor, f"{shown(segment.tensor)} is no tensor"))
            continue
        stays[segment.tensor].append(segment)
    step_of, broken = _steps(schedule.order, by_name)
    found += broken
    for tensor, segments in stays.items():
        segments.sort(key=lambda each: (each.first, each.last))
        operator = by_name[owner.get(tensor, tensor)]
        size = operator.parameters if tensor in owner else operator.size
        for segment in segments:
            found += _place(segment, size, len(schedule.order), capacity, alignment)
        if tensor in owner:
            found += _parameter_life(tensor, segments)
        else:
            found += _life(operator, segments, step_of.get(tensor), input_has_host_copy)
    found += _operands(operators, step_of, stays)
    peak, overlaps = _residents(schedule.segments, len(schedule.order))
    return Replay(
        sum(each.size for each in schedule.segments if each.leaves == "spilled"),
        sum(each.size for each in schedule.segments if each.enters == "retrieved"),
        compulsory_bytes(operators),
        peak,
        max((each.address + each.size for each in schedule.segments), default=0),
        tuple(found + overlaps),
    )


def _steps(order: Sequence[str], known: Mapping[str, Operator]) -> tuple[dict[str, int], list[Violation]]:
    """Return the step of every operator, and what is wrong with the order itself."""
    steps: dict[str, int] = {}
    found = []
    for step, name in enumerate(order):
        if name not in known:
            found.append(Violation("order", step, name, f"step {step} runs {shown(name)}, which is no operator"))
        elif name in steps:
            message = f"step {step} runs {shown(name)} again; it ran at step {steps[name]}"
            found.append(Violation("order", step, name, message))
        else:
            steps[name] = step
    for name in known:
        if name not in steps:
            found.append(Violation("order", None, name, f"operator {shown(name)} never runs"))
    return steps, found


def _place(segment: Segment, size: int, steps: int, capacity: int, alignment: int) -> Iterator[Violation]:
    name, first, at = shown(segment.tensor), segment.first, segment.address
    where = f"{name} from step {first}"
    if not 0 <= first <= segment.last < steps:
        message = f"{name} stays from step {first} to {segment.last}; steps are 0 to {steps - 1}"
        yield Violation("time", first, segment.tensor, message)
    if segment.size != size:
        yield Violation("size", first, segment.tensor, f"{where} has {segment.size} bytes; the tensor has {size}")
    if at < 0 or at + segment.size > capacity:
        message = f"{where} lies at [{at}, {at + segment.size}), outside the scratchpad of {capacity} bytes"
        yield Violation("bounds", first, segment.tensor, message)
    if at % alignment:
        message = f"{where} lies at {at}, no multiple of the alignment {alignment}"
        yield Violation("alignment", first, segment.tensor, message)


def _parameter_life(tensor: str, segments: Sequence[Segment]) -> Iterator[Violation]:
    for before, segment in zip((None, *segments), segments):
        expected = "loaded" if before is None else "retrieved"
        if before is not None and segment.first <= before.last:
            yield _twice(segment, before)
        if segment.enters != expected or segment.leaves != "dropped":
            message = (
                f"{shown(tensor)} from step {segment.first} is {segment.enters} and {segment.leaves}; "
                f"it must be {expected} and dropped"
            )
            yield Violation("label", segment.first, tensor, message)


def _twice(segment: Segment, before: Segment) -> Violation:
    message = f"{shown(segment.tensor)} from step {segment.first} is resident already, until step {before.last}"
    return Violation("overlap", segment.first, segment.tensor, message)


def _life(
    operator: Operator, segments: Sequence[Segment], step: int | None, input_has_host_copy: bool
) -> Iterator[Violation]:
    """Check one tensor through time: made once, at its step; back only from the host; spilled once."""
    name = operator.name
    has_copy = operator.is_input and input_has_host_copy
    makes: Enters = "loaded" if operator.is_input else "created"
    before: Segment | None = None
    for segment in segments:
        where = f"{shown(name)} from step {segment.first}"
        if before is not None and segment.first <= before.last:
            yield _twice(segment, before)
        if before is None:
            if segment.enters != makes or segment.first != step:
                message = (
                    f"{where} is {segment.enters}; its first stay must be {makes} at the step of its operator, {step}"
                )
                yield Violation("creation", segment.first, name, message)
        elif segment.enters != "retrieved":
            yield Violation("creation", segment.first, name, f"{where} is {segment.enters} again; once is all")
        elif not has_copy:
            message = f"{where} is retrieved, but the host has no copy: it was not spilled before"
            yield Violation("host copy", segment.first, name, message)
        if before is not None and before.leaves == "dead":
            message = f"{shown(name)} is dead after step {before.last}, but is back at step {segment.first}"
            yield Violation("label", before.last, name, message)
        if segment.leaves == "spilled":
            if has_copy:
                message = f"{where} is spilled, but the host has a copy already; once is all"
                yield Violation("spilled once", segment.last, name, message)
            has_copy = True
        elif segment.leaves == "dropped" and not has_copy:
            message = f"{where} is dropped, but the host has no copy"
            yield Violation("host copy", segment.last, name, message)
        before = segment
    if not segments and step is not None:
        yield Violation("creation", step, name, f"step {step} makes {shown(name)}, which is resident at no step")


def _operands(
    operators: Sequence[Operator], step_of: Mapping[str, int], stays: Mapping[str, Sequence[Segment]]
) -> Iterator[Violation]:
    names = parameter_names(operators)
    for operator in operators:
        if operator.name not in step_of:
            continue
        step = step_of[operator.name]
        needed = [*operator.inputs, operator.name, *([names[operator.name]] if operator.parameters else [])]
        for tensor in needed:
            if not any(each.first <= step <= each.last for each in stays[tensor]):
                message = f"step {step} runs {shown(operator.name)}, but {shown(tensor)} is not resident"
                yield Violation("residency", step, tensor, message)


def _residents(segments: Sequence[Segment], steps: int) -> tuple[int, list[Violation]]:
    """Return the most bytes of any step, and the pairs of stays that share a byte, at the first step they do."""
    entering: list[list[Segment]] = [[] for _ in range(steps)]
    for segment in segments:
        if 0 <= segment.first < steps:
            entering[segment.first].append(segment)
    found: list[Violation] = []
    peak = 0
    live: list[Segment] = []
    for step in range(steps):
        live = [each for each in live if each.last >= step]
        for new in entering[step]:
            for old in live:
                if len(found) == MAX_OVERLAPS:
                    break
                if (
                    old.tensor != new.tensor
                    and old.address < new.address + new.size
                    and new.address < old.address + old.size
                ):
                    message = (
                        f"at step {step} {shown(new.tensor)} at [{new.address}, {new.address + new.size}) shares bytes "
                        f"with {shown(old.tensor)} at [{old.address}, {old.address + old.size})"
                    )
                    found.append(Violation("overlap", step, new.tensor, message))
            live.append(new)
        peak = max(peak, sum(each.size for each in live))
    return peak, found
