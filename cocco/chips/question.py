"""What is asked of a chip: what to minimize, what a mm2 or a dollar is worth, limits, and the rates of its work."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cocco.candidates.rounding import SAME
from cocco.chips.classes import M, leaking
from cocco.problem.criteria import CRITERIA
from cocco.problem.exchange import worth_of
from cocco.problem.names import Metric
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.units import AREA, ENERGY, POWER, SIZE, TIME, TRAFFIC, Quantity, Unit
from workloads.errors import shown
from workloads.network.network import Network

OF_CHIP = ("area", "price", "capacity", "leakage")  #: what machine and memory alone decide
OF_PLANS = ("energy", "ema", "latency")  #: what plans decide
NAMES = (*OF_CHIP, *OF_PLANS, "power")
COLUMNS = {"energy": "energy_pj", "ema": "ema_bytes", "latency": "latency_cycles"}
METRICS: dict[str, Metric] = {"energy": "energy", "ema": "ema", "latency": "latency-sum", "power": "energy"}
DOLLAR = ("$", "usd")
SHOWN_WORTH = {"power": "20mW/mm2 or 5mW/$", "latency": "3ms/mm2 or 1ms/$"}  #: of what chips alone exchange
QUANTITIES = {
    "area": AREA, "price": Quantity((Unit("$", 1, 0, 2),)), "capacity": SIZE, "leakage": POWER, "energy": ENERGY,
    "ema": TRAFFIC, "latency": TIME, "power": POWER,
}  # fmt: skip  #: how each is shown to people


class Limit(NamedTuple):
    """The most of a criterion; of one network, or of the chip and all of them."""

    name: str
    network: int | None
    most: Any  #: a number, or what a clock makes one (`at`)

    def at(self, accelerator: Accelerator) -> float:
        """Return the most of a batch on a chip, in the unit of the criterion; energy and traffic are of a sample."""
        clocked = getattr(self.most, "at", None)
        if clocked is not None:
            return float(clocked(accelerator.technology.clock_ghz, accelerator.batch))
        return float(self.most) * (accelerator.batch if self.name in ("energy", "ema") else 1)

    def keeps(self, value: float, accelerator: Accelerator) -> bool:
        """Return whether a value is within the limit, within rounding."""
        return value <= self.at(accelerator) * (1 + SAME)


class Worth(NamedTuple):
    """What an increase by one of what the chip takes is worth, in the unit of the criterion."""

    number: float
    each: str  #: "area" (mm2), "price" ($) or "capacity" (bytes of all cores)


@dataclass(frozen=True)
class ChipQuestion:
    """A checked question.

    criterion: what is minimized, beside what the chip takes by its worth. rates: frames a second of each network; then
    power is an average, and while nothing runs the share `idle` of all that leaks goes on. limits: that the answer
    keeps.
    """

    networks: tuple[Network, ...]
    weights: tuple[float, ...]
    criterion: str
    worth: Worth | None = None
    limits: tuple[Limit, ...] = ()
    rates: tuple[float, ...] | None = None
    idle: float = 1.0

    @property
    def asks_price(self) -> bool:
        """Whether what the chip and its DRAM cost matters."""
        is_worth = self.worth is not None and self.worth.each == "price"
        return is_worth or self.criterion == "price" or any(each.name == "price" for each in self.limits)

    @property
    def of_plans(self) -> tuple[Limit, ...]:
        """The limits that plans keep or break."""
        return tuple(each for each in self.limits if each.name in OF_PLANS)

    @property
    def metric(self) -> Metric:
        """What plans minimize."""
        return METRICS.get(self.criterion, "energy")

    @property
    def is_of_chip(self) -> bool:
        """Whether machine and memory alone decide what is minimized, so that plans only have to keep the limits."""
        return self.criterion in OF_CHIP

    def scale(self, accelerator: Accelerator) -> float:
        """Return the criterion per unit of what plans minimize: of a sample, in ns, in mW."""
        if self.is_of_chip:
            return 0.0
        if self.rates is not None:
            return 1e-9 / accelerator.batch  # pJ a second are 1e-9 mW
        if self.criterion == "latency":
            return 1 / accelerator.technology.clock_ghz
        return 1 / accelerator.batch

    def fixed(self, accelerator: Accelerator) -> float:
        """Return the part of the cost that machine and memory alone decide."""
        found = taken(self.criterion, accelerator) if self.is_of_chip else 0.0
        if self.rates is not None and self.criterion == "power":
            found += self.idle * static_mw(accelerator)
        return found + self.paid(accelerator)

    def paid(self, accelerator: Accelerator) -> float:
        """Return what is added for what the chip takes, by its worth."""
        return 0.0 if self.worth is None else self.worth.number * taken(self.worth.each, accelerator)

    def judging(self, machine: M) -> M:
        """Return the machine by which plans are chosen: with rates, of what leaks only what their time decides."""
        return machine if self.rates is None else leaking(machine, 1 - self.idle)

    def value(self, evaluation: Evaluation) -> float:
        """Return what plans minimize; with rates the energy without what leaks whether they run or not."""
        if self.rates is None:
            return float(getattr(evaluation, CRITERIA[self.metric].column))
        parts = evaluation.energy_breakdown
        assert parts is not None, "it runs"
        leaks = (parts.leakage or 0.0) + (parts.dram_background or 0.0) + (parts.logic_leakage or 0.0)
        return evaluation.energy_pj - self.idle * leaks

    def cost(self, accelerator: Accelerator, evaluations: Sequence[Evaluation]) -> float:
        """Return what is minimized, of a plan for each network."""
        value = 0.0
        for weight, each in zip(self.weights, evaluations):
            value += weight * self.value(each)
        return self.fixed(accelerator) + self.scale(accelerator) * value

    def why_not(self, accelerator: Accelerator) -> str:
        """Return the first limit that machine and memory alone break, or nothing."""
        for each in self.limits:
            if each.name in OF_CHIP and not each.keeps(taken(each.name, accelerator), accelerator):
                return each.name
        return ""

    def late(self, accelerator: Accelerator, cycles: Sequence[float]) -> str:
        """Return the first limit on time that is broken by latencies that no plan undercuts, or nothing."""
        for each in self.of_plans:
            if each.name != "latency":
                continue
            if not each.keeps(self.summed(cycles) if each.network is None else cycles[each.network], accelerator):
                return "latency"
        if self.rates is not None and self.load(accelerator, cycles) > 1 + SAME:
            return "load"
        return ""

    def exceeded(self, accelerator: Accelerator, value: float) -> str:
        """Return the first limit that is broken by a value of the metric of plans that none undercuts, or nothing."""
        for each in self.limits:
            if each.name == "power":
                least = 1e-9 / accelerator.batch * value + self.idle * static_mw(accelerator)
            elif each.name == "latency" or METRICS.get(each.name) != self.metric or each.network is not None:
                continue
            elif self.rates is not None:  # the value is of a second
                continue
            else:
                least = value
            if not each.keeps(least, accelerator):
                return each.name
        return ""

    @property
    def asks_values(self) -> bool:
        """Whether what plans minimize at least decides anything."""
        return not self.is_of_chip or any(each.name in ("power", "energy") for each in self.limits)

    def excess(
        self, accelerator: Accelerator, values: Mapping[str, Sequence[float]], value: float = 0.0
    ) -> tuple[float, str]:
        """Return by which factor the worst limit is exceeded, and that limit, where plans take what is given.

        values: by criterion of plans, of each network. value: of what plans minimize.
        """
        found = [(1.0, "")]
        for each in self.limits:
            if each.name in OF_CHIP:
                one = taken(each.name, accelerator)
            elif each.name == "power":
                one = 1e-9 / accelerator.batch * value + self.idle * static_mw(accelerator)
            elif each.name in values:
                one = self.summed(values[each.name]) if each.network is None else values[each.name][each.network]
            else:
                continue
            found.append((one / each.at(accelerator), each.name))
        if self.rates is not None:
            found.append((self.load(accelerator, values["latency"]), "load"))
        return max(found)

    @property
    def limited(self) -> tuple[str, ...]:
        """The criteria of plans that some limit, or the rates, ask for."""
        names = {each.name for each in self.of_plans} | ({"latency"} if self.rates is not None else set())
        return tuple(name for name in OF_PLANS if name in names)

    def summed(self, values: Sequence[float]) -> float:
        """Return a sum over the networks; with rates the largest, for each runs by itself."""
        if self.rates is not None:
            return max(values)
        return math.fsum(weight * value for weight, value in zip(self.weights, values))

    def load(self, accelerator: Accelerator, cycles: Sequence[float]) -> float:
        """Return the share of the time in which the chip works at these rates."""
        assert self.rates is not None
        frames = [rate / accelerator.batch for rate in self.rates]
        busy = math.fsum(frame * each for frame, each in zip(frames, cycles))
        return busy / (accelerator.technology.clock_ghz * 1e9)

    def power_mw(self, accelerator: Accelerator, evaluations: Sequence[Evaluation]) -> float:
        """Return the average power at the rates."""
        assert self.rates is not None
        moved = math.fsum(rate / accelerator.batch * self.value(each) for rate, each in zip(self.rates, evaluations))
        return moved * 1e-9 + self.idle * static_mw(accelerator)

    def broken(self, accelerator: Accelerator, evaluations: Sequence[Evaluation]) -> str:
        """Return the first limit that plans break, or nothing."""
        for each in self.of_plans:
            values = [getattr(one, COLUMNS[each.name]) for one in evaluations]
            value = self.summed(values) if each.network is None else values[each.network]
            if not each.keeps(value, accelerator):
                return each.name
        if self.rates is None:
            return ""
        if self.load(accelerator, [each.latency_cycles for each in evaluations]) > 1 + SAME:
            return "load"
        power = self.power_mw(accelerator, evaluations)
        if any(not each.keeps(power, accelerator) for each in self.limits if each.name == "power"):
            return "power"
        return ""


def taken(name: str, accelerator: Accelerator) -> float:
    """Return what a chip takes: mm2 and $ of all of it, bytes and mW of the buffers of all cores."""
    if name == "area":
        return accelerator.chip_area.total
    if name == "price":
        total = accelerator.chip_money.total
        return math.inf if total is None else total
    return accelerator.leakage_mw if name == "leakage" else float(accelerator.buffer_bytes * accelerator.cores)


def static_mw(accelerator: Accelerator) -> float:
    """Return what leaks in any time: buffers, logic, DRAM's background, mW."""
    return accelerator.leakage_mw + accelerator.logic_mw + accelerator.technology.dram_background_mw


