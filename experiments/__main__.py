"""`python -m experiments [--quick]`: every figure and table of the paper, and of language models, a folder for each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from cocco.cli.usage import Parser
from experiments.common import command
from experiments.common.experiment import Seconds

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
    try:
        given = vars(parser.parse_args(arguments))
    except ValueError as error:
        print(f"experiments: error: {error}", file=sys.stderr)
        return 2
    experiments = [importlib.import_module(f"experiments.{name}").EXPERIMENT for name in SCRIPTS]
    whole = Seconds(*(sum(column) for column in zip(*(each.seconds for each in experiments))))
    print(f"experiments: {command.estimate(whole, given)} in total", file=sys.stderr, flush=True)
    for each in experiments:
        code = command.main(each, [*_words(given), "-o", str(given["folder"] / each.name)])
        if code:
            return code
    return 0


def _words(given: dict[str, object]) -> list[str]:
    """Return the options as a script takes them, without the folder."""
    words = ["--workers", str(given["workers"]), "--seed", str(given["seed"])]
    if given["quick"]:
        words.append("--quick")
    if given["dask"] is not None:
        words += ["--dask", str(given["dask"])]
    return words


if __name__ == "__main__":
    sys.exit(main())
