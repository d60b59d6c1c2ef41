"""One entry of the bank: a question by its content, and the few plans that answer it best in some memory.

A file `<network>/<question>.json`, whose names are hashes: of the layers of a network without their names, and of what
else decides the price of a plan but the memory. Plans are by ids of layers and tensors, so they also serve a network
whose layers have other names. A price that is stored decides only which plans stay and which are tried first.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from cocco.candidates.spread import spread
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.connected import Connected
from simulator.hardware_files import BUFFERS
from simulator.metrics import Metric
from simulator.partition.intervals import Span
from simulator.partition.order import order_subgraphs
from simulator.partition.partition import Partition
from workloads.errors import one_line
from workloads.files import digest, read_mapping, write_atomic
from workloads.network.network import Network

FORMAT = "cocco-bank/1"
MOST_PLANS = 32  #: of an entry; our choice: a front over the paper's 46 memories
log = logging.getLogger("cocco")


class Stored(NamedTuple):
    """A plan of one network in a memory, by ids, and what it was priced at in the metric of its question."""

    sizes: tuple[int, ...]  #: bytes of one core: the shared buffer, or global and weight buffer
    value: float
    subgraphs: tuple[tuple[int, ...], ...]
    spans: tuple[Span, ...]  #: of tensors that stay on chip
    asked: str = ""  #: the search that found it first: a hash of all that it was asked

    @staticmethod
    def of(plan: Partition, accelerator: Accelerator, value: float, asked: str) -> Stored:
        """Return a plan as it is stored."""
        return Stored(sizes_of(accelerator), value, plan.subgraphs, tuple(each.span for each in plan.keep), asked)

    @staticmethod
    def read(content: Mapping[str, Any]) -> Stored:
        """Return the plan of plain data; raises KeyError, TypeError or ValueError where it is none."""
        sizes, subgraphs = tuple(map(int, content["bytes"])), tuple(tuple(map(int, each)) for each in content["groups"])
        spans = tuple((int(tensor), int(first), int(last)) for tensor, first, last in content["keep"])
        value = float(content["value"])
        if not math.isfinite(value) or len(sizes) not in (1, 2):
            raise ValueError(f"a plan has the value {value!r} in {sizes!r} bytes")
        return Stored(sizes, value, subgraphs, spans, str(content["asked"]))

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        said = {"bytes": self.sizes, "value": self.value, "asked": self.asked}
        return said | {"groups": self.subgraphs, "keep": self.spans}

    @property
    def plan(self) -> tuple[object, ...]:
        """What makes it another plan than others."""
        return self.subgraphs, self.spans

    def beats(self, other: Stored) -> bool:
        """Whether it takes no more memory and is cheaper, or as cheap in less."""
        mine, theirs = (sum(self.sizes), self.value), (sum(other.sizes), other.value)
        return len(self.sizes) == len(other.sizes) and mine != theirs and all(a <= b for a, b in zip(mine, theirs))

    def partition(self, network: Network, metric: Metric, connection: Connected) -> Partition:
        """Return the plan of a network; raises ValueError where its subgraphs may not be connected so."""
        order_subgraphs(network, self.subgraphs, connected=connection)
        return Partition.from_ids(network, self.subgraphs, metric, self.spans)


class Entry(NamedTuple):
    """A question as plain data, and its plans."""

    question: dict[str, Any]
    plans: tuple[Stored, ...]

    def with_plans(self, plans: Iterable[Stored]) -> Entry:
        """Return the entry with more plans: the front of memory and price, thinned to MOST_PLANS.

        A plan in a memory where it is known takes its new price: that of another version may be wrong.
        """
        found: dict[object, Stored] = {}
        for each in (*self.plans, *plans):
            first = found.get((each.plan, each.sizes), each)
            found[each.plan, each.sizes] = each._replace(asked=first.asked)
        ordered = sorted(found.values(), key=lambda each: (len(each.sizes), sum(each.sizes), each))
        alike: dict[tuple[int, int, float], Stored] = {}
        for each in ordered:
            alike.setdefault((len(each.sizes), sum(each.sizes), each.value), each)
        front = [each for each in alike.values() if not any(other.beats(each) for other in alike.values())]
        return Entry(self.question, tuple(front[i] for i in spread(len(front), MOST_PLANS)))

    def to_text(self, network: Network) -> str:
        """Return the file: a line for each plan."""
        about = {"format": FORMAT, "network": network.name, "question": self.question}
        plans = ",\n".join(_compact(each.to_json()) for each in self.plans)
        return f'{_compact(about)[:-1]},"plans":[\n{plans}\n]}}\n'


def read_entry(path: Path, is_told: bool = True) -> Entry | None:
    """Return the entry in a file; None, with one line in the log (unless told before), where it holds none."""
    try:
        content = read_mapping(path)
        if content.get("format") != FORMAT or not isinstance(content["question"], dict):
            raise ValueError(f"its format is {content.get('format')!r}, not {FORMAT!r}")
        return Entry(content["question"], tuple(map(Stored.read, content["plans"])))
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        if is_told:
            why = one_line(error).removeprefix(f"{path}: ")
            log.warning("cocco: note: %s: ignored, it is no entry of the bank: %s", path, why)
        return None


def write_entry(path: Path, network: Network, question: dict[str, Any], plans: Iterable[Stored]) -> None:
    """Add plans to an entry, which is written whole or not at all. Raises OSError."""
    known = read_entry(path, is_told=False) if path.exists() else None
    entry = (known or Entry(question, ())).with_plans(plans)
    if entry != known:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, entry.to_text(network))


def question_of(problem: Problem) -> dict[str, Any]:
    """Return all but network and memory that decides what a plan costs, as plain data."""
    machine = problem.accelerator.to_json()
    said = {name: value for name, value in machine.items() if name not in BUFFERS}
    own = {"metric": problem.objective.metric, "keep": problem.keep, "tile_rule": problem.tile_rule}
    found: dict[str, Any] = json.loads(json.dumps({**own, **said}, default=repr))
    return found


def question_name(question: Mapping[str, Any]) -> str:
    """Return the name of a question: a hash of it."""
    return digest(json.dumps(question, sort_keys=True))


@lru_cache(maxsize=64)
def network_name(network: Network) -> str:
    """Return the name of a network: a hash of its layers, whatever it and they are called.

    What is as by default is left out: a kind of layer that is new in a later version changes no name of the others.
    """
    ids = {name: str(u) for name, u in network.index.items()}

    def said(item: Any) -> list[str]:
        values = [(each.name, getattr(item, each.name), each.default) for each in fields(item) if each.name != "name"]
        values = [
            (key, [ids[name] for name in value] if key == "inputs" else value, unset) for key, value, unset in values
        ]
        return [f"{key}={value!r}" for key, value, unset in values if value != unset]

    return digest(json.dumps([said(each) for each in (*network.inputs, *network.layers)]))


def sizes_of(accelerator: Accelerator) -> tuple[int, ...]:
    """Return the bytes of the buffers of one core: one number if it is shared."""
    return tuple(size for name in BUFFERS if (size := getattr(accelerator, name)) is not None)


def _compact(content: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(content, separators=(",", ":"))
