"""Steps: what a search computes piece by piece, so that it can go on where it was killed, and share pieces out.

A step is a function of its arguments alone, so it does not matter who computed it, or when. A search asks for its
steps one after the other; each is computed then, unless its answer is there: from before the search was killed (a
`Store`), or because a worker computed it beforehand, along with others that were likely to be asked for. So answers
are the same to the byte for any number of workers, and for any number of kills.

The steps of a search are a context, as its listener is (cocco.problem.stages): nobody hands them through all rooms.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, Protocol, TypeVar, TypeVarTuple

import numpy as np

from cocco.problem.problem import Problem
from cocco.problem.settings import Settings
from simulator.partition.partition import Partition
from workloads.network.network import Network

Asked = TypeVarTuple("Asked")
Answered = TypeVar("Answered")
Class = TypeVar("Class", bound=type)
Arrays = Mapping[str, np.ndarray]

KEY_DIGITS = 24  #: hexadecimal digits of SHA-256; our choice: 96 bits never collide by chance
_stored: dict[str, type] = {}


class Store(Protocol):
    """Keeps what finished steps answered, and the state of those that run, beyond the end of the process."""

    def find(self, key: str) -> tuple[Any] | None:
        """Return the plain data of an answer, in a tuple because it may be None; None where there is none."""

    def keep(self, key: str, answer: Any) -> None:
        """Keep the plain data of an answer."""

    def is_due(self) -> bool:
        """Whether it is time to keep the state of a step that runs."""

    def state(self, key: str) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Return the last state of a step, plain data and arrays; None where there is none."""

    def keep_state(self, key: str, plain: dict[str, Any], arrays: Arrays) -> None:
        """Keep the state of a step in place of its last."""


Jobs = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Sequence[Any]]
"""Computes a function of several arguments, and returns the answers in order, LOST where those who compute died."""
LOST = object()


class Steps:
    """The steps of one search: what is there, what keeps it, and who computes them beforehand.

    store: None where nothing outlasts the process. jobs: who does so, so many at a time as `workers` says.
    """

    def __init__(self, store: Store | None = None, jobs: Jobs | None = None, workers: int = 1) -> None:
        self.store, self.jobs, self.workers = store, jobs, workers
        self._early: dict[str, Any] = {}

    def answer(self, function: Callable[[*Asked], Answered], asked: tuple[*Asked]) -> Answered:
        """Return what a function answers; an answer that Ctrl-C cut short is not kept."""
        key = key_of(_name(function), asked)
        if key in self._early:
            found: Answered = self._early.pop(key)
        else:
            kept = None if self.store is None else self.store.find(key)
            if kept is not None:
                return _decoded(kept[0], _networks(asked))
            found = function(*asked)
        if self.store is not None and not getattr(found, "is_stopped", False):
            self.store.keep(key, _encoded(found))
        return found

    def precompute(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> None:
        """Compute these at the same time, unless the first is there: then workers are given out when it is needed."""
        if self.jobs is None or len(jobs) < 2:
            return
        keyed = [(key_of(_name(function), asked), asked) for asked in jobs]
        if self._is_there(keyed[0][0]):
            return
        left = [(key, asked) for key, asked in keyed if not self._is_there(key)]
        found = self.jobs(function, [asked for _, asked in left])
        self._early |= {key: answer for (key, _), answer in zip(left, found) if answer is not LOST}

    def _is_there(self, key: str) -> bool:
        return key in self._early or (self.store is not None and self.store.find(key) is not None)


_steps: ContextVar[Steps | None] = ContextVar("steps", default=None)


@contextmanager
def taken_by(steps: Steps | None) -> Iterator[None]:
    """Let these steps answer in the `with` block; None leaves those that do."""
    if steps is None:
        yield
        return
    token = _steps.set(steps)
    try:
        yield
    finally:
        _steps.reset(token)


@contextmanager
def shared_out(jobs: Jobs, workers: int) -> Iterator[None]:
    """Let so many workers compute steps beforehand in the `with` block; what keeps them stays."""
    with taken_by(Steps(store_of_states(), jobs, workers)):
        yield


def once(function: Callable[[*Asked], Answered], *asked: *Asked) -> Answered:
    """Return what a function of a module answers, which is computed unless it is there already."""
    steps = _steps.get()
    return function(*asked) if steps is None else steps.answer(function, asked)


def precompute(function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> None:
    """Let workers compute what will be asked for next: a function of each of these arguments, the likeliest first.

    jobs: as many are taken as there are workers, none where there are none.
    """
    steps = _steps.get()
    if steps is not None and steps.jobs is not None:
        steps.precompute(function, list(islice(jobs, steps.workers)))


def store_of_states() -> Store | None:
    """Return what keeps the state of a long step of this search; None where nothing does."""
    steps = _steps.get()
    return None if steps is None else steps.store


def stored(kind: Class) -> Class:
    """Say that values of this named tuple are answers of steps."""
    _stored[kind.__name__] = kind
    return kind


def key_of(name: str, asked: object) -> str:
    """Return the name of a step: the same for the same function and arguments."""
    text = json.dumps([name, _encoded(asked)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _encoded(value: Any) -> Any:
    """Return a value as plain data that JSON holds."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [_encoded(each) for each in value]
    if isinstance(value, Partition):
        spans = [list(interval.span) for interval in value.keep]
        return {"plan": [value.network_name, list(map(list, value.subgraphs)), value.metric, spans, [*value.schemes]]}
    if isinstance(value, Settings):
        return {"settings": repr(value)}
    if isinstance(value, Problem):
        return {"problem": _problem(value)}
    if isinstance(value, tuple):
        content = [_encoded(each) for each in value]
        return {type(value).__name__: content}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no argument and no answer of a step")


def _decoded(content: Any, networks: Mapping[str, Network]) -> Any:
    """Return the value of plain data; raises ValueError, KeyError or TypeError where it is none."""
    if isinstance(content, list):
        return [_decoded(each, networks) for each in content]
    if not isinstance(content, dict):
        return content
    ((name, inner),) = content.items()
    if name == "plan":
        network, groups, metric, spans, schemes = inner
        return Partition.from_ids(networks[network], groups, metric, [tuple(span) for span in spans], schemes)
    values = [_decoded(each, networks) for each in inner]
    return tuple(values) if name == "tuple" else _stored[name](*values)


def _networks(asked: Sequence[Any]) -> dict[str, Network]:
    problems = [each for each in asked if isinstance(each, Problem)]
    return {network.name: network for problem in problems for network in problem.networks}


def _problem(problem: Problem) -> list[Any]:
    """Return what tells the problems of one search apart: its machine and its networks are the same."""
    objective, machine = problem.objective, problem.accelerator
    sizes = {name: list(each) for name, each in problem.buffers.items()}
    return [
        [network.name for network in problem.networks], sizes,
        [objective.metric, objective.alpha, list(objective.weights), objective.count],
        problem.tile_rule, problem.chosen_by, problem.keep,
        [machine.global_buffer, machine.weight_buffer, machine.shared_buffer, machine.cores, machine.batch],
    ]  # fmt: skip
