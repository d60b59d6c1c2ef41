"""Run folders given for a network, a plan or hardware: what the folder of an earlier search says about them."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

import workloads
from cocco.cli.options.hardware import DEFAULTS, PAPER_BUFFERS
from cocco.cli.options.networks import STEP_OPTIONS, load, load_all
from cocco.cli.options.usage import UsageError
from cocco.output.text.plans.hardware import buffers, machine
from cocco.plans.made import LAYERWISE, is_made
from simulator.accelerator import Accelerator
from simulator.hardware_files import MACHINE
from workloads.errors import FileFormatError
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.output.folders.read.chips import ChipsRun
    from cocco.output.folders.read.front import FrontRun
    from cocco.output.folders.read.run import Run
    from cocco.output.folders.verified.made_for import RunFolder
    from cocco.output.folders.verified.verify_run import CheckedRun

OF_NETWORK = ("bits", "extents", "inputs", *STEP_OPTIONS)  #: options that say which network a name means


def is_run(text: str) -> bool:
    """Whether a word that may be a network is the folder of a run; a built-in name is never one."""
    return text not in workloads.names() and text not in ("", LAYERWISE) and Path(text).is_dir()


def settle_plans(options: Namespace) -> Accelerator | None:
    """Put what each plan of the command line was made for into options.made, and return what all of them agree on."""
    options.made = {}
    for word in dict.fromkeys(_plans(options)):
        if not is_made(word):
            from cocco.output.folders.verified.made_for import RunFolder, made_for

            path = Path(word)
            if not path.suffix and not path.exists():
                raise UsageError(
                    f"{word}: is not there; a plan is a file (.json, .yaml), the folder of a run, layerwise, or what "
                    "code makes (heuristic.py:make_plan)"
                )
            options.made[word] = RunFolder(path).accelerator if path.is_dir() else made_for(path)
    known = list(dict.fromkeys(each for each in options.made.values() if each is not None))
    return known[0] if len(known) == 1 else None


def _plans(options: Namespace) -> list[str]:
    """Return the words of a command line that are plans."""
    if getattr(options, "network", None) is not None and is_run(options.network):
        return [options.network]
    found = getattr(options, "partitions", None) or [getattr(options, name, None) for name in ("plan", "partition")]
    if options.command == "partition":
        found = getattr(options, "from") or []
    return [word for word in found if word]


def network_of(options: Namespace) -> Network:
    """Return the network that the command line names, or the one of the run whose folder it names."""
    if not is_run(options.network):
        return load(options.network, options)
    from cocco.output.folders.verified.made_for import RunFolder

    run = RunFolder(Path(options.network))
    run.plan()  # raises where there are several
    asked = _asked(run.about.command, run.folder)
    for name in OF_NETWORK:
        if getattr(options, name, None) is None:
            setattr(options, name, getattr(asked, name, None))
    options.unsupported = asked.unsupported
    try:
        found = load(asked.networks[0], options)
    except ValueError as error:
        raise FileFormatError(
            f"{run.folder}: its network cannot be read from here ({error}); name it, as in "
            f"'cocco evaluate NETWORK {run.folder}'"
        ) from None
    if found.name != run.networks[0]:
        raise FileFormatError(f"{run.folder}: is of the network {run.networks[0]!r}, its command names {found.name!r}")
    return found


def networks_of(run: Run | FrontRun | ChipsRun | RunFolder) -> dict[str, Network]:
    """Return by name the networks of a run as its command names them; none where one cannot be read from here."""
    try:
        asked = _asked(run.about.command, run.folder)
        return {found.name: found for found, *_ in load_all(asked)}
    except (ValueError, OSError):
        return {}


def _asked(command: str, folder: Path) -> Namespace:
    """Return the options of the command that wrote a folder."""
    from cocco.cli.options.parser import parse

    try:
        found = parse(shlex.split(command)[1:])
    except (ValueError, SystemExit) as error:
        raise FileFormatError(f"{folder}: 'command' of its result.json is no command line: {error}") from None
    if not getattr(found, "networks", None):
        raise FileFormatError(f"{folder}: 'command' of its result.json names no network")
    return found


def believe(folder: Path, known: Network | None = None, *, is_full: bool = False) -> CheckedRun | None:
    """Price the plans in the folder of a run again, so that nothing is believed; a note where they cannot be.

    known: stands for the network of its name where that cannot be read from here. is_full: compare what takes longer
    too, and prove the bound again.

    Raises FileFormatError, one line that names the first number that differs.
    """
    from cocco.output.folders.verified.made_for import RunFolder
    from cocco.output.folders.verified.verify_run import check_numbers

    run = RunFolder(folder)
    networks = ({} if known is None else {known.name: known}) | networks_of(run)
    checked = check_numbers(run, networks, is_full, is_proved=is_full)
    if checked is None:
        missing = [name for name in run.networks if name not in networks]
        print(
            f"cocco: note: {folder}: its numbers are not compared: its networks cannot be read from here "
            f"({', '.join(missing) or 'several of one name'})",
            file=sys.stderr,
        )
    return checked


def plan_of(options: Namespace) -> str:
    """Return the one plan of the command line: a file, the folder of a run, or 'layerwise'."""
    network, plan = options.network, options.partition
    if options.plan is not None:
        if plan is not None:
            raise UsageError(f"--partition {plan} not allowed with {options.plan!r}: they are the same; give one")
        plan = options.plan
    if is_run(network):
        if plan is not None:
            raise UsageError(f"{plan!r} not allowed with the run {network}, which has its plan; name a network with it")
        return str(network)
    if plan is None:
        load(network, options)  # one that is not known is said first
        raise UsageError(f"which partition of {network}? name --partition FILE, the folder of a run, or layerwise")
    return str(plan)


def check_no_network_option(options: Namespace, where: str) -> None:
    """Refuse options that say which network a name means, where none is named; where: next to what, and why not."""
    for name in OF_NETWORK:
        if getattr(options, name, None) is not None:
            raise UsageError(
                f"--{name.rstrip('s') if name in ('extents', 'inputs') else name} not allowed with {where}"
            )


def machine_notes(options: Namespace) -> list[str]:
    """Return what, besides the buffers, was taken from the hardware that a plan was made for, without defaults."""
    values = {name: getattr(options, name) for name in (*MACHINE, "technology")}
    same = {name: value for name, value in values.items() if value != getattr(DEFAULTS, name)}
    if not options.is_known or not same:
        return []
    words = ", ".join(name if name == "technology" else f"{name} {value}" for name, value in same.items())
    return [f"machine: {words}, for which {' and '.join(options.made)} was made, or as given"]


def hardware_notes(options: Namespace, accelerator: Accelerator) -> list[str]:
    """Return which hardware was priced, where the command line does not say it, and which plans are of another."""
    shown = f"{buffers(accelerator)}{machine(accelerator)}"
    made = {word: each for word, each in options.made.items() if each is not None}
    others = {word: each for word, each in made.items() if each != accelerator}
    found = []
    if options.is_known and not others:
        found.append(f"hardware: {shown}, for which {' and '.join(made)} {'was' if len(made) == 1 else 'were'} made")
    elif not options.file_buffers and not any(name in options.given for name in PAPER_BUFFERS | {"shared_buffer": 0}):
        options_given = "no buffer option given" if options.given or options.hardware_file else "no option given"
        found.append(f"hardware: default, {options_given}: {shown}")
    if others:
        from cocco.output.folders.verified.made_for import differences

        changes = ((word, ", ".join(differences(each, accelerator))) for word, each in others.items())
        found += [f"{word} was made for other hardware; priced with {changed}" for word, changed in changes]
    return found
