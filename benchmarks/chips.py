"""Which chip to build: one question over all machines against a search for each, by answers and user CPU seconds.

    python -m benchmarks.chips NETWORK ... [--machines N] [--alone N] [--worth 0.5mJ/mm2] [--keep auto] [--seed 0]
                               [--limit area=4] [--limit latency=5e6]

Machines are the 216 of docs/chips.md, or as many of them as --machines says, drawn by the seed; of these --alone are
searched by themselves, too (by default all). vgg16+resnet50 are two networks on one chip. Under limits (mm2; cycles of
the paper's sum) and for two networks a machine by itself is the same question with that machine alone; else it is
`cocco.explore`. Such a search knows what a mm2 is worth from its smallest
memory to its largest only; what it answers is judged by the area of the whole chip. Each side is measured in a process
of its own. "equal": the cheapest of them is the answer, machine and cost; a row is WRONG where a machine has a plan
below its bound, or the answer costs more than one of them.
"""

from __future__ import annotations

import argparse
import random
import resource
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import cocco
import workloads
from cocco.chips.axes import Axes, Chip
from cocco.problem.names import Keep
from experiments.page_tables.tables import markdown
from simulator import KiB, Machine, Technology
from simulator.chip.logic import NVDLA
from workloads.network.network import Network

PRODUCT: dict[str, Sequence[Any]] = {
    "pe": [(4, 4), (4, 8), (8, 8)], "lanes": [(8, 8), (16, 16)], "cores": [1, 2, 4], "dram": ["lpddr5", "hbm2e"],
    "sram": ["hp", "lop", "lstp"], "clock": [0.8, 1.0],
}  # fmt: skip
MACHINE = Machine(technology=Technology(logic=NVDLA))
SAME = 1e-9  #: of a cost
OF = Axes.chips


class Case(NamedTuple):
    """What one row asks."""

    network: str
    machines: tuple[int, ...]  #: positions in the product
    alone: tuple[int, ...]
    worth: str
    keep: Keep
    limits: dict[str, float]

    @property
    def networks(self) -> list[Network]:
        return [workloads.load(name) for name in self.network.split("+")]

    def chips(self, which: Sequence[int]) -> list[Chip]:
        """Return machines of the product."""
        every, _ = OF(Axes(PRODUCT), MACHINE, cocco.SharedBuffer())
        return [every[i] for i in which]


def together(case: Case) -> dict[str, Any]:
    """Return the answer of one question over all machines of a row."""
    chips, of = case.chips(case.machines), OF
    Axes.chips = lambda self, machine, space: (chips, of(self, machine, space)[1])  # type: ignore[method-assign]
    found = cocco.explore_chips(
        case.networks, PRODUCT, machine=MACHINE, exchange=case.worth, keep=case.keep, limits=case.limits
    )
    return found.to_json()


class Single(NamedTuple):
    """The answer of a search for one machine."""

    axes: tuple[Any, ...]
    status: str
    cost: float
    kilobytes: float


def alone(case: Case) -> list[Single]:
    """Return the answer of each machine by itself, where there is one."""
    found = []
    for i, chip in zip(case.alone, case.chips(case.alone)):
        if case.limits or len(case.networks) > 1:
            answer = together(case._replace(machines=(i,)))
            if answer["cost"] is not None:
                size = answer["shared_buffer_bytes"] / KiB
                found.append(Single(tuple(chip.texts.values()), answer["status"], answer["cost"], size))
            continue
        one = cocco.explore(
            case.networks, machine=chip.machine, exchange=case.worth, keep=case.keep, ranges=False,
            space=cocco.SharedBuffer(),
        )  # fmt: skip
        if one.plans:
            worth = float(case.worth.partition("mJ")[0]) * 1e9 * one.accelerator.chip_area.total
            cost = one.evaluation.energy_pj / one.accelerator.batch + worth
            found.append(Single(tuple(chip.texts.values()), one.status, cost, one.accelerator.buffer_bytes / KiB))
    return found


def timed(asked: Callable[[Case], Any], case: Case) -> tuple[Any, float]:
    """Return an answer of a fresh process, and its user CPU seconds."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        before = pool.submit(resource.getrusage, resource.RUSAGE_SELF).result()
        found = pool.submit(asked, case).result()
        after = pool.submit(resource.getrusage, resource.RUSAGE_SELF).result()
    return found, after.ru_utime - before.ru_utime


def row(case: Case) -> list[str]:
    """Return the row of a case."""
    answer, first = timed(together, case)
    singles, second = timed(alone, case) if case.alone else ([], 0.0)
    rows = {tuple(each[name] for name in PRODUCT): each for each in answer["machines"]}
    verdicts = Counter(each["verdict"] for each in rows.values())
    chip = ", ".join(str(each) for each in (answer["axes"] or {}).values())
    found = [
        case.network, str(len(case.machines)), chip, f"{answer['cost'] * 1e-9:.4f}", f"{100 * answer['gap']:.2g} %",
        ", ".join(f"{count} {name}" for name, count in verdicts.items()),
        f"{first:.1f}",
    ]  # fmt: skip
    if not singles:
        return [*found, "", "", "", ""]
    each = second / len(case.alone)
    if answer["cost"] is None or not singles:
        return [*found, f"{len(singles)}, 0", f"{second:.1f}", "", "WRONG" if singles else "equal: none"]
    least = min(singles, key=lambda one: one.cost)
    is_wrong = answer["cost"] > least.cost * (1 + SAME) or any(
        rows[one.axes]["bound"] is not None and one.cost < rows[one.axes]["bound"] * (1 - SAME) for one in singles
    )
    best = tuple((answer["axes"] or {}).values())
    is_equal = least.axes == best and abs(least.cost / answer["cost"] - 1) <= SAME
    word = "WRONG" if is_wrong else "equal" if is_equal else f"{100 * (least.cost / answer['cost'] - 1):.2g} % more"
    proved = sum(one.status == "optimal" for one in singles)
    ratio = each * len(case.machines) / first
    return [*found, f"{len(singles)}, {proved}", f"{second:.1f}", f"{ratio:.1f}", word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--machines", type=int, default=216)
    parser.add_argument("--alone", type=int)
    parser.add_argument("--worth", default="0.5mJ/mm2")
    parser.add_argument("--keep", default="none", choices=("none", "auto"))
    parser.add_argument("--limit", action="append", default=[], metavar="WHAT=MOST")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    machines = sorted(rng.sample(range(216), asked.machines))
    alone = machines if asked.alone is None else sorted(rng.sample(machines, asked.alone))
    limits = {name: float(most) for name, _, most in (each.partition("=") for each in asked.limit)}
    cases = [Case(name, tuple(machines), tuple(alone), asked.worth, asked.keep, limits) for name in asked.networks]
    header = ["network", "machines", "chip", "mJ", "gap", "verdicts", "one question, CPU s", "alone, proved",
              "CPU s", "times as long", "the cheapest alone"]  # fmt: skip
    print(markdown(header, [row(case) for case in cases]), flush=True)


if __name__ == "__main__":
    main()
