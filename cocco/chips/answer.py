"""What is said of a chip question: the chip, its plans, and of every machine whether it is ruled out and by what."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cocco.bounds.floors.least import gap
from cocco.candidates.rounding import SAME
from cocco.chips.axes import Axes, Chip, text_of
from cocco.chips.question import ChipQuestion
from cocco.chips.search import Pair, Search
from cocco.chips.sensitivity import Shift
from cocco.chips.table import Stairs, differing, floors, machine_rows
from cocco.effort.shown import Shown
from cocco.effort.status import Status
from cocco.exploration.answers.front import buffer_bytes, of_networks
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition
from simulator.units import TIME

if TYPE_CHECKING:
    import pandas


class Nearest(NamedTuple):
    """The machine and memory that come nearest to the limits of area, price, time and load, by bounds."""

    chip: str
    memory_bytes: int
    limit: str  #: the one that is exceeded most
    factor: float


@dataclass(frozen=True, eq=False, repr=False)
class ChipsAnswer(Shown):
    """The chip to build, and what rules out the others.

    Attributes
    ----------
    status
        "optimal" (no machine, memory or plan costs less, proved), "feasible", "infeasible" (proved: nothing keeps the
        limits), "gave_up" (nothing found does) or "stopped".
    chip
        The machine, with the axes that it has; None where nothing keeps the limits.
    cost, lower_bound
        What is minimized: in the unit of the criterion, with what the chip is worth; infinite without a chip.
    machines
        Per machine its axes, best memory known, mm2, cost, bound and "verdict": best, proved (its own least is known),
        open, or ruled out by: area, latency, load, price, clock, memory, or bound.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 512 * 2**10)
    >>> found = cocco.explore_chips(workloads.load("vgg16"), {"cores": [1, 2]}, space=space, exchange="1mJ/mm2")
    >>> found.status, found.chip.name, dict(found.verdicts)
    ('optimal', 'cores 1', {'best': 1, 'ruled out by bound': 1})
    """

    question: ChipQuestion
    status: Status
    chip: Chip | None
    accelerator: Accelerator | None
    plans: tuple[Partition, ...]
    evaluations: tuple[Evaluation, ...]
    cost: float
    lower_bound: float
    placed: bool | None  #: whether every region has an address; None where that was not asked
    machines: tuple[dict[str, Any], ...]  #: the most promising first
    floors: Mapping[str, Stairs]  #: by "least" and "least_ms" what no machine undercuts
    nearest: Nearest | None  #: where nothing keeps the limits
    left_out: Mapping[str, int]  #: by rule how many machines of the product cannot be built
    remarks: tuple[str, ...]
    steps: int  #: of all exact searches
    seed: int
    kinds: tuple[str, ...]  #: the kinds of plans
    engine: str
    method: str  #: "auto", or "ga" where nothing was to be proved
    samples: int  #: of the genetic algorithm, else the steps of all exact searches
    shifts: tuple[Shift, ...] = ()  #: what each number of the hardware, halved and doubled, would change

    @property
    def question_axes(self) -> tuple[str, ...]:
        """The axes by which machines differ."""
        return differing(self.machines)

    @property
    def gap(self) -> float:
        """(cost - lower_bound) / cost."""
        return gap(self.cost, self.lower_bound) if self.chip is not None else 0.0

    @property
    def verdicts(self) -> Counter[str]:
        """How many machines have each verdict."""
        return Counter(each["verdict"] for each in self.machines)

    def facts(self) -> dict[str, object]:
        """Return the networks, the chip, and how good it is proved to be."""
        facts: dict[str, object] = {
            "networks": ", ".join(network.name for network in self.question.networks), "status": self.status,
            "machines": len(self.machines),
        }  # fmt: skip
        if self.accelerator is None or self.chip is None:
            return facts
        area = self.accelerator.chip_area.total
        return facts | {"chip": self.chip.name, **buffer_bytes(self.accelerator), "mm2": area, "cost": self.cost,
                        "gap": self.gap}  # fmt: skip

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per machine, the most promising first."""
        import pandas

        return pandas.DataFrame(list(self.machines))

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco explore --axis --json` prints."""
        question = self.question
        content: dict[str, Any] = {
            "minimize": question.criterion, "status": self.status,
            "cost": None if self.cost == math.inf else self.cost, "lower_bound": _finite(self.lower_bound),
            "gap": self.gap, "axes": None if self.chip is None else self.chip.texts, "placed": self.placed,
            "machines": list(self.machines), "floors": dict(self.floors), "left_out": dict(self.left_out),
            "remarks": list(self.remarks), "method": self.method, "samples": self.samples,
            "seed": self.seed, "steps": self.steps, "space": list(self.kinds),
        }  # fmt: skip
        if self.shifts:
            content["sensitivity"] = [each._asdict() for each in self.shifts]
        if self.accelerator is None:
            nearest = None if self.nearest is None else self.nearest._asdict()
            return content | {"networks": [network.name for network in question.networks], "nearest": nearest}
        content |= judged_json(question, self.accelerator, self.evaluations)
        return of_networks(self.evaluations, self.plans, question.weights, content)


def answer_of(
    search: Search, axes: Axes, left_out: Counter[str], seed: int, kinds: tuple[str, ...], method: str, samples: int
) -> ChipsAnswer:
    """Return the answer of a search that has ended; samples: of the genetic algorithm."""
    best = search.best
    answer = None if best is None else best.answer
    lower = search.bound
    if search.is_stopped:
        status: Status = "stopped"
    elif answer is None:
        status = "gave_up" if search.open else "infeasible"
    else:
        status = "optimal" if answer.cost <= lower * (1 + SAME) else "feasible"
    nearest = _nearest(search) if best is None else None
    return ChipsAnswer(
        search.question, status, None if best is None else search.chips[best.chip],
        None if best is None else best.accelerator, () if answer is None else answer.plans,
        () if answer is None else answer.evaluations, math.inf if answer is None else answer.cost, lower,
        None if answer is None else answer.placed, machine_rows(search), floors(search), nearest, dict(left_out),
        _remarks(search, axes, best),
        search.classes.steps, seed, kinds, search.asked.engine, method, samples or search.classes.steps,
    )  # fmt: skip


def _nearest(search: Search) -> Nearest | None:
    """Return the pair that exceeds its worst limit least."""
    found = [
        (*search.question.excess(each.accelerator, {"latency": search.cycles(each)}), each) for each in search.pairs
    ]
    if not found:
        return None
    factor, limit, pair = min(found, key=lambda each: (each[0], each[2].accelerator.buffer_bytes, each[2].chip))
    if factor <= 1:  # only what plans take is too much, and how much is not known
        return None
    return Nearest(search.chips[pair.chip].name, pair.accelerator.buffer_bytes, limit, factor)


def _remarks(search: Search, axes: Axes, best: Pair | None) -> tuple[str, ...]:
    """Return what a reader should know before he builds this chip."""
    found, question = [], search.question
    priced = question.worth is not None and question.worth.each != "capacity" or question.criterion in ("area", "price")
    if not question.of_plans and question.rates is None and question.criterion != "latency":
        found.append("nothing asks for speed (a limit on latency, or rates): the smallest array wins")
    elif not priced and not any(each.name in ("area", "price") for each in question.limits):
        found.append("neither a mm2 nor a dollar costs anything here and none is limited: the largest array wins")
    if "cores" in axes.values and search.chips[0].machine.technology.dram_channels is None:
        found.append(
            "every core brings a DRAM channel of its own; --axis channels=N or dram: {channels: N} shares them"
        )
    if len(axes.values.get("clock", ())) > 1 and not search.chips[0].machine.technology.clock:
        found.append("the energy of an operation and of a byte on chip does not know the clock; clock: has voltages")
    if best is None:
        return tuple(found)
    chosen = search.chips[best.chip].axes
    for name, values in axes.values.items():
        if len(values) > 2 and not isinstance(values[0], str) and chosen[name] in (min(values), max(values)):
            found.append(f"{name} {text_of(chosen[name])} is the end of its axis: more may be possible beyond")
    if any(len(sizes) > 1 and size in (sizes[0], sizes[-1]) for sizes, size in
           zip(search.chips[best.chip].buffers.values(), best.sizes)):  # fmt: skip
        found.append("the memory is the end of its range")
    if "latency" in question.limited and best.answer is not None:
        clock = best.accelerator.technology.clock_ghz
        late = [each for each in best.answer.evaluations if each.latency_executed_cycles > each.latency_cycles]
        runs = ", ".join(f"{each.network} takes {TIME.text(each.latency_executed_cycles / clock)}" for each in late)
        load = 0.0 if question.rates is None else _executed_load(question, best.accelerator, best.answer.evaluations)
        busy = f", busy {100 * load:.1f} % of the time{': the rates are NOT kept' if load > 1 else ''}" if load else ""
        if late:
            found.append(f"limits and rates here are of the paper's sum over subgraphs; as it is executed {runs}{busy}")
    return tuple(found)


def judged_json(question: ChipQuestion, accelerator: Accelerator, found: Sequence[Evaluation]) -> dict[str, Any]:
    """Return what follows from the question, the chip and its plans, as plain data."""
    worth = None if question.worth is None else question.worth._asdict()
    content = {"worth": worth, "chip": accelerator.chip_json(), **buffer_bytes(accelerator)}
    if question.rates is None:
        return content
    power = question.power_mw(accelerator, found)
    loads = {
        "load": question.load(accelerator, [each.latency_cycles for each in found]),
        "load_executed": _executed_load(question, accelerator, found),
    }
    return content | {"power_mw": power, **loads, "rates_per_s": list(question.rates), "idle": question.idle}


def _executed_load(question: ChipQuestion, accelerator: Accelerator, found: Sequence[Evaluation]) -> float:
    """Return the share of the time in which the chip works at the rates, as its plans are executed."""
    return question.load(accelerator, [each.latency_executed_cycles for each in found])


def _finite(value: float) -> float | None:
    return value if value < math.inf else None
