"""Read models that nobody chose, drawn by a seed from the lists of timm, transformers and diffusers, and plan them.

    python -m benchmarks.import_drawn SEED [--count 100] [--seconds 120] [--out FILE] [--samples 300]

It goes on until there are so many models that torch itself runs, each in a process of its own: a crash is one row, and
so is a model that takes more seconds of the processor. FILE gets one JSON object for each; those that it has are left
out. Without samples no plan is searched. The last line sums up: loaded, MACs as torch's counter has them, verified,
bytes over the least.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import workloads
from benchmarks.architectures.apart import answers
from benchmarks.architectures.cases import Case
from benchmarks.architectures.drawn import drawn
from benchmarks.architectures.tables import Row, over, read_rows
from benchmarks.import_models import PLAN_SAMPLES, answer_of, planned, write_rows


def answer(case: Case, samples: int) -> Iterator[Row]:
    """Yield what became of a model, and then of its plan; one that torch does not run is "not made"."""
    import torch

    torch.set_num_threads(1)
    try:
        module, arguments = case.make()
        with torch.no_grad():
            module(**arguments) if isinstance(arguments, dict) else module(*arguments)
    except Exception as error:
        yield {"status": "not made", "why": f"{type(error).__name__}: {error}"[:200]}
        return
    with TemporaryDirectory() as folder:
        yield {"status": "crashed", "why": "no answer"}  # until there is one
        found = answer_of(Case(case.library, case.name, lambda: (module, arguments)), Path(folder))
        yield {"why": ""} | found
        if samples and found["status"] == "loaded":
            yield planned(workloads.load(Path(folder) / f"{case.name}.json"), samples)


def summary(rows: list[Row]) -> str:
    """Return how many load, have the MACs of torch's counter, and were executed as priced, and bytes over the least."""
    loaded = [row for row in rows if row["status"] == "loaded"]
    ratios = sorted(over(row) for row in loaded if row.get("plan") == "verified")
    reasons = Counter(row["why"].split(": ", 1)[-1] for row in rows if row["status"] != "loaded")
    lines = [f"{count} x {why}" for why, count in reasons.most_common()]
    lines.append(
        f"{len(loaded)} of {len(rows)} load; {sum(row['counted'] == row['macs'] for row in loaded)} have the MACs of "
        f"torch's counter; {len(ratios)} verified, {sum(row.get('plan') == 'differs' for row in loaded)} differ"
        + (f"; bytes over the least: median {median(ratios):.2f}, most {ratios[-1]:.2f}" if ratios else "")
    )
    return "\n".join(lines)


def main() -> None:
    """Read the models of a seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", metavar="SEED", type=int)
    parser.add_argument("--count", metavar="N", type=int, default=100)
    parser.add_argument("--seconds", metavar="S", type=int, default=120)
    parser.add_argument("--out", metavar="FILE", type=Path)
    parser.add_argument("--samples", metavar="N", type=int, default=PLAN_SAMPLES)
    options = parser.parse_args()
    out = options.out or Path(f"drawn-{options.seed}.jsonl")
    rows = read_rows(out)
    made: list[Row] = []
    for case in drawn(options.seed):
        if len(made) == options.count:
            break
        if case.name not in rows:
            rows[case.name] = {"name": case.name} | answers(partial(answer, case, options.samples), options.seconds)
            write_rows(out, rows)
            print(case.name, {key: rows[case.name].get(key) for key in ("status", "why", "plan", "ended")}, flush=True)
        if rows[case.name].get("status", "not made") != "not made":
            made.append(rows[case.name])
    print(summary(made))


if __name__ == "__main__":
    main()
