"""A run folder as plain data, checked: what `cocco explore -o` wrote, read again without trusting it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.objective import EVALUATED
from simulator.accelerator import Accelerator
from simulator.cost import EnergyBreakdown
from simulator.technology import Technology
from simulator.tiling import TILE_RULES, TileRule
from workloads.errors import FileFormatError, one_line, shown
from workloads.files import read_mapping

if TYPE_CHECKING:
    import pandas

MAX_CSV_BYTES = 2**30  #: our choice: 10 million samples
NUMBER = (int, float)
NEEDED = ("sample", "generation", "value", "cost", "best_cost")


@dataclass(frozen=True)
class RunSubgraph:
    """One subgraph of the plan; bytes of one core, as SubgraphCost."""

    layers: tuple[str, ...]
    tile: tuple[int, int]
    activation_bytes: int
    weight_bytes: int
    ema_bytes: int
    latency_cycles: float
    energy_pj: float
    energy_breakdown: EnergyBreakdown


@dataclass(frozen=True)
class RunNetwork:
    """The plan of one network and what it costs."""

    name: str
    weight: float
    ema_bytes: float
    energy_pj: float
    latency_cycles: float
    subgraphs: tuple[RunSubgraph, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """What a search answered. accelerator is None and networks are empty where no plan fits."""

    folder: Path
    command: str
    settings: dict[str, Any]
    seed: int
    versions: dict[str, str]
    engine: str
    method: str
    metric: str
    status: str
    samples: int
    alpha: float | None
    cost: float
    lower_bound: float | None
    gap: float | None
    accelerator: Accelerator | None
    tile_rule: TileRule
    networks: tuple[RunNetwork, ...]
    points: pandas.DataFrame  #: as samples.csv, with "capacity", the bytes of all buffers of one core


def read(folder: Path) -> Run:
    """Return the run in a folder.

    Raises FileFormatError, one line that names the file, where it is missing, cut off or of something else.
    """
    if not folder.is_dir():
        raise FileFormatError(f"{folder}: is no directory; give the one that 'cocco explore -o DIR' wrote")
    path = folder / "result.json"
    about = _Reader(path, read_mapping(path))
    result = about.inner("result")
    is_single = "networks" not in result.content
    plans = [result] if is_single else result.items("networks")
    fitting = [plan for plan in plans if "infeasible" not in plan.content]
    accelerators = [_accelerator(plan) for plan in fitting]
    if len(set(accelerators)) > 1:
        raise FileFormatError(f"{path}: its networks have different accelerators; a run chooses one for all")
    return Run(
        folder, about.get("command", str), about.get("settings", dict), about.get("seed", int),
        {str(name): str(text) for name, text in about.get("versions", dict).items()}, about.get("engine", str),
        result.get("method", str), result.one_of("metric", EVALUATED), result.get("status", str),
        result.get("samples", int),
        result.optional("alpha"), result.get("cost", *NUMBER), result.optional("lower_bound"), result.optional("gap"),
        accelerators[0] if accelerators else None,
        fitting[0].one_of("tile_rule", TILE_RULES) if fitting else "exact",
        tuple(_network(plan, 1.0 if is_single else plan.get("weight", *NUMBER)) for plan in fitting),
        _points(folder),
    )  # fmt: skip


class _Reader:
    """Takes values out of a mapping, and says where it is if one is missing or of another kind."""

    def __init__(self, path: Path, content: Any, where: str = "") -> None:
        if not isinstance(content, Mapping):
            raise FileFormatError(f"{path}: {where or 'it'} is {shown(content)}, which 'cocco explore' does not write")
        self.path, self.content, self.where = path, content, where

    def get(self, key: str, *kinds: type) -> Any:
        value = self.content.get(key)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            found = f"is {shown(value)}" if key in self.content else "is missing"
            raise FileFormatError(f"{self.path}: {self.where}{key!r} {found}; 'cocco explore -o' writes it otherwise")
        return value

    def one_of(self, key: str, known: Collection[str]) -> Any:
        value = self.get(key, str)
        if value not in known:
            raise FileFormatError(f"{self.path}: {self.where}{key!r} is {shown(value)}; known are {', '.join(known)}")
        return value

    def optional(self, key: str) -> float | None:
        return None if self.content.get(key) is None else float(self.get(key, *NUMBER))

    def inner(self, key: str) -> _Reader:
        return _Reader(self.path, self.get(key, dict), f"{self.where}{key}: ")

    def items(self, key: str) -> list[_Reader]:
        found = self.get(key, list)
        return [_Reader(self.path, each, f"{self.where}{key} {i}: ") for i, each in enumerate(found)]

    def list_of(self, key: str, *kinds: type) -> tuple[Any, ...]:
        found = self.get(key, list)
        if not found or not all(isinstance(each, kinds) for each in found):
            raise FileFormatError(f"{self.path}: {self.where}{key!r} is {shown(found)}, which is no list it writes")
        return tuple(found)


def _accelerator(plan: _Reader) -> Accelerator:
    content = dict(plan.inner("accelerator").content)
    try:
        return Accelerator(**content | {"technology": Technology(**content.get("technology", {}))})
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{plan.path}: {plan.where}'accelerator': {one_line(error)}") from None


def _network(plan: _Reader, weight: float) -> RunNetwork:
    totals = plan.inner("totals")
    ema, energy, latency = (totals.get(name, *NUMBER) for name in ("ema_bytes", "energy_pj", "latency_cycles"))
    subgraphs = tuple(_subgraph(each) for each in plan.items("subgraphs"))
    if len(subgraphs) != totals.get("subgraphs", int) or not subgraphs:
        raise FileFormatError(f"{plan.path}: {plan.where}has {len(subgraphs)} subgraphs, its totals say otherwise")
    return RunNetwork(plan.get("network", str), weight, ema, energy, latency, subgraphs)


def _subgraph(each: _Reader) -> RunSubgraph:
    tile = each.list_of("tile", int)
    if len(tile) != 2:
        raise FileFormatError(f"{each.path}: {each.where}'tile' is {shown(tile)}; it must be rows and columns")
    breakdown = each.inner("energy_breakdown")
    counts = {name: each.get(name, int) for name in ("activation_bytes", "weight_bytes", "ema_bytes")}
    numbers = {name: each.get(name, *NUMBER) for name in ("latency_cycles", "energy_pj")}
    parts = EnergyBreakdown(*(breakdown.get(part, *NUMBER) for part in EnergyBreakdown._fields))
    found = {"layers": each.list_of("layers", str), "tile": tile, **counts, **numbers, "energy_breakdown": parts}
    return RunSubgraph(*(found[field.name] for field in fields(RunSubgraph)))


def _points(folder: Path) -> pandas.DataFrame:
    """Return samples.csv, checked against history.csv, which says how many samples there were."""
    points, history = _table(folder / "samples.csv"), _table(folder / "history.csv")
    path = folder / "samples.csv"
    buffers = [name for name in points.columns if name.endswith("_buffer_bytes")]
    missing = [name for name in NEEDED if name not in points.columns]
    if missing or not buffers or "samples" not in history.columns:
        raise FileFormatError(f"{path}: has no column {(missing or ['..._buffer_bytes'])[0]!r}; is it of a run?")
    told = history["samples"].iloc[-1]
    last = points["sample"].iloc[-1] if len(points) else 0
    if last != told:
        raise FileFormatError(f"{path}: ends with sample {last}, history.csv with {told}; it is cut off")
    return points.assign(capacity=points[buffers].sum(axis=1))


def _table(path: Path) -> pandas.DataFrame:
    import pandas

    try:
        if path.stat().st_size > MAX_CSV_BYTES:
            raise FileFormatError(f"{path}: is larger than {MAX_CSV_BYTES} bytes, the most that is read")
        table = pandas.read_csv(path)
        numbers = table.astype(float)
    except FileFormatError:
        raise
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise FileFormatError(f"{path}: is no table of numbers: {one_line(error)}") from None
    if table.empty or not (abs(numbers) < float("inf")).all(axis=None):
        raise FileFormatError(f"{path}: is empty or cut off, or has a number that is not finite")
    return table
