"""The command line that all scripts share: options, an estimate first, then the table, the picture and the record."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocco.cli import values
from cocco.cli.usage import Parser
from cocco.output.pictures.saving import save_picture
from experiments.common import record
from workloads.errors import one_line

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Table = Callable[..., "pandas.DataFrame"]
Plot = Callable[["pandas.DataFrame"], "Figure"]
SHARED = ("quick", "seed", "folder", "workers", "dask")  #: what every `run` takes, by keyword


class Seconds(NamedTuple):
    """What a script takes on one core, measured; for the estimate it prints first."""

    quick: float
    full: float


def main(
    name: str,
    run: Table,
    plot: Plot,
    *,
    question: str,
    seconds: Seconds,
    options: Callable[[argparse.ArgumentParser], object] | None = None,
    arguments: Sequence[str] | None = None,
) -> int:
    """Run a script's command line and return its exit code: 0 done, 2 malformed, 130 stopped by Ctrl-C.

    run: called by keyword with quick, seed, folder, workers, dask, and what `options` adds to the parser; returns the
    table. plot: returns its picture. Written into the folder: <name>.csv, <name>.json, <name>.png, <name>.svg.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        given = vars(_parser(name, question, options).parse_args(words))
        print(f"{name}: {estimate(seconds, given)}", file=sys.stderr, flush=True)
        table = run(**given)
        settings = {key: value for key, value in given.items() if key not in ("folder", "workers", "dask", "seed")}
        command = shlex.join(["python", "-m", f"experiments.{name}", *words])
        about = {"command": command, "settings": settings, "seed": given["seed"]}
        written = record.write(given["folder"], name, table, about)
        written += save_picture(given["folder"], name, plot(table))
    except KeyboardInterrupt:
        print(f"{name}: stopped; the points that were finished are kept, run it again to go on", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"{name}: error: {one_line(error)}", file=sys.stderr)
        return 2
    print("\n".join(map(str, written)))
    return 0


def _parser(
    name: str, question: str, options: Callable[[argparse.ArgumentParser], object] | None
) -> argparse.ArgumentParser:
    parser = Parser(prog=f"python -m experiments.{name}", description=question, allow_abbrev=False)
    add_options(parser, Path("results") / name)
    if options is not None:
        options(parser)
    return parser


def add_options(parser: argparse.ArgumentParser, folder: Path) -> None:
    """Add what every script takes; folder: where everything goes by default."""
    parser.add_argument("--quick", action="store_true", help="a small version that ends within a minute")
    parser.add_argument(
        "-o", "--output", type=_folder, default=folder, metavar="DIR", dest="folder",
        help=f"where everything goes; a run that was killed goes on from there; default {folder}",
    )  # fmt: skip
    parser.add_argument("--workers", type=values.count, default=1, metavar="N", help="processes; default 1")
    parser.add_argument("--dask", metavar="ADDRESS", help="compute on the workers of this scheduler, tcp://HOST:PORT")
    parser.add_argument("--seed", type=values.seed, default=0, metavar="S", help="of the random numbers; default 0")


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the directory is empty; it must be a path")
    return Path(text)


def estimate(seconds: Seconds, given: dict[str, Any]) -> str:
    """Return about how long it takes, and what --quick would take."""
    if given["quick"]:
        return f"about {_time(seconds.quick, given)}"
    return f"about {_time(seconds.full, given)}; with --quick {_time(seconds.quick, given)}"


def _time(seconds: float, given: dict[str, Any]) -> str:
    share = max(1.0, seconds / given["workers"])
    text = f"{share:.0f} s" if share < 120 else f"{share / 60:.0f} min"
    if given["dask"] is not None:
        return f"{text} of one core, shared by the workers of dask"
    return f"{text} on {given['workers']} worker{'s' if given['workers'] > 1 else ''}"