def check_question(
    networks: Sequence[Network], criterion: str, exchange: str | None, limits: Mapping[str, Any],
    rates: Mapping[str, float] | None, weights: Sequence[float], idle: float = 1.0,
) -> ChipQuestion:  # fmt: skip
    """Return the question of these words; raises ValueError, one line."""
    names = [network.name for network in networks]
    if criterion not in NAMES:
        raise ValueError(f"what to minimize must be one of {', '.join(NAMES)}, got {shown(criterion)}")
    if rates is None and ("power" in limits or criterion == "power"):
        raise ValueError("power is an average over the work that is there: it needs rates, such as resnet50=30fps")
    found = None if rates is None else _rates(names, rates)
    if found is not None and criterion in OF_PLANS:
        raise ValueError(f"with rates minimize power, or {', '.join(OF_CHIP)}; got {criterion}")
    if isinstance(idle, bool) or not isinstance(idle, (int, float)) or not 0 <= idle <= 1:
        raise ValueError(f"idle must be the share that leaks while nothing runs, from 0 to 1, got {shown(idle)}")
    if found is None and idle != 1:
        raise ValueError("idle needs rates, such as resnet50=30fps: without them nothing waits")
    checked = tuple(_limit(names, *each) for each in limits.items())
    if criterion in OF_CHIP and not any(each.name not in OF_CHIP for each in checked) and rates is None:
        raise ValueError(
            f"the least {criterion} needs a limit of {', '.join(OF_PLANS)} or rates: without them the smallest is it"
        )
    worth = None if exchange is None else _worth(exchange, criterion)
    shares = tuple(weights) if found is None else found
    return ChipQuestion(tuple(networks), shares, criterion, worth, checked, found, float(idle))


