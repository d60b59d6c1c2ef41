"""The plans of a page: those of the answer as the run has them, and those of its other sizes, priced again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import workloads
from cocco.candidates.rounding import SAME
from cocco.exploration.answers.ranges import Candidate
from cocco.output.folders.read.chips import ChipsRun
from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.reading import Reader
from cocco.output.folders.read.run import SINGLE, Run, RunNetwork, RunSubgraph, network_of, said_plan
from cocco.output.folders.written.about import PARTITIONS, partition_names
from cocco.output.folders.written.run import size_names
from cocco.output.text.layout.numbers import buffer_columns, capacity
from cocco.problem.criteria import CRITERIA, METRICS
from simulator.accelerator import Accelerator, Machine
from simulator.evaluation import evaluate
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.subgraph_cost import clipped
from simulator.technology import Technology
from simulator.views.least_capacity import Need, least_capacity
from simulator.views.occupancy import Occupancy, occupancies
from workloads.network.network import Network

PAGE_STEPS = 2_200  #: of all plans on a page, our choice: some 1.5 MB and seconds; plans beyond it are links
WHOLE = "This network cannot be read from here, so its activations are not split into MAIN and SIDE."
OTHERWISE = (
    "This version, or the network as it is now, prices the plan otherwise, so its activations are not split into MAIN "
    "and SIDE."
)

Networks = Mapping[str, Network]  #: by name, those of a run that are not built in
BUILT_IN: Networks = {}


@dataclass(frozen=True)
class ShownPlan:
    """One network's plan in one memory. link: its file next to the page. partition: None where it cannot be priced."""

    machine: Accelerator
    network: RunNetwork
    link: str
    loaded: Network | None
    partition: Partition | None
    occupied: Sequence[Occupancy]
    needs: Sequence[Need] | None
    note: str


@dataclass(frozen=True)
class ShownMemory:
    """The plans of all networks in one memory, shown together."""

    title: str
    plans: tuple[ShownPlan, ...]


def answer(run: Run | FrontRun | ChipsRun, networks: Networks = BUILT_IN) -> ShownMemory:
    """Return the plans of a run's recommendation, with its prices."""
    assert run.accelerator is not None
    names = partition_names([network.name for network in run.networks])
    if isinstance(run, FrontRun):
        names = str(run.front["partition"].iloc[0]).split()
    names = [file if (run.folder / file).is_file() else "" for file in names]  # no link to what is not there
    plans = [_given(run.accelerator, run.tile_rule, *pair, networks) for pair in zip(run.networks, names)]
    return ShownMemory(_title(run.accelerator), tuple(plans))


def others_of_run(run: Run, networks: Networks = BUILT_IN) -> dict[tuple[int, ...], ShownMemory]:
    """Return the plans of other sizes that the folder of a run has, by the bytes of their buffers, near ones first.

    Of more than a page has room for, those that no size of as many bytes undercuts come first.
    """
    if run.accelerator is None or run.ranges is None:
        return {}
    steps, found = sum(len(network.subgraphs) for network in run.networks), dict[tuple[int, ...], ShownMemory]()
    here, names = run.accelerator.buffer_bytes, [network.name for network in run.networks]
    line = {each.buffers for each in _line(run.ranges.candidates)}
    for each in sorted(run.ranges.candidates, key=lambda each: (each.buffers not in line, abs(each.size_bytes - here))):
        sizes = dict(each.buffers)
        files = size_names(names, list(sizes.values()))
        if not all((run.folder / file).is_file() for file in files):
            continue
        buffers = {name.removesuffix("_bytes"): size for name, size in sizes.items()}
        if steps > PAGE_STEPS:
            break
        choice = _priced(run.folder, names, files, run.accelerator.machine, buffers, run.tile_rule, networks)
        if choice is None or each.value is None:
            continue
        column = CRITERIA[run.metric].column
        value = sum(old.weight * getattr(new.network, column) for old, new in zip(run.networks, choice.plans))
        steps += sum(len(plan.network.subgraphs) for plan in choice.plans)
        if abs(value - each.value) <= SAME * each.value and steps <= PAGE_STEPS:
            found[tuple(sizes.values())] = choice
    return found


