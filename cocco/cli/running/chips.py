"""cocco explore --axis: machines explored together with memories and plans."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from cocco.cli.options import values
from cocco.cli.options.hardware import flag
from cocco.cli.options.output import check_folder
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.proofs import as_read
from cocco.cli.running.searches import Asked, Progress, ShownAnswer, asked_of
from cocco.effort.settings import Settings
from cocco.problem.criteria import Clocked
from simulator.hardware_files import MACHINE

#: what a question over machines has no use for: options and their defaults
NOT_OF_CHIPS = {
    "alpha": 0.002, "plain": False, "setting": None, "prove": False, "compare": False, "from": None, "slack": 0.0,
    "addresses": False, "check_addresses": False,
}  # fmt: skip


def axis(text: str) -> tuple[str, tuple[Any, ...]]:
    """Return (name, values) of 'pe=4x4,8x8'."""
    from cocco.chips.axes import parsed_axis

    try:
        return parsed_axis(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def rates(text: str) -> dict[str, float]:
    """Return the frames a second of 'resnet50=30fps,googlenet=5fps'."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, number = part.strip().rpartition("=")
        if not equals or not name or name in found:
            raise ArgumentTypeError(f"rates are NETWORK=N, each network once, such as resnet50=30fps; got {text!r}")
        found[name] = values.number(number.removesuffix("fps").strip())
    return found


def idle(text: str) -> float:
    """Return the share of 'gated=0.1'; of 'gated' alone 0."""
    name, equals, number = text.partition("=")
    if name != "gated" or equals and not number:
        raise ArgumentTypeError(f"idle is gated, or gated=SHARE of what leaks while nothing runs; got {text!r}")
    return values.number(number) if equals else 0.0


def add_axis(parser: Parser, then: str) -> Any:
    """Add what makes the machine a part of the question, and return its group; then: what it changes."""
    group = parser.add_argument_group(
        "machines: the whole chip as the question (docs/chips.md)", f"With --axis {then}."
    )
    group.add_argument(
        "--axis", type=axis, action="append", metavar="NAME=A,B,...", dest="axes",
        help="what to choose among, such as pe=4x4,8x8, lanes=8x8,16x16, cores=1,2,4, batch=1,4, dram=lpddr5,hbm2e, "
        "channels=1,2, sram=hp,lop, clock=0.8,1.0, or any number of a hardware file's technology; may be repeated",
    )  # fmt: skip
    return group


def add_axes(parser: Parser) -> None:
    """Add axes, rates and sensitivity."""
    group = add_axis(
        parser,
        "--exchange is of the whole chip (0.5mJ/mm2, 2mJ/$), limits also on area, price and power, and of one network "
        "(resnet50.latency=20ms), and --method is auto or ga, whose genome has a gene for each axis",
    )  # fmt: skip
    group.add_argument(
        "--rate", type=rates, metavar="NETWORK=N,...", dest="rates",
        help="frames a second that each network has to run at, such as resnet50=30fps,googlenet=5fps: then the least "
        "average power is sought, and all of them have to fit",
    )  # fmt: skip
    group.add_argument(
        "--idle", type=idle, default=1.0, metavar="gated[=SHARE]",
        help="with --rate: buffers, logic and DRAM's background are off while nothing runs, or leak this share of what "
        "they leak otherwise; by default all of it",
    )  # fmt: skip
    group.add_argument(
        "--sensitivity", action="store_true",
        help="ask again with each number of logic and DRAM halved and doubled: which chip then, what ours costs more",
    )  # fmt: skip


def explore_axes(options: Namespace) -> int:
    """Search over machines."""
    for name, default in NOT_OF_CHIPS.items():
        if getattr(options, name) != default:
            raise UsageError(f"{flag(name)} not allowed with --axis: every machine is proved, open or ruled out")
    if options.cores_given is not None:
        raise UsageError("--cores with several numbers not allowed with --axis; take --axis cores=1,2,4")
    if options.axes is None:
        raise UsageError("--rate needs an --axis, such as --axis pe=4x4,8x8")
    axes = _axes(options)
    limits = dict(options.limits or ())
    if len(limits) != len(options.limits or ()):
        twice = next(name for name in limits if [each for each, _ in options.limits].count(name) > 1)
        raise UsageError(f"--limit {twice} is given twice; give each limit once")
    least = "power" if options.rates else {"latency-sum": "latency"}.get(options.metric, options.metric)
    minimized = options.minimize or least
    asked = asked_of(options)
    question = {name: value for name, value in asked.common.items() if name != "count"}
    question |= {name: getattr(options, name) for name in ("method", "exchange", "rates", "idle", "sensitivity")}
    question |= {"minimized": minimized, "limits": limits}
    return _search(asked, axes, question)


