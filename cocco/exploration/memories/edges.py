"""Edges: whether an answer lies at an end of the range that was searched, and the range that goes on there.

An answer at an end says little: the next size may cost less. A range that extends is searched again with sizes beyond,
to a quarter or four times of that end, until the answer lies at none; not below the least memory in which anything runs
or above what holds all tensors and weights of a network, nor where bounds rule out all sizes. Of any other range an
`Edge` says what to ask.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cocco.bounds.staircase import Staircase
from cocco.effort.planned import Memory
from cocco.exploration.answers.lacking import Edge
from cocco.exploration.answers.ranges import MARGINS
from cocco.exploration.answers.result import Result
from cocco.exploration.question.runnable import runnable
from cocco.problem.buildable import buildable, ends_of_table
from cocco.problem.problem import Problem
from cocco.problem.space import Range, round_sizes, space_of

SMALLEST = 64  #: bytes, from where sizes are tried; our choice: below it not even one window fits
TIMES = 4  #: as far as a range goes on at once; our choice


def met_by(problem: Problem, result: Result) -> tuple[list[Memory], float]:
    """Return the memory of an answer and those known to cost at most 1 % more, and that cost.

    At the ends its plans are priced.
    """
    here, most = problem.memory_of(result.accelerator), result.cost * (1 + MARGINS[0])
    found = [here]
    if result.ranges is not None:
        near = result.ranges.of_kind("within", MARGINS[0])
        places = [{size: i for i, size in enumerate(sizes)} for sizes in problem.candidates]
        found += [tuple(place[size] for place, (_, size) in zip(places, each.buffers)) for each in near]
    for i, sizes in enumerate(problem.candidates):
        for end in {0, len(sizes) - 1} if result.plans else ():
            memory = (*here[:i], end, *here[i + 1 :])
            evaluations = problem.evaluations(result.plans, problem.accelerator_of(memory))
            if all(each.fits for each in evaluations) and problem.cost(evaluations) <= most:
                found.append(memory)
    return found, most


def extended(problem: Problem, met: Sequence[Memory], most: float = math.inf) -> Problem | None:
    """Return the problem over the ranges that go on where memories lie at an end; None where nothing lies beyond.

    Only of ranges that extend. most: sizes where no plan costs as little are left out.
    """
    ends = [each for each in _ends(problem, met) if each[1].extends]
    return _beyond(problem, ends, most) if ends else None


def edges(problem: Problem, met: Sequence[Memory], most: float = math.inf, is_final: bool = False) -> tuple[Edge, ...]:
    """Return the ends at which memories lie and that have sizes beyond; is_final: also of ranges that extend."""
    ends = [each for each in _ends(problem, met) if is_final or not each[1].extends]
    wider = _beyond(problem, ends, most) if ends else None
    return () if wider is None else tuple(_edges(problem, wider))


End = tuple[str, Range, bool]  # a buffer, its range, and whether it is the lower end


def _ends(problem: Problem, met: Iterable[Memory]) -> Iterator[End]:
    """Yield the ends of ranges at which memories lie; sizes that are left out at an end are ruled out."""
    assert problem.space is not None
    whole = buildable(problem.space.buffers, problem.accelerator.technology)
    for i, (name, asked) in enumerate(problem.space.ranges.items()):
        positions, sizes = {memory[i] for memory in met}, problem.buffers[name]
        if len(whole[name]) == 1 and not asked.extends:
            continue  # no range was asked
        if 0 in positions and sizes[0] == whole[name][0]:
            yield name, asked, True
        if len(sizes) - 1 in positions and sizes[-1] == whole[name][-1]:
            yield name, asked, False


def _beyond(problem: Problem, ends: Sequence[End], most: float) -> Problem | None:
    """Return the problem with the sizes beyond these ends that may be of use; None where there are none."""
    assert problem.space is not None
    ranges = dict(problem.space.ranges)
    for name, _, is_low in ends:
        first, last = ends_of_table(name, problem.accelerator.technology)
        here = problem.buffers[name]
        low, high = max(first, SMALLEST, here[0] // TIMES), min(last, _everything(problem, name), here[-1] * TIMES)
        if is_low and low < min(here[0], ranges[name].low):
            ranges[name] = replace(ranges[name], least=low)
        if not is_low and high > max(here[-1], ranges[name].high):
            ranges[name] = replace(ranges[name], most=high)
    found = runnable(_over(problem, ranges))
    if found is None:
        return None
    bounds = {} if most == math.inf else Staircase(found).bound
    kept = [memory for memory in found.memories if bounds.get(memory, 0.0) <= most]
    for i, (name, sizes) in enumerate(found.buffers.items()):
        positions, before, asked = [memory[i] for memory in kept], problem.buffers[name], problem.space.ranges[name]
        low, high = sizes[max(0, min(positions) - 1)], sizes[min(len(sizes), max(positions) + 2) - 1]
        ranges[name] = replace(
            asked,
            least=low if low < min(before[0], asked.low) else asked.least,
            most=high if high > max(before[-1], asked.high) else asked.most,
        )
    found = runnable(_over(problem, ranges))
    return found if found is not None and found.buffers != problem.buffers else None


def _over(problem: Problem, ranges: dict[str, Range]) -> Problem:
    """Return the problem over other ranges."""
    space = space_of(ranges)
    buffers = buildable(space.buffers, problem.accelerator.technology)
    machine = problem.accelerator.machine.with_buffers(**{name: sizes[0] for name, sizes in buffers.items()})
    return replace(problem, space=space, buffers=buffers, accelerator=machine)


def _everything(problem: Problem, name: str) -> int:
    """Return a size in which a buffer holds all that any of the networks has, at once."""
    tensors = [
        sum(map(rules.whole_bytes, range(len(each.tensors)))) for each, rules in zip(problem.networks, problem.rules)
    ]
    weights = [sum(rules.geometry.weight_bytes) for rules in problem.rules]
    held = {"global_buffer": tensors, "weight_buffer": weights}.get(name) or [a + b for a, b in zip(tensors, weights)]
    return next(round_sizes(max(SMALLEST, *held), 2 * max(SMALLEST, *held)))


def _edges(problem: Problem, wider: Problem) -> Iterator[Edge]:
    for name, sizes in problem.buffers.items():
        others = wider.buffers[name]
        if others[0] < sizes[0]:
            yield Edge(name, "low", sizes[0], others[0])
        if others[-1] > sizes[-1]:
            yield Edge(name, "high", sizes[-1], others[-1])
