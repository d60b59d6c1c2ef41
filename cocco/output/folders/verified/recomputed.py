"""What result.json must say about its plans: prices the plans again and computes all that follows from prices.

NOT_DERIVED stands for a number that is a record of the run and does not follow from any plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

from cocco.bounds.any_schedule import any_schedule_json
from cocco.bounds.floors.least import gap
from cocco.bounds.kinds import kinds_of_plans
from cocco.exploration.answers.front import FrontPoint, buffer_bytes, by_column, joined_json
from cocco.exploration.answers.ranges import LISTED, Candidate, Ranges
from cocco.exploration.compromise import Compromise
from cocco.exploration.memories.nearby import terms_of
from cocco.output.folders.read.compared import NOT_DERIVED, SAME
from cocco.output.folders.read.parts import ranges_of
from cocco.output.folders.read.reading import NUMBER, Reader
from cocco.output.folders.read.run import (
    common_accelerator,
    networks_of,
    plans_of,
    ranges_said,
    said_plan,
    tile_rule_of,
)
from cocco.output.folders.verified.chips import chip_said, question_of
from cocco.output.folders.verified.made_for import RunFolder, made_for
from cocco.output.folders.written.addresses import maps_of_plans
from cocco.output.folders.written.run import size_names
from cocco.output.text.layout.numbers import buffer_columns
from cocco.problem.criteria import CRITERIA, of_a_sum
from cocco.problem.exchange import DEFAULT_ALPHA, exchange_of, exchanged
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import Range, SharedBuffer, Space, space_of
from simulator.accelerator import Accelerator, Machine
from simulator.evaluation import Evaluation, evaluate
from simulator.partition.partition import Partition
from simulator.technology import Technology
from workloads.errors import FileFormatError
from workloads.network.network import Network

OF_CHIPS = ("weights", "cores", "batch", "max_regions", "technology", "axes", "limits", "rates", "idle")  #: settings
Priced = tuple[tuple[Partition, ...], tuple[Evaluation, ...]]


class WorkedOut:
    """What a run folder's result.json must say. networks: those of the run, in its order.

    is_full: include what takes longer, plans of other sizes and addresses.
    """

    def __init__(self, run: RunFolder, networks: Sequence[Network], is_full: bool) -> None:
        self.run, self.networks, self.is_full = run, tuple(networks), is_full
        self.result, self.settings = run.result, Reader(run.result.path, run.about.settings, "settings: ")
        self.chip: Accelerator | None = None  # that a plan was made for

    def content(self) -> dict[str, Any]:
        """Return the mapping without records of the run. Where one number implies another, they must agree."""
        said, asked = self.result.content, self.settings.content
        result = {"seed": self.run.about.seed, **self._of_plans()}
        settings = {name: said[name] for name in ("minimize", "alpha") if name in said}
        settings |= {"alpha": DEFAULT_ALPHA} if asked.get("exchange") is not None else {}
        weights = [each.content["weight"] for each in self._plans if "weight" in each.content]
        is_of_chips = "machines" in said
        if is_of_chips:  # the machine of its plans, and what they cost, follow from these
            settings |= {name: asked[name] for name in OF_CHIPS if name in asked}
        if "weights" in asked and not is_of_chips:
            settings["weights"], result["weights"] = weights or asked["weights"], asked["weights"]
        if "limits" in said and not is_of_chips:
            columns = {name: unit.column for name, unit in CRITERIA.items()}
            result["limits"] = {columns[name]: most for name, most in self.settings.get("limits", dict).items()}
            settings["limits"] = {name: said["limits"].get(columns[name]) for name in asked["limits"]}
        if self.chip is not None and not is_of_chips:
            machine = self.chip.to_json()
            settings |= {name: machine[name] for name in asked if name in machine and name != "mapper"}
            for name, sizes in self.problem.buffers.items():
                if "space" in asked and getattr(self.chip, name) not in sizes:
                    size = getattr(self.chip, name)
                    raise FileFormatError(
                        f"{self.result.path}: settings: space: {size} bytes are none of its candidates"
                    )
        return {"seed": said.get("seed", self.run.about.seed), "settings": settings, "result": result}

    def _of_plans(self) -> dict[str, Any]:
        if "front" in self.result.content:
            return {"front": [self._point(*each) for each in enumerate(self.result.items("front"), 1)]}
        if "nearest" in self.result.content and "machines" not in self.result.content:
            nearest, limits = self._point(1, self.result.inner("nearest"), 1), self.settings.get("limits", dict)
            columns = {
                name: CRITERIA[name if CRITERIA[name].column in nearest else of_a_sum(name)].column for name in limits
            }
            factors = [nearest[columns[name]] / most for name, most in limits.items()]
            return {"nearest": nearest, "excess": max(factors)}
        if not self._plans:
            return {}
        found = [
            evaluation.to_json() | {"partition": [list(names) for names in plan.names]} | any_schedule_json(evaluation)
            for plan, evaluation in zip(*self._priced)
        ]
        if self.is_full and any("addresses" in plan.content for plan in self._plans):
            maps = maps_of_plans(self.networks, self._priced[0], self.machine, self._rule)
            found = [each | {"addresses": one.to_json()} for each, one in zip(found, maps)]
        if "machines" in self.result.content:
            return joined_json(found, *self._chip())
        search = self._limited() if "minimize" in self.result.content else self._explored()
        search |= buffer_bytes(self.machine)
        search["space"] = kinds_of_plans(self.machine, self.settings.content.get("keep", "none"))
        if "networks" not in self.result.content:
            return found[0] | search
        return search | {"networks": [one | {"weight": w} for one, w in zip(found, self.problem.objective.weights)]}

    def _chip(self) -> tuple[Sequence[float], dict[str, Any]]:
        """Return the weights of the networks, and what a search over machines says in addition to its plans."""
        question, evaluations = question_of(self.settings, self.networks), self._priced[1]
        base, space, axes = self._settings_machine, _space(self.settings, self.result), self.settings.get("axes", dict)
        said = chip_said(question, axes, self.result, base, space or SharedBuffer(), evaluations)
        kinds = kinds_of_plans(self._settings_machine, self.settings.content.get("keep", "none"))
        return question.weights, said | self._bound(said["cost"]) | {"space": kinds}

    def _explored(self) -> dict[str, Any]:
        """Return what a search with alpha says in addition to its plans."""
        problem, said = self.problem, self.result.content
        cost = problem.cost(self._priced[1])
        found: dict[str, Any] = {"metric": problem.objective.metric, "cost": cost}
        found |= self._bound(cost)
        if self.settings.content.get("alpha") is not None:
            exchange = exchange_of(problem)
            found |= {"alpha": problem.objective.alpha, "count": problem.objective.count}
            found["exchange"] = exchange.to_json() if exchange is not None and said.get("exchange") else None
        if said.get("ranges") is not None:
            found["ranges"] = self._ranges(cost)
        if "compromise" in said:
            rows = zip(self.networks, problem.objective.weights, self._priced[1], self.result.items("compromise"))
            found["compromise"] = [self._compromise(*row) for row in rows]
        return found

    def _limited(self) -> dict[str, Any]:
        """Return what a search under limits says in addition to its plans."""
        names = [name for name, unit in CRITERIA.items() if unit.column in self.result.content]
        values = dict(zip(names, Plane(self.problem, names).judged(self._priced[1])))
        least = values.get(self.result.get("minimize", str))
        return by_column(names, list(values.values())) | ({} if least is None else self._bound(least))

    def _bound(self, least: float) -> dict[str, Any]:
        """Return the bound, as far as the answer says it, and the gap to it."""
        claimed = self.result.optional("lower_bound")
        if claimed is None:
            return {}
        is_proved = self.result.get("status", str) == "optimal"
        is_false = claimed > least * (1 + SAME) or (is_proved and claimed < least * (1 - SAME))
        found = {"lower_bound": least} if is_false or is_proved else {}
        return found | ({"gap": gap(least, claimed)} if "gap" in self.result.content else {})

    def _ranges(self, cost: float) -> dict[str, Any]:
        """Return the sizes around the recommendation: prices of plans that are there, and what follows from others."""
        said = ranges_of(self.result)
        assert said is not None, "it is requested only where it is there"
        total = prod(len(sizes) for sizes in self.problem.buffers.values())
        rows = [(each, *self._candidate(each)) for each in said.candidates]
        found = Ranges(cost, tuple(row[1] for row in rows), total - len(rows)).to_json()
        if said.is_one_buffer and total <= LISTED:
            (sizes,) = self.problem.buffers.values()
            for listed, size in zip(found["sizes"], sizes):
                listed[said.candidates[0].buffers[0][0]] = size
        for content, (claimed, right, is_priced) in zip(found["sizes"], rows):
            if claimed.bound == right.bound:
                content["bound"] = NOT_DERIVED
            if not is_priced and claimed.value is not None:
                content["value"] = NOT_DERIVED
            if right.terms is claimed.terms:
                content |= {name: NOT_DERIVED for name in content if name.endswith("_pj")}
        return found

    def _candidate(self, claimed: Candidate) -> tuple[Candidate, bool]:
        """Return a size as it must be said, and whether its plan was priced again."""
        sizes = {name.removesuffix("_bytes"): size for name, size in claimed.buffers}
        chip = self.machine.machine.with_buffers(**sizes)
        files = size_names([network.name for network in self.networks], list(sizes.values()))
        found = self._priced[1] if chip == self.machine else None
        if found is None and self.is_full and all((self.run.folder / file).is_file() for file in files):
            found = self._load(files, chip)[1]
        value, terms = claimed.value, claimed.terms
        if found is not None:
            value = self.problem.objective.judged(found)
            terms = None if terms is None else terms_of(self.problem, found)
        cost = None if value is None else self.problem.objective.cost(value, chip)
        bound = cost if cost is not None and claimed.bound > cost * (1 + SAME) else claimed.bound
        return replace(
            claimed, bound=bound, cost=cost, value=value, terms=terms, area_mm2=chip.area_mm2,
            leakage_mw=chip.leakage_mw,
        ), found is not None  # fmt: skip

    def _compromise(self, network: Network, weight: float, priced: Evaluation, said: Reader) -> dict[str, Any]:
        metric, alone = self.problem.objective.metric, said.inner("alone")
        column = CRITERIA[metric].column
        sizes = {name.removesuffix("_bytes"): alone.get(name, int) for name in buffer_columns(alone.content)}
        own, value = self.machine.machine.with_buffers(**sizes), float(alone.get(column, *NUMBER))
        common, cost = float(getattr(priced, column)), self.problem.objective.cost
        costs = cost(0.0 + weight * value, own), cost(0.0 + weight * common, self.machine)
        found = Compromise(network.name, weight, metric, own, costs[0], value, costs[1], common, 0).to_json()
        found["alone"] |= dict.fromkeys([column, *alone.content.keys() & buffer_bytes(own).keys()], NOT_DERIVED)
        return found | {"samples": NOT_DERIVED}

    def _point(self, number: int, said: Reader, total: int = 0) -> dict[str, Any]:
        """Return a point of a front as it must be said."""
        sizes = {name.removesuffix("_bytes"): said.get(name, int) for name in buffer_columns(said.content)}
        width = len(str(total or len(self.result.content["front"])))
        stem, count = f"{number:0{width}}", len(self.networks)
        files = [f"{stem}.json"] if count == 1 else [f"{stem}-{place}.json" for place in range(1, count + 1)]
        objectives = [name for name, unit in CRITERIA.items() if unit.column in said.content]
        chip = self._settings_machine.with_buffers(**sizes)
        plans, evaluations = self._load([f"partitions/{file}" for file in files], chip)
        chip, values = evaluations[0].accelerator, Plane(self.problem, objectives).judged(evaluations)
        return FrontPoint(values, chip, plans, evaluations).to_json(objectives)

    def _load(self, files: Sequence[str], chip: Accelerator) -> Priced:
        """Return the plans in these files, priced on the hardware that they were made for.

        If the file of a plan of the answer is gone, the plan is taken from result.json.
        """
        plans, evaluations = [], []
        for at, (network, file) in enumerate(zip(self.networks, files)):
            path, made = self.run.folder / file, None
            if path.is_file() or not self._plans:
                plan, made = Partition.load(path, network), made_for(path)
            else:
                plan = said_plan(network, networks_of(self._plans)[at])
            found = evaluate(network, plan, made or chip, self._rule)
            if not found.fits:
                raise FileFormatError(f"{path}: does not run on its hardware: {found.infeasible[0]}")
            plans.append(plan)
            evaluations.append(found)
            self.chip = found.accelerator
        return tuple(plans), tuple(evaluations)

    @cached_property
    def _plans(self) -> list[Reader]:
        is_point = "front" in self.result.content or "nearest" in self.result.content
        return [] if is_point else plans_of(self.result)

    @cached_property
    def _accelerator(self) -> Accelerator | None:
        return common_accelerator(self._plans)

    @property
    def has_plans(self) -> bool:
        """Whether the run has an answer: a plan for each network."""
        return bool(self._plans)

    @property
    def plans(self) -> tuple[Partition, ...]:
        """The answer."""
        return self._priced[0]

    @property
    def machine(self) -> Accelerator:
        """The hardware that the plans were made for; if their files do not say, that of result.json."""
        return self._priced[1][0].accelerator

    @property
    def _rule(self) -> Any:
        return tile_rule_of(self._plans) if self._plans else self.settings.content.get("tile_rule", "exact")

    @cached_property
    def _priced(self) -> Priced:
        assert self._accelerator is not None, "there are plans"
        return self._load(self.run.files, self._accelerator)

    @property
    def _settings_machine(self) -> Machine:
        names = [name for name in ("cores", "batch", "max_regions") if name in self.settings.content]
        technology = Technology.from_json(self.settings.content.get("technology", {}))
        return Machine(**{name: self.settings.content[name] for name in names}, technology=technology)

    @cached_property
    def problem(self) -> Problem:
        """The question according to the settings."""
        said = self.settings.content
        metric = self.result.content.get("metric", "energy") if self._plans else "energy"
        machine = self._settings_machine if self._accelerator is None else self._accelerator.machine
        found = over_space(
            self.networks, _space(self.settings, self.result), machine=machine, alpha=said.get("alpha", 0.002),
            metric=said.get("metric", metric), weights=said.get("weights"), tile_rule=self._rule,
            keep=said.get("keep", "none"), count=said.get("count", "one"),
        )  # fmt: skip
        return found if said.get("exchange") is None else exchanged(found, said["exchange"])


def _space(settings: Reader, result: Reader) -> Space | None:
    if "space" not in settings.content:
        return None
    said = ranges_said(settings, result)
    return space_of({name: Range(**said.get(name, dict)) for name in said.content})