def pareto_axes(options: Namespace) -> int:
    """Search for the front over machines."""
    from cocco.chips.front import ChipsFront, pareto_chips
    from cocco.output.folders.written import chips as folder_of_chips
    from cocco.output.text.searches.chips import chips_front_text

    for name, value in (("method", "exact"), ("keep", "auto"), ("exchange", options.exchange)):
        if value is not None and getattr(options, name) == value:
            raise UsageError(f"{flag(name)} {value} not allowed with --axis: its front is nsga2's, with nothing kept")
    axes, asked = _axes(options), asked_of(options)
    objectives = ("area", "energy", "latency") if options.objectives is None else options.objectives
    question = {name: value for name, value in asked.common.items() if name not in ("count", "keep")}
    settings = asked.settings(("samples", *MACHINE, "tile_rule"), keep="none") | {
        "axes": {name: list(each) for name, each in axes.items()}, "objectives": list(objectives),
    }  # fmt: skip
    check_folder(options, asked.folder, settings)

    def find(progress: Progress | None) -> ChipsFront:
        return pareto_chips(asked.networks, axes, objectives=objectives, **question, progress=progress)

    def show(found: ChipsFront) -> ShownAnswer:
        def save(seconds: float, _: bool) -> list[Path]:
            if asked.folder is None:
                return []
            about = asked.about(settings, found, found.to_json(), seconds)
            return folder_of_chips.save_front(asked.folder, found, about)

        return ShownAnswer(found.to_json, lambda: chips_front_text(found), save)

    return asked.search(folder_of_chips.FRONT_FILES, find, show, "{} points on the front")


def _axes(options: Namespace) -> dict[str, Any]:
    """Return the values of each axis."""
    axes = dict(options.axes)
    if len(axes) != len(options.axes):
        twice = next(name for name in axes if [each for each, _ in options.axes].count(name) > 1)
        raise UsageError(f"--axis {twice} is given twice; give its values once")
    return axes


def _search(asked: Asked, axes: dict[str, Any], question: dict[str, Any]) -> int:
    from cocco.chips.answer import ChipsAnswer
    from cocco.chips.explore import explore_chips
    from cocco.output.folders.written import chips as folder_of_chips
    from cocco.output.text.searches.chips import chips_text

    options, folder = asked.options, asked.folder
    names = [network.name for network in asked.networks]
    settings = asked.settings(("exchange", "method", "samples", *MACHINE, "tile_rule")) | {
        "axes": {name: list(each) for name, each in axes.items()}, "minimize": question["minimized"],
        "limits": {name: most.to_json() if isinstance(most, Clocked) else most
                   for name, most in question["limits"].items()},
        "rates": question["rates"], "idle": question["idle"],
    }  # fmt: skip
    check_folder(options, folder, settings)

    def find(progress: Progress | None) -> ChipsAnswer:
        return explore_chips(asked.networks, axes, **question, settings=Settings(), progress=progress)

    def show(found: ChipsAnswer) -> ShownAnswer:
        content = found.to_json() | {"verified": None}

        def save(seconds: float, is_stopped: bool) -> list[Path]:
            if folder is None:
                return []
            return folder_of_chips.save(folder, found, asked.about(settings, found, content, seconds), is_stopped)

        paths = [(folder or Path()) / name for name in folder_of_chips.partition_names(names)]
        chip = (folder or Path()) / folder_of_chips.CHIP
        proofs = [
            shlex.join([
                "cocco", "evaluate", each.word, *as_read(each.options), "--partition", str(path), "--hardware",
                str(chip), "--verify",
            ]) if folder else ""
            for each, _, path in zip(asked.loaded, found.plans, paths)
        ]  # fmt: skip
        return ShownAnswer(lambda: content, lambda: chips_text(found), save, proofs)

    return asked.search(folder_of_chips.file_names(names), find, show, "best {:.6g}")