def _line(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the sizes whose plan takes less than any of as many bytes or fewer."""
    found, least = list[Candidate](), math.inf
    for each in sorted(candidates, key=lambda each: (each.size_bytes, math.inf if each.value is None else each.value)):
        if each.value is not None and each.value < least:
            least = each.value
            found.append(each)
    return found


def points_of_front(run: FrontRun, networks: Networks = BUILT_IN) -> dict[int, ShownMemory]:
    """Return the plans of a front's points, by their positions; none where this version prices them otherwise."""
    machine = _machine(run)
    if machine is None or run.is_limited:
        return {}
    steps, found = 0, dict[int, ShownMemory]()
    for position, row in enumerate(run.front.to_dict("records")):
        sizes = {name.removesuffix("_bytes"): int(row[name]) for name in buffer_columns(run.front.columns)}
        files = str(row["partition"]).split()
        choice = _priced(run.folder, run.names, files, machine, sizes, _tile_rule(run), networks)
        if choice is None or not _is_same(run, row, choice):
            continue
        steps += sum(len(plan.network.subgraphs) for plan in choice.plans)
        if steps <= PAGE_STEPS:
            found[position] = choice
    return found


def _is_same(run: FrontRun, row: dict[Any, Any], choice: ShownMemory) -> bool:
    weights = run.about.settings.get("weights", [1.0] * len(choice.plans))
    for name in {*METRICS} & set(run.objectives):
        column = CRITERIA[name].column
        value = sum(weight * getattr(plan.network, column) for weight, plan in zip(weights, choice.plans))
        if abs(value - row[column]) > SAME * abs(row[column]):
            return False
    return True


def _machine(run: FrontRun) -> Machine | None:
    """Return the hardware of a front without its buffers; None where its settings do not say it."""
    settings = run.about.settings
    names = ("cores", "batch", "max_regions", "technology")
    if settings.get("mapper") not in (None, "enumerate") or not all(name in settings for name in names):
        return None
    try:
        technology = Technology.from_json(settings["technology"])
        return Machine(settings["cores"], settings["batch"], settings["max_regions"], technology=technology)
    except (TypeError, ValueError, KeyError):
        return None


def _tile_rule(run: FrontRun) -> TileRule:
    return "paper" if run.about.settings.get("tile_rule") == "paper" else "exact"


def _priced(
    folder: Path,
    names: Sequence[str],
    files: Sequence[str],
    machine: Machine,
    buffers: dict[str, int],
    rule: TileRule,
    networks: Networks,
) -> ShownMemory | None:
    """Return the plans in these files, priced; None where one is missing, of something else, or does not run."""
    if len(names) != len(files):
        return None
    plans = []
    for name, file in zip(names, files):
        path = folder / file
        loaded = _loaded(name, networks)
        if loaded is None or path.resolve().parent.parent != folder.resolve():
            return None
        try:
            accelerator = machine.with_buffers(**buffers)
            partition = Partition.load(path, loaded)
            priced = evaluate(loaded, partition, accelerator, rule)
        except (OSError, ValueError):
            return None
        if not priced.fits:
            return None
        network = network_of(Reader(path, json.loads(json.dumps(priced.to_json())), SINGLE))
        plans.append(_planned(accelerator, rule, network, file, loaded, partition, tuple(occupancies(loaded, priced))))
    return ShownMemory(_title(plans[0].machine), tuple(plans)) if plans else None


def _loaded(name: str, networks: Networks) -> Network | None:
    """Return the network of this name: one that was read, else a built-in one; None where it is not known."""
    if name in networks:
        return networks[name]
    return workloads.load(name) if name in workloads.names() else None


def _given(machine: Accelerator, rule: TileRule, network: RunNetwork, file: str, networks: Networks) -> ShownPlan:
    """Return the plan of an answer: its prices as the run has them, the rest where this version prices it equally."""
    whole = [Occupancy(cost.weight_bytes, cost.activation_bytes, 0, cost.kept_bytes) for cost in network.subgraphs]
    loaded = _loaded(network.name, networks)
    if loaded is None:
        return ShownPlan(machine, network, file, None, None, whole, None, WHOLE)
    try:
        partition = said_plan(loaded, network)
        priced = evaluate(loaded, partition, machine, rule)
    except ValueError:  # a network of the user's with the name of a built-in one
        return ShownPlan(machine, network, file, None, None, whole, None, WHOLE)
    if [cost.energy_pj for cost in priced.subgraphs] != [cost.energy_pj for cost in network.subgraphs]:
        return ShownPlan(machine, network, file, loaded, partition, whole, None, OTHERWISE)
    return _planned(machine, rule, network, file, loaded, partition, tuple(occupancies(loaded, priced)))


def _planned(
    machine: Accelerator, rule: TileRule, network: RunNetwork, file: str, loaded: Network, partition: Partition,
    occupied: Sequence[Occupancy],
) -> ShownPlan:  # fmt: skip
    note = "MAIN: windows that slide over the rows. SIDE: rows kept for the next row of tiles."
    if network.keep:
        note = f"Kept whole: tensors that stay from one subgraph to a later one. {note}"
    least = least_capacity(loaded, partition, machine=machine.machine, tile_rule=rule)
    return ShownPlan(machine, network, file, loaded, partition, occupied, least.needs if least.fits else None, note)


def _title(machine: Accelerator) -> str:
    if machine.is_shared:
        return capacity(machine.activation_capacity)
    return f"{capacity(machine.activation_capacity)} + {capacity(machine.weight_capacity)}"


def shown_tile(plan: ShownPlan, cost: RunSubgraph) -> tuple[int, int]:
    """Return the tile of a subgraph, no larger than its map where the network is known."""
    return cost.tile if plan.loaded is None or plan.partition is None else clipped(cost.tile, plan.loaded, cost.layers)


def is_link(file: str) -> bool:
    """Return whether the name of a partition file is one that a search writes, so that it may stand in a link."""
    return all(part not in ("", ".", "..") and ":" not in part for part in file.split("/")) and (
        "/" not in file or file.startswith(f"{PARTITIONS}/")
    )
