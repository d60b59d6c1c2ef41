"""What an experiment may be aimed at, from the shell and in `run()`: networks, samples, alphas, cores and the like.

An experiment takes those that it has settings of, and those of its `axes`: of these it is run once for each value.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import workloads
from cocco.cli.options import values
from cocco.problem.space import Range
from cocco.scheduling.budgets import NAMES
from simulator.hardware_files import read_hardware
from simulator.metrics import METRIC_NAMES
from workloads.errors import shown


class Aim(NamedTuple):
    """An option with one value or several: how a word becomes one, and what --help says."""

    read: Callable[[str], Any]
    metavar: str
    help: str
    is_list: bool = True


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(names)}; got {text!r}")
        return text

    return read


def _alpha(text: str) -> float:
    found = values.number(text)
    if found <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0; got {text!r}")
    return found


def _network(text: str) -> str:
    try:
        workloads.load(text)
    except (ValueError, OSError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _range(text: str) -> str:
    sizes = values.capacity_range(text)
    try:
        Range(*sizes)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _hardware(text: str) -> str:
    try:
        read_hardware(text)
    except (ValueError, OSError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


AIMS: Mapping[str, Aim] = {
    "networks": Aim(_network, "NETWORK", "names, or files as `cocco explore` reads them"),
    "samples": Aim(values.count, "N", "of each search", is_list=False),
    "seeds": Aim(values.count, "N", "so many seeds, from --seed on", is_list=False),
    "alphas": Aim(_alpha, "A", "bytes per unit of the metric, in Formula 2"),
    "cores": Aim(values.count, "N", "cores of the accelerator"),
    "batch": Aim(values.count, "N", "samples at once"),
    "buffers": Aim(_one_of("shared", "separate"), "KIND", "shared: one memory; separate: global and weight buffer"),
    "hardware": Aim(
        _hardware, "FILE", "hardware files; where a script chooses the buffers, those of the file are not used"
    ),
    "keep": Aim(_one_of("auto", "none"), "KEEP", "auto: tensors may stay on chip; none (default): as in the paper"),
    "metric": Aim(_one_of(*METRIC_NAMES), "METRIC", f"what is minimized: {', '.join(METRIC_NAMES)}; default energy"),
    "range": Aim(_range, "LOW:HIGH:STEP", "candidates for each buffer; default: the paper's"),
    "budgets": Aim(_one_of(*NAMES), "NAME", "of COSMA: M_R, M_H, M_P"),
    "kilobytes": Aim(values.count, "KB", "capacities"),
}
FIELDS = {
    "alphas": "alpha", "cores": "cores", "batch": "batch", "buffers": "space", "hardware": "hardware_file",
    "keep": "keep", "metric": "metric", "range": "range",
}  # fmt: skip  #: of a point, and the columns


def add_aims(parser: argparse.ArgumentParser, taken: Collection[str], defaults: Mapping[str, Any]) -> None:
    """Add the options of those that are taken; the others are read too, so that `run` can say what is taken."""
    for name, aim in AIMS.items():
        text = argparse.SUPPRESS
        if name in taken:
            text = aim.help + (f"; default {_words(defaults[name])}" if defaults.get(name) is not None else "")
        more: dict[str, Any] = {"nargs": "+"} if aim.is_list else {}
        parser.add_argument(f"--{name}", metavar=aim.metavar, type=aim.read, help=text, **more)


def _words(value: Any) -> str:
    if isinstance(value, str) or not isinstance(value, Collection):
        return str(value)
    return " ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in value)


def checked(name: str, taken: Collection[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an experiment is aimed at, without what is None.

    Raises ValueError, one line, for what it does not take, and for values that no option would be.
    """
    found = {key: value for key, value in given.items() if value is not None}
    for key, value in found.items():
        if key not in AIMS:
            continue
        if key not in taken:
            raise ValueError(f"{name} has no {key} to choose; it takes {', '.join(taken) or 'none of these options'}")
        _check(key, value)
    return found


def _check(key: str, value: Any) -> None:
    aim = AIMS[key]
    if not aim.is_list:
        value = [value]
    elif isinstance(value, str) or not isinstance(value, Collection) or not value:
        raise ValueError(f"{key} must be one or more values in a list; got {shown(value)}")
    if len({*map(str, value)}) < len(value):
        raise ValueError(f"{key} must name each value once; got {_words(value)}")
    for each in value:
        try:
            aim.read(str(each))
        except argparse.ArgumentTypeError as error:
            raise ValueError(f"{key}: {error}") from None


def cases(chosen: Mapping[str, Any], axes: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield what is the same in all points of one run, one for each combination of the values of the axes.

    >>> list(cases({"networks": ["vgg16"], "cores": [1, 4], "batch": [8]}, ("cores", "batch")))
    [{'cores': 1, 'batch': 8}, {'cores': 4, 'batch': 8}]
    """
    aimed = {FIELDS[name]: chosen[name] for name in axes if name in chosen}
    for combination in itertools.product(*aimed.values()):
        yield dict(zip(aimed, combination))
