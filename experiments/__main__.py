"""`python -m experiments [--quick]`: every figure and table of the paper, and of language models, a folder for each.

With --list it says which scripts there are, in all folders.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from cocco.cli.options.usage import Parser
from experiments import FOLDERS, TABLES
from experiments.common import aims, command
from experiments.common.experiment import Experiment, Seconds

PAPER_SCRIPTS = (
    "fusion_depth",
    "partition_quality",
    "coexploration_separate",
    "coexploration_shared",
    "convergence",
    "sample_cloud",
    "alpha_sweep",
    "cores_batch",
)  #: in the order of the paper
SCRIPTS = (*PAPER_SCRIPTS, "language_plans", "language_models")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all scripts with the same options, stop at the first that fails, and return its exit code."""
    question = "Every figure and table of the paper, and of language models, a folder for each below --output."
    parser = Parser(prog="python -m experiments", description=question, allow_abbrev=False)
    command.add_options(parser, Path("results"))
    parser.add_argument("--list", action="store_true", help="say which scripts there are, what each asks and takes")
    experiments = [importlib.import_module(f"experiments.{name}").EXPERIMENT for name in SCRIPTS]
    taken = {name for each in experiments for name in each.taken}
    aims.add_aims(parser, taken, {})
    try:
        given = vars(parser.parse_args(arguments))
        if given.pop("list"):
            sys.stdout.write("\n".join(listed()) + "\n")
            return 0
        aims.checked("experiments", sorted(taken), given)
    except ValueError as error:
        print(f"experiments: error: {error}", file=sys.stderr)
        return 2
    seconds = [command.seconds_of(each, _of(each, given)) for each in experiments]
    whole = Seconds(*(sum(column) for column in zip(*seconds)))
    print(f"experiments: {command.estimate(whole, given)} in total", file=sys.stderr, flush=True)
    for each in experiments:
        code = command.main(each, [*_words(_of(each, given)), "-o", str(given["folder"] / each.name)])
        if code:
            return code
    return 0


def listed() -> Iterator[str]:
    """Yield the lines of --list: for each folder what its scripts are, then name, seconds and question of each."""
    yield "Run one by `python -m experiments.NAME`; `python -m experiments` runs those with a star."
    yield "Times: one core, with --quick, and in full."
    for folder in FOLDERS:
        yield f"\n{_purpose(importlib.import_module(f'experiments.{folder}'))}"
        for module in _modules(f"experiments.{folder}"):
            each = getattr(module, "EXPERIMENT", None)
            if each is not None:
                star = "*" if each.name in SCRIPTS else " "
                quick, full = map(command.time_of, each.seconds)
                yield f" {star} {each.name:22} {quick:>7} {full:>7}  {each.question}"
    yield "\nThe tables of the pages, how they get there, and what they say of each other."
    for module in (*_modules(f"experiments.{TABLES}"), *_modules("experiments")):
        yield f"   {module.__name__.rpartition('.')[2]:22} {'':15}  {_purpose(module)}"


def _modules(package: str) -> Iterator[ModuleType]:
    """Yield the modules of a folder, those of SCRIPTS first in their order, then the others by name."""
    places = importlib.import_module(package).__path__
    names = [each.name for each in pkgutil.iter_modules(places) if not each.ispkg and each.name != "__main__"]
    for name in sorted(names, key=lambda name: (*SCRIPTS, *names).index(name)):
        yield importlib.import_module(f"{package}.{name}")


def _purpose(module: ModuleType) -> str:
    return str(module.__doc__).splitlines()[0]


def _of(experiment: Experiment, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options without those that mean nothing for one experiment."""
    return {name: value for name, value in given.items() if name not in aims.AIMS or name in experiment.taken}


def _words(given: dict[str, Any]) -> list[str]:
    """Return the options as a script takes them, without the folder."""
    words = ["--workers", str(given["workers"]), "--seed", str(given["seed"])]
    if given["quick"]:
        words.append("--quick")
    if given["dask"] is not None:
        words += ["--dask", str(given["dask"])]
    for name, aim in aims.AIMS.items():
        if given.get(name) is not None:
            words += [f"--{name}", *map(str, given[name] if aim.is_list else [given[name]])]
    return words


if __name__ == "__main__":
    sys.exit(main())
