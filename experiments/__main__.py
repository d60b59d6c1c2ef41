"""`python -m experiments [--quick]`: every figure and table of the paper, and of language models, a folder for each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cocco.cli.usage import Parser
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
    experiments = [importlib.import_module(f"experiments.{name}").EXPERIMENT for name in SCRIPTS]
    taken = {name for each in experiments for name in each.taken}
    aims.add_aims(parser, taken, {})
    try:
        given = vars(parser.parse_args(arguments))
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
