"""Make every table of experiments/reference anew by one command, and the pages with them.

`python -m experiments.renew [--tables TABLE ...] [--workers N] [-o FOLDER]` runs the scripts in full, the quickest
first, writes their tables, and notes in experiments/reference/made.json which code made them. Then the rows that are to
show the least known go through the bank (experiments/least_known.py), the pages and their pictures are written, and
rows that others beat are named (cross_check.py). A table that this code made already is not made again, and a script
that was killed goes on where it was.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cocco.candidates.code import made_by
from cocco.cli.options import values
from experiments import cross_check, least_known, pages
from experiments.common import command, searches
from workloads.files import read_mapping, write_atomic

REFERENCE = least_known.FOLDER
MADE = REFERENCE / "made.json"  #: which code made which table, and the command
COSA = ("resnet50", "resnext50_32x4d", "alexnet", "vgg16", "dlrm", "deepbench")  #: layer lists, ../shared/data/layers
AIMED = {
    "convergence_separate": ("convergence", "--networks", *searches.FOUR[:3], "--buffers", "separate", "--seeds", "9"),
    "mapping_quality": ("mapping_quality", "--layers", *(f"../shared/data/layers/cosa_{name}.csv" for name in COSA)),
}  #: tables of scripts that have another name or other options


def scripts() -> dict[str, tuple[str, ...]]:
    """Return what makes each reference table, a script and its options, the quickest first."""
    found = {path.stem: (path.stem,) for path in sorted(REFERENCE.glob("*.csv"))} | AIMED
    seconds = {name: _experiment(words[0]).seconds.full for name, words in found.items()}
    return {name: found[name] for name in sorted(found, key=lambda name: seconds[name])}


def _experiment(name: str) -> Any:
    return importlib.import_module(f"experiments.{name}").EXPERIMENT


def is_made(name: str) -> bool:
    """Whether this code made a table."""
    return MADE.exists() and read_mapping(MADE).get(name, {}).get("code") == made_by()["code"]


def make(name: str, words: Sequence[str], folder: Path, workers: int) -> int:
    """Run a script in full, and return its exit code; where it is 0, its table is the reference now.

    All scripts have one folder, so what two of them ask is computed once. The plans that they find are left beside it,
    and none starts from them.
    """
    os.environ[searches.LEFT] = str(folder / "plans")
    own = ["--workers", str(workers), "-o", str(folder / "tables")]
    code = command.main(_experiment(words[0]), [*words[1:], *own])
    if code == 0:
        shutil.copyfile(folder / "tables" / f"{words[0]}.csv", REFERENCE / f"{name}.csv")
        made = read_mapping(MADE) if MADE.exists() else {}
        made[name] = {"command": f"python -m experiments.{' '.join(words)}", "code": made_by()["code"]}
        write_atomic(MADE, json.dumps(dict(sorted(made.items())), indent=1) + "\n")
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line: 0 where all is made and no row is beaten, 1 where one is, else the code of a script."""
    parser = argparse.ArgumentParser(prog="python -m experiments.renew", description=str(__doc__).splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=[*scripts()], metavar="TABLE", help="only these; default: all")
    parser.add_argument("-o", "--output", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    parser.add_argument("--workers", type=values.count, default=1, metavar="N", help="processes; default 1")
    options = parser.parse_args(arguments)
    folder = options.output / made_by()["code"]
    for name, words in scripts().items():
        if name in (options.tables or [name]) and not is_made(name):
            code = make(name, words, folder, options.workers)
            if code:
                return code
    for line in least_known.lower(folder / "plans"):
        print(line, flush=True)
    pictures = [name for name in scripts() if (pages.PICTURES / f"{name}.png").exists()]
    for path in (*pages.write(), *map(pages.draw, pictures)):
        print(path, flush=True)
    print(cross_check.shown())
    return 1 if cross_check.beaten() else 0


if __name__ == "__main__":
    sys.exit(main())
