"""Steps: the pieces of work of a search, so that it can resume after it was killed, and share the work with others.

A step is a function of its arguments alone, so it does not matter who computed it, or when. A search requests its
steps one after another. Each is computed then, unless its answer exists already: from before the search was killed (a
`Store`), or because a worker computed it ahead, along with others that were likely to be requested. So answers are the
same to the byte for any number of workers, and for any number of kills.

The steps of a search are a context, like its listener (cocco.effort.stages): they are not passed as arguments.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol, TypeVar, TypeVarTuple

import numpy as np

from cocco.effort.settings import Settings
from cocco.problem.problem import Problem
from simulator.accelerator import Machine
from simulator.partition.partition import Partition
from workloads.network.network import Network

Asked = TypeVarTuple("Asked")
Answered = TypeVar("Answered")
Class = TypeVar("Class", bound=type)
Arrays = Mapping[str, np.ndarray]

KEY_DIGITS = 24  #: hexadecimal digits of SHA-256; our choice: 96 bits never collide by chance
_stored: dict[str, type] = {}


class Store(Protocol):
    """Keeps the answers of finished steps, and the state of running ones, beyond the end of the process."""

    def find(self, key: str) -> tuple[Any] | None:
        """Return the plain data of an answer, in a tuple because it may be None; None if there is no answer."""

    def keep(self, key: str, answer: Any) -> None:
        """Keep the plain data of an answer."""

    def is_due(self) -> bool:
        """Whether it is time to save the state of a running step."""

    def state(self, key: str) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Return the last saved state of a step, plain data and arrays; None if there is none."""

    def keep_state(self, key: str, plain: dict[str, Any], arrays: Arrays) -> None:
        """Save the state of a step, replacing the last one."""


Jobs = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Sequence[Any]]
"""Computes a function of several arguments, and returns the answers in order, LOST where those who compute died."""
LOST = object()


class Steps:
    """The steps of one search: the answers at hand, the store that keeps them, and the workers that compute ahead.

    store: None if nothing outlasts the process. jobs: has workers compute steps ahead, `workers` at a time.
    """

    def __init__(self, store: Store | None = None, jobs: Jobs | None = None, workers: int = 1) -> None:
        self.store, self.jobs, self.workers = store, jobs, workers
        self._early: dict[str, Any] = {}

    def answer(self, function: Callable[[*Asked], Answered], asked: tuple[*Asked]) -> Answered:
        """Return a function's answer, from the store if it is there; an answer cut short by Ctrl-C is not kept."""
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
        """Have workers compute these in parallel; do nothing if the answer of the first one exists already."""
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
    """Use these steps in the `with` block; None keeps the current ones."""
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
    """Let so many workers compute steps ahead in the `with` block; the store stays the same."""
    with taken_by(Steps(store_of_states(), jobs, workers)):
        yield


def once(function: Callable[[*Asked], Answered], *asked: *Asked) -> Answered:
    """Return the answer of a module-level function, computed only if it does not exist already."""
    steps = _steps.get()
    return function(*asked) if steps is None else steps.answer(function, asked)


def precompute(function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> None:
    """Let workers compute ahead what is likely to be requested next: a function of these arguments, likeliest first.

    jobs: only as many are taken as there are workers; none without workers.
    """
    steps = _steps.get()
    if steps is not None and steps.jobs is not None:
        steps.precompute(function, list(islice(jobs, steps.workers)))


def store_of_states() -> Store | None:
    """Return the store that keeps the state of long steps of this search; None if there is none."""
    steps = _steps.get()
    return None if steps is None else steps.store


def stored(kind: Class) -> Class:
    """Register a named tuple whose values are answers of steps (a class decorator)."""
    _stored[kind.__name__] = kind
    return kind


def key_of(name: str, asked: object) -> str:
    """Return the key of a step: the same for the same function and arguments."""
    text = json.dumps([name, _encoded(asked)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _encoded(value: Any) -> Any:
    """Return a value as plain data that JSON can hold."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [_encoded(each) for each in value]
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, value.shape, b64encode(value.tobytes()).decode()]}
    if isinstance(value, dict):
        return {"dict": [[name, _encoded(each)] for name, each in value.items()]}
    if isinstance(value, Partition):
        spans = [list(interval.span) for interval in value.keep]
        groups, said = list(map(list, value.subgraphs)), ([*value.schemes], [*value.spare], [*value.ahead])
        return {"plan": [value.network_name, groups, value.metric, spans, *said]}
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
    """Return the value encoded in plain data; raises ValueError, KeyError or TypeError if it is invalid."""
    if isinstance(content, list):
        return [_decoded(each, networks) for each in content]
    if not isinstance(content, dict):
        return content
    ((name, inner),) = content.items()
    if name == "plan":
        network, groups, metric, spans, *said = inner
        return Partition.from_ids(networks[network], groups, metric, [tuple(span) for span in spans], *said)
    if name == "array":
        kind, shape, text = inner
        return np.frombuffer(bytearray(b64decode(text)), kind).reshape(shape)
    if name == "dict":
        return {key: _decoded(each, networks) for key, each in inner}
    values = [_decoded(each, networks) for each in inner]
    return tuple(values) if name == "tuple" else _stored[name](*values)


def _networks(asked: Sequence[Any]) -> dict[str, Network]:
    problems = [each for each in asked if isinstance(each, Problem)]
    return {network.name: network for problem in problems for network in problem.networks}


def _problem(problem: Problem) -> list[Any]:
    """Return what distinguishes the problems of one search, which share their networks."""
    objective, machine = problem.objective, problem.accelerator
    sizes = {name: list(each) for name, each in problem.buffers.items()}
    return [
        [network.name for network in problem.networks], sizes,
        [objective.metric, objective.alpha, list(objective.weights), objective.count, [*map(list, objective.also)]],
        problem.tile_rule, problem.chosen_by, problem.keep,
        [machine.global_buffer, machine.weight_buffer, machine.shared_buffer, _digest(machine.machine)],
    ]  # fmt: skip


@lru_cache(maxsize=1024)
def _digest(machine: Machine) -> str:
    """Return what tells a machine from others: their technologies differ where machines are chosen, too."""
    content = asdict(machine) | {"technology": machine.technology.to_json()}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=repr).encode()).hexdigest()[:KEY_DIGITS]
