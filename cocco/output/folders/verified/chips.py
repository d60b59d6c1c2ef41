"""What result.json of a search over machines must say of its chip: its axes, area, price and cost, worked out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocco.chips.answer import judged_json
from cocco.chips.axes import Axes
from cocco.chips.question import ChipQuestion, check_question
from cocco.chips.table import answered
from cocco.output.folders.read.compared import NOT_DERIVED
from cocco.output.folders.read.reading import NUMBER, Reader
from cocco.problem.criteria import Clock, Clocked
from cocco.problem.space import Space
from simulator.accelerator import Machine
from simulator.evaluation import Evaluation
from workloads.errors import FileFormatError
from workloads.network.network import Network


def question_of(settings: Reader, networks: Sequence[Network]) -> ChipQuestion:
    """Return the question according to the settings; raises ValueError, one line."""
    limits = {name: _limit(settings.inner("limits"), name) for name in settings.get("limits", dict)}
    known = [name for name in ("exchange", "rates") if settings.content.get(name) is not None]
    said = {name: settings.get(name, dict if name == "rates" else str) for name in known}
    return check_question(
        networks, settings.get("minimize", str), said.get("exchange"), limits, said.get("rates"),
        settings.list_of("weights", *NUMBER), settings.content.get("idle", 1.0),
    )  # fmt: skip


def _limit(limits: Reader, name: str) -> float:
    """Return a limit; one that depends on the clock has its unit beside it."""
    if isinstance(limits.content[name], NUMBER):
        return float(limits.get(name, *NUMBER))
    said = limits.inner(name)
    unit = Clock(said.get("size", *NUMBER), said.get("power", int), said.get("is_rate", bool))
    return Clocked.of(said.get("number", *NUMBER), unit)


def chip_said(
    question: ChipQuestion,
    axes: dict[str, Any],
    result: Reader,
    machine: Machine,
    space: Space,
    evaluations: Sequence[Evaluation],
) -> dict[str, Any]:
    """Return what the result must say beside its plans.

    axes: those asked; machine: what none of them names. Raises FileFormatError where the chip is not that of its axes,
    or breaks a limit.
    """
    accelerator, asked = evaluations[0].accelerator, Axes(axes).values
    (chip,), _ = Axes({name: [value] for name, value in result.get("axes", dict).items()}).chips(machine, space)
    if any(value not in asked.get(name, ()) for name, value in chip.axes.items()) or len(asked) != len(chip.axes):
        raise FileFormatError(f"{result.path}: result: axes: {chip.name} is no machine of those that were asked")
    if chip.machine != accelerator.machine:
        raise FileFormatError(f"{result.path}: its plans are for another machine than that of its axes, {chip.name}")
    for name, sizes in chip.buffers.items():
        if getattr(accelerator, name) not in sizes:
            raise FileFormatError(f"{result.path}: settings: space: {name} is none of its candidates")
    broken = question.why_not(accelerator) or question.broken(accelerator, evaluations)
    if broken:
        raise FileFormatError(f"{result.path}: its chip breaks the limit of {broken}")
    cost = question.cost(accelerator, evaluations)
    best = {"area_mm2": accelerator.chip_area.total, "usd": accelerator.chip_money.total,
            "memory_bytes": accelerator.buffer_bytes, "paid": question.paid(accelerator),
            "verdict": "best", "cost": cost, **chip.texts,
            **answered(accelerator, question.networks, evaluations)}  # fmt: skip
    others = [NOT_DERIVED] * (len(result.get("machines", list)) - 1)
    found = judged_json(question, accelerator, evaluations)
    return found | {"cost": cost, "axes": chip.texts, "machines": [best, *others]}
