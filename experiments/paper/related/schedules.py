"""The points of the scheduling experiments: one network, one budget, one setting; every method beside the baselines."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import cocco
import workloads
from cocco.scheduling.answer import ScheduleResult
from cocco.scheduling.budgets import NAMES, budgets_of
from cocco.scheduling.graph import graph_of
from experiments.sweep.points import Point
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import Operator

#: the networks of COSMA's Figure 3 that people designed, and ours
HUMAN = (
    "resnet50", "densenet121", "resnext50", "r2plus1d", "s3d", "fcn", "l_raspp", "deeplabv3", "vit_b16",
    "transformer_10_20", "encoder_stack", "vgg16", "resnet152", "googlenet", "gpt",
)  # fmt: skip
NAS = ("pnasnet5large", "amoebanet_d", "nasnet", "darts")  #: those of its Table II
BASELINES = tuple((order, method) for order in ("default", "mpmf") for method in ("belady", "greedy"))
PAPER_HUMAN = 0.84  #: COSMA, Sec. V-B2: mean reduction at M_R, ten networks
REPACK = "baselines repack where only what an operator needs is left and no gap fits (docs/scheduling.md)"


SIZES = {"nasnet": 224, "pnasnet5large": 224}  #: rows and columns of the image, where COSMA's differ (Fig. 4)
BATCHES = {"transformer_10_20": 32}  #: samples at once, where COSMA has several (Fig. 3)


def operators(name: str, parameters: bool, batch: int | None = None) -> tuple[Operator, ...]:
    """Return the operators of a network as COSMA takes it; batch: in place of its own."""
    network = workloads.load(name, size=SIZES[name]) if name in SIZES else workloads.load(name)
    return operators_of(network, parameters, batch=batch or BATCHES.get(name, 1))


def points(
    names: Iterable[str], parameters: Sequence[bool], wanted: Collection[str] = NAMES, **more: Any
) -> list[Point]:
    """Return a point for each network, setting and budget; budgets of the same bytes are one point, and named so.

    wanted: the budgets; a point stays if it has the name of one.
    """
    found = []
    for name in names:
        for with_weights in parameters:
            budgets = budgets_of(graph_of(operators(name, with_weights, more.get("batch"))))
            same: dict[int, list[str]] = {}
            for budget in NAMES:
                same.setdefault(budgets.bytes_of(budget), []).append(budget)
            for size, labels in same.items():
                if not set(labels) & set(wanted):
                    continue
                proved = budgets.peak_is_proved or labels == ["minimum"]
                found.append(
                    {"network": name, "parameters": with_weights, "budget": " = ".join(labels), "bytes": size}
                    | {"budget_proved": proved}
                    | more
                )
    return found


def timed(point: Point, **question: Any) -> tuple[ScheduleResult, float]:
    """Return the schedule of a point by some method, and its CPU seconds."""
    asked = operators(point["network"], point["parameters"], point.get("batch"))
    start = time.process_time()
    found = cocco.schedule(asked, point["bytes"], **question)
    return found, time.process_time() - start


def baselines(point: Point) -> dict[str, int]:
    """Return the off-chip bytes of the four baselines, such as "default_belady_bytes"."""
    found = {}
    for order, method in BASELINES:
        moved = timed(point, method=method, order=order)[0].offchip_bytes
        assert moved is not None
        found[f"{order}_{method}_bytes"] = moved
    return found


def reduction(moved: int | None, base: dict[str, int]) -> float | None:
    """Return 1 - bytes / mean bytes of the baselines; None where these move nothing."""
    mean = sum(base.values()) / len(base)
    return None if moved is None or not mean else 1 - moved / mean