def _limit(names: Sequence[str], name: str, most: Any) -> Limit:
    network, dot, what = name.rpartition(".")
    if dot and network not in names:
        raise ValueError(f"limit {name} is of a network {shown(network)}; the networks are {', '.join(names)}")
    if what not in (OF_PLANS if dot else NAMES):
        of = "a network" if dot else "a chip"
        raise ValueError(f"a limit of {of} is on {', '.join(OF_PLANS if dot else NAMES)}; got {shown(what)}")
    if isinstance(most, bool) or not isinstance(most, (int, float)) or not 0 < most < math.inf:
        raise ValueError(f"the limit of {name} must be a finite number above 0, got {shown(most)}")
    return Limit(what, names.index(network) if dot else None, most)


def _rates(names: Sequence[str], rates: Mapping[str, float]) -> tuple[float, ...]:
    for name, rate in rates.items():
        if name not in names:
            raise ValueError(f"a rate is of one of {', '.join(names)}, got {shown(name)}")
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate < math.inf:
            raise ValueError(f"the rate of {name} must be a finite number above 0, got {shown(rate)}")
    missing = next((name for name in names if name not in rates), None)
    if missing is not None:
        raise ValueError(f"rates must have one for each network, and {missing} has none")
    return tuple(float(rates[name]) for name in names)


def _worth(text: str, criterion: str) -> Worth:
    """Return what a mm2, a dollar or a byte is worth."""
    if criterion in OF_CHIP:
        raise ValueError(f"exchange says what the chip is worth beside what plans decide, not beside {criterion}")
    number, slash, each = text.partition("/")
    if criterion in SHOWN_WORTH:
        units, such = QUANTITIES[criterion].sizes, SHOWN_WORTH[criterion]
        match = re.fullmatch(r"([0-9.]+(?:[eE][+-]?[0-9]+)?) ?([A-Za-z]+)", number)
        if not slash or match is None or match[2] not in units or each not in ("mm2", *DOLLAR):
            raise ValueError(f"exchange of {criterion} is such as {such}, got {shown(text)}")
        return Worth(float(match[1]) * units[match[2]], "area" if each == "mm2" else "price")
    if each in DOLLAR:
        return Worth(worth_of(f"{number}/mm2", METRICS[criterion], 1.0)[0], "price")
    found, unit = worth_of(text, METRICS[criterion], 1.0)
    return Worth(found, "area" if unit == "mm2" else "capacity")
