"""The command line that all scripts share: options, an estimate first, then the table, the picture and the record."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cocco.cli.options import values
from cocco.cli.options.usage import Parser
from cocco.cli.running.interrupts import hear
from cocco.cli.running.progress import alive
from cocco.output.pictures.saving import save_picture
from experiments.common import aims, expected, record
from experiments.common.experiment import Experiment, Seconds
from workloads.errors import one_line

MACHINES = ("folder", "workers", "dask")  #: options that say where it is computed, not what


def main(experiment: Experiment, arguments: Sequence[str] | None = None) -> int:
    """Run the command line of an experiment and return its exit code: 0 done, 2 malformed, 130 stopped by Ctrl-C.

    Written into the folder: <name>.csv, <name>.json, <name>.png, <name>.svg.
    """
    hear()
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = experiment.name
    try:
        given = vars(_parser(experiment).parse_args(words))
        experiment.checked(given, given["quick"])
        print(f"{name}: {estimate(seconds_of(experiment, given), given)}", file=sys.stderr, flush=True)
        with alive(name, "running", True):
            table = experiment.run(**given)
        settings = {key: value for key, value in given.items() if key not in (*MACHINES, "seed") and value is not None}
        command = shlex.join(["python", "-m", f"experiments.{name}", *words])
        about = {"command": command, "settings": settings, "seed": given["seed"]}
        with record.together(given["folder"]) as beside:
            written = record.write(beside, name, table, about)
            written += save_picture(beside, name, experiment.picture(table))
    except KeyboardInterrupt:
        print(f"{name}: stopped; the points that were finished are kept, run it again to go on", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"{name}: error: {one_line(error)}", file=sys.stderr)
        return 2
    print("\n".join(str(given["folder"] / path.name) for path in written))
    return 0


def script(experiment: Experiment) -> None:
    """Run the command line of an experiment, and end the process with its exit code."""
    sys.exit(main(experiment))


def _parser(experiment: Experiment) -> argparse.ArgumentParser:
    prog = f"python -m experiments.{experiment.name}"
    parser = Parser(prog=prog, description=experiment.question, allow_abbrev=False)
    add_options(parser, Path("results") / experiment.name)
    aims.add_aims(parser, experiment.taken, experiment.full)
    if experiment.options is not None:
        experiment.options(parser)
    return parser


def add_options(parser: argparse.ArgumentParser, folder: Path) -> None:
    """Add what every script takes; folder: where everything goes by default."""
    parser.add_argument("--quick", action="store_true", help="a small version that ends within a minute")
    parser.add_argument(
        "-o", "--output", type=_folder, default=folder, metavar="DIR", dest="folder",
        help=f"where everything goes; a run that was killed goes on from there; default {folder}",
    )  # fmt: skip
    parser.add_argument("--workers", type=values.count, default=1, metavar="N", help="processes; default 1")
    parser.add_argument(
        "--dask",
        type=values.address,
        metavar="ADDRESS",
        help="compute on the workers of this scheduler, tcp://HOST:PORT",
    )
    parser.add_argument("--seed", type=values.seed, default=0, metavar="S", help="of the random numbers; default 0")


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the directory is empty; it must be a path")
    return Path(text)


def seconds_of(experiment: Experiment, given: dict[str, Any]) -> Seconds:
    """Return the estimated run time with the options given: the time measured, scaled by the size of the search."""
    chosen = _aimed(given)
    quick, full = {**experiment.full, **experiment.quick}, experiment.full
    return Seconds(
        experiment.seconds.quick * expected.share(quick, chosen, experiment.keeps),
        experiment.seconds.full * expected.share(full, chosen, experiment.keeps),
    )


def _aimed(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that aim an experiment."""
    return {name: value for name, value in given.items() if value is not None and name in aims.AIMS}


def estimate(seconds: Seconds, given: dict[str, Any]) -> str:
    """Return about how long it takes, and what --quick would take; aimed it was not measured."""
    less = ", less where proofs end early" if _aimed(given) else ""
    if given["quick"]:
        return f"about {_time(seconds.quick, given)}{less}"
    if seconds.quick >= seconds.full:  # what --quick would change is given
        return f"about {_time(seconds.full, given)}{less}"
    return f"about {_time(seconds.full, given)}{less}; with --quick {_time(seconds.quick, given)}"


def _time(seconds: float, given: dict[str, Any]) -> str:
    share = max(1.0, seconds / given["workers"])
    text = time_of(share)
    if given["dask"] is not None:
        return f"{text} of one core, shared by the workers of dask"
    return f"{text} on {given['workers']} worker{'s' if given['workers'] > 1 else ''}"


def time_of(seconds: float) -> str:
    """Return seconds as people say them.

    >>> time_of(98), time_of(208)
    ('98 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
