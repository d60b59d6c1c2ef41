"""From parsed options to the hardware that is given and the memories to choose from."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.cli.options.of_methods import is_plain
from cocco.cli.options.plausible import derived, implausible
from cocco.cli.options.usage import UsageError
from cocco.cli.options.values import Bare
from simulator.accelerator import Accelerator
from simulator.chip.logic import PRESETS
from simulator.hardware_files import ALL_DRAM, BUFFERS, MACHINE, read_hardware
from simulator.mapping.mappers import Enumerate, Mapper
from simulator.technology import KiB, MiB, Technology
from workloads.files import read_mapping

if TYPE_CHECKING:
    from cocco.problem.space import Space

DEFAULTS = Accelerator(shared_buffer=1)  #: of everything but the buffers
MAPPER = "enumerate"  #: the default
TILE_RULE = "exact"  #: the default
SMALL_BYTES = 4 * KiB  #: our choice: of a smaller buffer one asks whether its unit was forgotten
PAPER_BUFFERS = {"global_buffer": 1 * MiB, "weight_buffer": 1152 * KiB}  #: Cocco, Sec. 5.2


def settle(options: Namespace, known: Accelerator | None = None) -> None:
    """Put into the options of `add_machine` what the command line does not say.

    That is what --hardware says, or else the hardware that the plans were made for (known), or else the default.
    """
    options.given = [name for name in BUFFERS if getattr(options, name, None) is not None]
    options.given += [name for name in (*MACHINE, "mapper") if hasattr(options, name)]
    path = options.hardware_file
    cores = getattr(options, "cores", None)
    found = hardware_at(path, cores) if path is not None else {} if known is None else _fields(known)
    options.is_known = path is None and known is not None
    for name in MACHINE:
        if not hasattr(options, name):
            setattr(options, name, found.get(name, getattr(DEFAULTS, name)))
    if is_plain(options) and options.keep != "auto":
        is_said = "plans" in options.given or (path is not None and "plans" in found)
        options.plans = options.plans if is_said else "paper"
    if options.plans == "paper" and "connected" in options.given and options.connected == "all":
        raise UsageError("--connected all not allowed with --plans paper: in the paper edges connect a subgraph")
    options.technology = found.get("technology", Technology())
    if options.logic is not None:
        options.given.append("logic")
        options.technology = replace(options.technology, logic=PRESETS[options.logic])
    if options.link is not None:
        options.given.append("link")
        options.technology = replace(options.technology, link_gb_per_s=options.link)
    for text in implausible(options.technology) if path is not None else ():
        print(f"cocco: note: {path}: {text}", file=sys.stderr)
    options.file_buffers = {name: found[name] for name in BUFFERS if name in found}
    options.file_mapper = None if hasattr(options, "mapper") else found.get("mapper")
    if not hasattr(options, "mapper"):
        options.mapper = _name(options.file_mapper)
    if not hasattr(options, "tile_rule"):
        options.tile_rule = TILE_RULE


def hardware_at(path: str, cores: int | tuple[int, ...] | None = None) -> dict[str, Any]:
    """Return what a hardware file says, or the hardware of a run folder, as keywords for Accelerator.

    cores: of the command line, which share what a file says of all DRAM.
    """
    if not Path(path).suffix and not Path(path).exists():
        raise UsageError(f"{path}: is not there; hardware is a file (.yaml, .json) or the folder of a run")
    if not Path(path).is_dir():
        technology = read_mapping(path).get("technology")
        said = technology if isinstance(technology, dict) else {}
        if isinstance(cores, tuple) and ALL_DRAM in said:
            raise UsageError(f"{path}: {ALL_DRAM} is that of all cores; say dram_bytes_per_cycle for several --cores")
        found = read_hardware(path, cores if isinstance(cores, int) else None)
        for text in derived(said, found.get("technology")):
            print(f"cocco: note: {path}: {text}", file=sys.stderr)
        return found
    from cocco.output.folders.verified.made_for import RunFolder

    return _fields(RunFolder(Path(path)).accelerator)


def hardware_of(path: str | None) -> Accelerator:
    """Return the hardware of a file or a run, or the default; without buffers those of the paper."""
    found = hardware_at(path) if path else {}
    return Accelerator(**found if any(name in found for name in BUFFERS) else PAPER_BUFFERS | found)


def _fields(accelerator: Accelerator) -> dict[str, Any]:
    """Return the accelerator as keywords; a buffer that is not there, or the default mapper, is not among them."""
    content = {each.name: getattr(accelerator, each.name) for each in fields(accelerator)}
    for name in BUFFERS:
        if content[name] is None:
            del content[name]
    if accelerator.mapper == Enumerate():
        del content["mapper"]
    return content


def _name(mapper: Mapper | None) -> str:
    """Return what --mapper calls a mapper."""
    if mapper is None:
        return MAPPER
    from cocco.mapping.mapper import MAPPERS

    return next((name for name, each in MAPPERS.items() if each == mapper), mapper.name)


def accelerator_of(options: Namespace) -> Accelerator:
    """Return the hardware of the buffer options, or else of --hardware, or else of the paper."""
    buffers = {name: getattr(options, name) for name in BUFFERS}
    given = [name for name, size in buffers.items() if size is not None]
    if "shared_buffer" in given and len(given) > 1:
        raise UsageError(f"--shared-buffer not allowed with {flag(given[0])}: hardware has one buffer or two")
    if len(given) == 1 and given != ["shared_buffer"]:
        missing = "weight_buffer" if given == ["global_buffer"] else "global_buffer"
        raise UsageError(f"{flag(given[0])} needs {flag(missing)}: separate buffers come in pairs")
    for name in given:
        _ask_unit(flag(name), [buffers[name]])
    return Accelerator(**(buffers if given else options.file_buffers or PAPER_BUFFERS), **machine_of(options))


def _ask_unit(option: str, sizes: Sequence[int]) -> None:
    """Say of small sizes without a unit, as those of a range, what they would be with one."""
    if not all(isinstance(size, Bare) and size < SMALL_BYTES for size in sizes):
        return
    said = ":".join(map(str, sizes))
    with_unit = ":".join(f"{size}KB" for size in sizes)
    print(
        f"cocco: note: {option} {said} is {said} bytes, because a number without a unit is one of bytes; "
        f"{with_unit} would be {said} KB",
        file=sys.stderr,
    )


def machine_of(options: Namespace) -> dict[str, Any]:
    """Return what of the hardware is never searched, as keywords; the default mapper is not among them."""
    machine = {name: getattr(options, name) for name in (*MACHINE, "technology")}
    if options.file_mapper is not None:
        return machine | {"mapper": options.file_mapper}
    if options.mapper == MAPPER:
        return machine
    from cocco.mapping.mapper import MAPPERS

    return machine | {"mapper": MAPPERS[options.mapper]}


def space_of(options: Namespace) -> Space:
    """Return the candidates of --separate or else of --shared, with --range where it is given.

    The paper's candidates go on where the answer lies at an end, but not in the paper's search.
    """
    from cocco.problem.space import Range, SeparateBuffers, SharedBuffer, extending

    if options.file_buffers:
        file = options.hardware_file
        print(f"cocco: note: the buffers of {file} are not used: they are chosen here", file=sys.stderr)
    ranges = options.ranges or []
    for each in ranges:
        _ask_unit("--range", each)
    flag, wanted = ("--separate", 2) if options.separate else ("--shared", 1)
    if len(ranges) not in (0, wanted):
        wants = "one --range" if wanted == 1 else "two --range (global buffer, then weight buffer)"
        raise UsageError(f"{flag} takes {wants}, or none for the paper's candidates; got {len(ranges)}")
    if options.separate:
        found: Space = SeparateBuffers(*(Range(*each) for each in ranges))
    else:
        found = SharedBuffer(*ranges[0]) if ranges else SharedBuffer()
    return found if ranges or is_plain(options) else extending(found)


def flag(name: str) -> str:
    """Return the option that sets this field of an accelerator."""
    return "--" + name.replace("_", "-")
