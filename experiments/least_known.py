"""Lower rows of the reference tables through the bank: what is known of any question may be the answer of another.

`python -m experiments.least_known [--samples N] [--plans FOLDER]` asks the question of each row that is to show the
least known and is not proved (experiments/cross_check.py): a small search that starts from the plans in
experiments/reference/plans, and in a folder where scripts left theirs, and adds its answer to the former. Where that
is lower than what the row says, it is written into the row; then once more for rows that are beaten by others.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

import cocco
import workloads
from cocco.cli.options import values
from cocco.exploration.answers.result import Result
from cocco.problem.names import Metric
from experiments.cross_check import AUTO, PAPER, Row, all_rows, beaten
from experiments.paper.cores_batch import CYCLES_PER_MS
from simulator.accelerator import Accelerator
from simulator.technology import KiB
from workloads.files import write_atomic

SAMPLES = 600  #: of each search: six plans of the bank, and what is found near them; our choice
FOLDER = Path(str(resources.files("experiments"))) / "reference"
PLANS = FOLDER / "plans"  #: the repository's bank
ROUNDS = 3  #: in which what lowered one row may lower another; our choice


def lower(left: Path | None = None, samples: int = SAMPLES) -> Iterator[str]:
    """Lower all rows, and those that are beaten again; yield a line for each change. left: plans to start from too."""
    bank = cocco.Bank(PLANS, known=() if left is None else (left,))
    yield from _lowered((row for row in all_rows() if row.is_best and not row.is_proved), bank, samples)
    for _ in range(ROUNDS):
        yield from _lowered([each.row for each in beaten()], bank, samples)


def _lowered(rows: Iterable[Row], bank: cocco.Bank, samples: int) -> Iterator[str]:
    """Write what is lower into the tables, and yield a line for each row that changed."""
    for row in rows:
        found = _asked(row, samples, bank)
        value = found.evaluation.ema_bytes if row.goal == "ema_bytes" else found.cost
        if found.plans and value < row.value:
            yield _write(row, value, _answer(row, found), found.lower_bound)


def _asked(row: Row, samples: int, bank: cocco.Bank) -> Result:
    """Return the answer of a small search for the question of a row."""
    network = workloads.load(row.network)
    machine: dict[str, Any] = {
        "cores": row.cores,
        "batch": row.batch,
        "plans": "paper" if row.plans == PAPER else "all",
    }
    asked: dict[str, Any] = {
        "keep": "auto" if row.plans == AUTO else "none", "method": "ga", "samples": samples, "bank": bank,
    }  # fmt: skip
    if row.goal == "cost":
        assert row.alpha is not None
        return cocco.explore(network, space=cocco.SharedBuffer(), alpha=row.alpha, ranges=False, **machine, **asked)
    (size,) = row.buffers
    metric = cast(Metric, row.goal.partition("_")[0])
    return cocco.partition(network, Accelerator(shared_buffer=size, **machine), metric=metric, **asked)


def _write(row: Row, value: float, answer: Mapping[str, object], bound: float | None = None) -> str:
    """Write an answer into its row, and say so; what is not part of the answer stays as it is, to the byte."""
    path = FOLDER / f"{row.table}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    line = dict(zip(heads, rows[row.place]))
    line |= {name: _text(each) for name, each in answer.items() if name in line}
    bounds = [each for each in (row.bound, bound) if each is not None]
    gap = max(0.0, (value - max(bounds)) / value) if bounds else None
    if gap is not None:
        line |= {name: _text(gap) for name in row.gap_columns if name in line}
        status = "optimal" if gap == 0 else "feasible"
        line |= {name: status for each in row.gap_columns if (name := each.replace("gap", "status")) in line}
    for name in heads:
        if f"{name}_difference" in line and line[f"paper_{name}"]:
            line[f"{name}_difference"] = _text(float(line[name]) / float(line[f"paper_{name}"]) - 1)
    rows[row.place] = list(line.values())
    if "energy_share" in heads:
        _share_again(heads, rows)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([heads, *rows])
    write_atomic(path, out.getvalue())
    return f"{row}, {row.goal}: {row.value:,.0f} -> {value:,.0f}"


def _answer(row: Row, found: Result) -> dict[str, object]:
    """Return the columns that an answer of this row has, in whichever table."""
    evaluation, size = found.evaluation, found.accelerator.buffer_bytes // KiB
    if row.goal == "ema_bytes":
        return {row.column: evaluation.ema_bytes, row.column.replace("_bytes", "_subgraphs"): len(found.plan)}
    energy: dict[str, object] = {"energy_pj": evaluation.energy_pj, "kept_tensors": len(found.plan.keep)}
    if row.goal == "energy_pj":
        return energy
    more = {"verified": _is_verified(found)} if row.table == "kept_tensors" else {}
    return energy | more | {
        "cost": found.cost, "ema_bytes": evaluation.ema_bytes, "energy_mj": evaluation.energy_pj * 1e-9,
        "latency_ms": evaluation.latency_cycles / CYCLES_PER_MS, "shared_kb": size, "kilobytes": size,
    }  # fmt: skip


def _is_verified(found: Result) -> bool:
    from simulator.execution import verify

    assert found.evaluation.source is not None
    return bool(verify(found.evaluation.source[0], found.plan, found.accelerator).verified)


def _share_again(heads: Sequence[str], rows: list[list[str]]) -> None:
    """Set the energies over those of the first alpha of each network."""
    network, energy, share = map(heads.index, ("network", "energy_pj", "energy_share"))
    first: dict[str, float] = {}
    for row in rows:
        row[share] = _text(float(row[energy]) / first.setdefault(row[network], float(row[energy])))


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.least_known", description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=values.count, default=SAMPLES, metavar="N", help=f"default {SAMPLES}")
    parser.add_argument("--plans", type=Path, metavar="FOLDER", help="start from these plans too")
    options = parser.parse_args()
    for line in lower(options.plans, options.samples):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
