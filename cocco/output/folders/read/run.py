"""A run folder as plain data, checked: what `cocco explore -o` wrote, read again without trusting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cocco.exploration.answers.ranges import Ranges
from cocco.output.folders.read.parts import Placing, placing_of, ranges_of
from cocco.output.folders.read.reading import NUMBER, Reader, table_of
from cocco.output.folders.written.about import HISTORY, SAMPLES_FILE, About
from cocco.output.text.layout.numbers import buffer_columns
from simulator.accelerator import Accelerator
from simulator.metrics import DEFAULT_METRIC, METRIC_NAMES, OLD_NAMES, Metric
from simulator.model.cost import ENERGY_BY_TIME, EnergyBreakdown
from simulator.model.subgraph.tiling import TILE_RULES, TileRule
from simulator.partition.partition import Partition
from simulator.partition.schemes import CORE_SCHEMES
from simulator.technology import Technology
from simulator.timing.serving import Serving
from workloads.errors import FileFormatError, one_line, shown
from workloads.network.network import Network

if TYPE_CHECKING:
    import pandas

SINGLE = "result: "  #: where the plan of a run for one network stands
SAMPLE_COLUMNS = ("sample", "generation", "value", "cost", "best_cost")


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
    kept_bytes: int = 0  #: of tensors that stay on chip between subgraphs
    spare_bytes: int = 0  #: left free for weights of later subgraphs
    scheme: str = ""  #: how several cores share it; of one core none
    compute_cycles: float = 0.0
    order: str = ""  #: of a single layer that passes in pieces: its loop order
    utilization: float | None = None  #: MACs done of those possible while it computes; None where it is not said


@dataclass(frozen=True)
class RunKept:
    """A tensor that stays on chip from one subgraph to a later one; layers as in partition files."""

    tensor: str
    from_layer: str
    until_layer: str
    from_step: int
    until_step: int
    size_bytes: int  #: of one core

    def to_json(self) -> dict[str, str]:
        """Return the interval as partition files have it."""
        return {"tensor": self.tensor, "from": self.from_layer, "until": self.until_layer}


@dataclass(frozen=True)
class RunNetwork:
    """The plan of one network and what it costs."""

    name: str
    weight: float
    ema_bytes: float
    energy_pj: float
    latency_cycles: float
    subgraphs: tuple[RunSubgraph, ...]
    metric: Metric = DEFAULT_METRIC  #: by which tiles and loop orders were chosen
    keep: tuple[RunKept, ...] = ()
    kept_saved_bytes: int | None = None  #: off chip; None where nothing is kept, or without it nothing runs
    any_schedule_bound_bytes: float | None = None  #: what any schedule moves at least; None where it is not said
    utilization: float | None = None  #: MACs done of those possible while it computes; None where it is not said
    utilization_executed: float | None = None  #: the same of the executed latency
    serving: Serving | None = None  #: of a language model


@dataclass(frozen=True, eq=False)
class Run:
    """What a search answered. accelerator is None and networks are empty where no plan fits."""

    folder: Path
    about: About
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
    count: str  #: whose buffers the cost counts: "one" core's, or those of "all"
    points: pandas.DataFrame  #: as samples.csv, with "capacity", the bytes of all buffers of one core
    ranges: Ranges | None = None  #: sizes that cost as little
    placing: Placing | None = None  #: None: no addresses were sought
    space: tuple[str, ...] = ()  #: the kinds of plans that the answer is the least among; empty where it is not said


def read_run(folder: Path, about: About, result: Reader) -> Run:
    """Return the run of 'cocco explore' in a folder."""
    plans = plans_of(result)
    accelerator = common_accelerator(plans)
    return Run(
        folder, about, result.get("method", str), metric_said(result), result.get("status", str),
        result.get("samples", int),
        result.optional("alpha"), result.get("cost", *NUMBER), result.optional("lower_bound"), result.optional("gap"),
        accelerator, tile_rule_of(plans), networks_of(plans), result.content.get("count", "one"), _points(folder),
        ranges_of(result), placing_of(result), space_said(result),
    )  # fmt: skip


def space_said(result: Reader) -> tuple[str, ...]:
    """Return the kinds of plans that a result names."""
    return tuple(result.list_of("space", str)) if "space" in result.content else ()


def metric_said(said: Reader) -> Metric:
    """Return the metric that a result or a plan names."""
    name: Metric | str = said.one_of("metric", (*METRIC_NAMES, *OLD_NAMES))
    return OLD_NAMES.get(name, cast(Metric, name))


def ranges_said(settings: Reader, result: Reader) -> Reader:
    """Return the ranges of a run by buffer: those asked, or those that the answer names where they went on."""
    asked = settings.inner("space")
    goes_on = any(asked.get(name, dict).get("extends") for name in asked.content)
    return result.inner("searched") if goes_on and "searched" in result.content else asked


def plans_of(result: Reader) -> list[Reader]:
    """Return the plans of a result that fit: the result itself, or one for each network."""
    plans = [result] if "networks" not in result.content else result.items("networks")
    return [plan for plan in plans if "infeasible" not in plan.content]


def common_accelerator(plans: Sequence[Reader]) -> Accelerator | None:
    """Return the accelerator of all plans, None where there is no plan."""
    accelerators = [_accelerator(plan) for plan in plans]
    if len(set(accelerators)) > 1:
        raise FileFormatError(f"{plans[0].path}: its networks have different accelerators; a run chooses one for all")
    return accelerators[0] if accelerators else None


def tile_rule_of(plans: Sequence[Reader]) -> TileRule:
    """Return the tile rule that the plans were priced with."""
    rule: TileRule = plans[0].one_of("tile_rule", TILE_RULES) if plans else "exact"
    return rule


def networks_of(plans: Sequence[Reader]) -> tuple[RunNetwork, ...]:
    """Return the networks of the plans; one alone has the weight 1."""
    return tuple(_network(plan, 1.0 if plan.where == SINGLE else plan.get("weight", *NUMBER)) for plan in plans)


def said_plan(loaded: Network, said: RunNetwork) -> Partition:
    """Return the partition of a network according to result.json; raises ValueError if it is not a valid one."""
    keep = [each.to_json() for each in said.keep]
    groups, schemes = [cost.layers for cost in said.subgraphs], [cost.scheme for cost in said.subgraphs]
    spare = [cost.spare_bytes for cost in said.subgraphs]
    return Partition.from_groups(loaded, groups, said.metric, keep, schemes, spare)


def network_of(plan: Reader) -> RunNetwork:
    """Return one priced plan, as `Evaluation.to_json` has it."""
    return _network(plan, 1.0)


def _accelerator(plan: Reader) -> Accelerator:
    content = dict(plan.inner("accelerator").content)
    mapper = plan.inner("accelerator").inner("mapper").content if "mapper" in content else None
    try:
        if mapper is not None:
            from cocco.mapping.mapper import mapper_from_json

            content["mapper"] = mapper_from_json(mapper)
        return Accelerator(**content | {"technology": Technology.from_json(content.get("technology", {}))})
    except (TypeError, ValueError, KeyError) as error:
        raise FileFormatError(f"{plan.path}: {plan.where}'accelerator': {one_line(error)}") from None


def _network(plan: Reader, weight: float) -> RunNetwork:
    totals = plan.inner("totals")
    ema, energy, latency = (totals.get(name, *NUMBER) for name in ("ema_bytes", "energy_pj", "latency_cycles"))
    metric = metric_said(plan) if "metric" in plan.content else DEFAULT_METRIC
    subgraphs = tuple(_subgraph(each) for each in plan.items("subgraphs"))
    if len(subgraphs) != totals.get("subgraphs", int) or not subgraphs:
        raise FileFormatError(f"{plan.path}: {plan.where}has {len(subgraphs)} subgraphs, its totals say otherwise")
    saved = totals.get("kept_saved_bytes", int) if totals.content.get("kept_saved_bytes") is not None else None
    return RunNetwork(
        plan.get("network", str), weight, ema, energy, latency, subgraphs, metric, _keep(plan, subgraphs), saved,
        plan.optional("any_schedule_bound_bytes"), totals.optional("utilization"),
        totals.optional("utilization_executed"), _serving(plan.inner("serving")) if "serving" in plan.content else None,
    )  # fmt: skip


def _serving(said: Reader) -> Serving:
    """Return what a step of a language model means to its users."""
    whole = {name: said.get(name, int) for name in ("new_tokens", "sequences", "cache_bytes", "positions")}
    seconds = {
        name: said.get(name, *NUMBER)
        for name in ("seconds", "joules", "compute_seconds", "dram_seconds", "least_dram_seconds")
    }
    for name, value in {**whole, **seconds}.items():
        if value < 0 or (not value and name in ("new_tokens", "sequences", "seconds")):
            raise said.broken(name, "it must be a number above 0")
    times = None if said.content.get("times") is None else said.get("times", int)
    kinds = {
        "chips": (int,),
        "weight_bytes": (int,),
        "dram_bytes": (int,),
        "link_bytes": (int,),
        "link_seconds": NUMBER,
    }
    later = {name: said.get(name, *kind) for name, kind in kinds.items() if name in said.content}
    return Serving(said.get("is_prompt", bool), **whole, **seconds, times=times, **later)


def _keep(plan: Reader, subgraphs: Sequence[RunSubgraph]) -> tuple[RunKept, ...]:
    """Return what is kept on chip, each by the subgraphs of its ends."""
    if "keep" not in plan.content:
        return ()
    step_of = {layer: step for step, subgraph in enumerate(subgraphs) for layer in subgraph.layers}
    found = []
    for each in plan.items("keep"):
        start, until = each.get("from", str), each.get("until", str)
        steps = step_of.get(start, -1), step_of.get(until, -1)
        if not 0 <= steps[0] < steps[1]:
            raise FileFormatError(
                f"{plan.path}: {each.where}{shown(start)} to {shown(until)} is no interval of its plan"
            )
        found.append(RunKept(each.get("tensor", str), start, until, *steps, each.get("bytes", int)))
    return tuple(found)


def _subgraph(each: Reader) -> RunSubgraph:
    tile = each.list_of("tile", int)
    if len(tile) != 2:
        raise FileFormatError(f"{each.path}: {each.where}'tile' is {shown(tile)}; it must be rows and columns")
    breakdown = each.inner("energy_breakdown")
    counts = {name: each.get(name, int) for name in ("activation_bytes", "weight_bytes", "ema_bytes")}
    numbers = {name: each.get(name, *NUMBER) for name in ("latency_cycles", "energy_pj")}
    said = [part for part in EnergyBreakdown._fields if part not in ENERGY_BY_TIME or part in breakdown.content]
    parts = EnergyBreakdown(**{part: breakdown.get(part, *NUMBER) for part in said})
    counts |= {name: each.get(name, int) if name in each.content else 0 for name in ("kept_bytes", "spare_bytes")}
    found = {
        "layers": each.list_of("layers", str),
        "tile": tile,
        **counts,
        **numbers,
        "energy_breakdown": parts,
        "scheme": each.one_of("scheme", CORE_SCHEMES) if "scheme" in each.content else "",
        "compute_cycles": each.optional("compute_cycles") or 0.0,
        "utilization": each.optional("utilization"),
        "order": each.inner("loops").get("order", str) if isinstance(each.content.get("loops"), dict) else "",
    }
    return RunSubgraph(*(found[field.name] for field in fields(RunSubgraph)))


def _points(folder: Path) -> pandas.DataFrame:
    """Return samples.csv, checked against history.csv, which says how many samples there were."""
    points, history = table_of(folder / SAMPLES_FILE), table_of(folder / HISTORY)
    path = folder / SAMPLES_FILE
    buffers = buffer_columns(points.columns)
    missing = [name for name in SAMPLE_COLUMNS if name not in points.columns]
    if missing or not buffers or "samples" not in history.columns:
        raise FileFormatError(f"{path}: has no column {(missing or ['..._buffer_bytes'])[0]!r}; is it of a run?")
    told = history["samples"].iloc[-1]
    last = points["sample"].iloc[-1] if len(points) else 0
    if last != told:
        raise FileFormatError(f"{path}: ends with sample {last}, {HISTORY} with {told}; it is cut off")
    return points.assign(capacity=points[buffers].sum(axis=1))
