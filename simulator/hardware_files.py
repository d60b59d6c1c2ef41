"""Hardware files: an accelerator and its technology as YAML or JSON (docs/partitions.md).

Every number of the model may be given; the others keep their defaults. `hardware_text` writes all of them, each with
its unit and source, in a form that can be read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from os import PathLike
from typing import Any

from simulator.accelerator import MAX_COUNT, Accelerator, Machine
from simulator.chip.clock import clocks_said
from simulator.chip.logic import PHY_SOURCES, logic_said
from simulator.chip.logic import WORDS as LOGIC_WORDS
from simulator.memory.said import check_keys, dram_said, dram_source, sram_said, sram_text
from simulator.memory.sram import Sram
from simulator.sizes import parse_size
from simulator.technology import MAX_NUMBER, UNSAID, Technology, light_channels
from workloads.errors import FileFormatError, check_count, one_line, shown
from workloads.files import read_mapping

BUFFERS = ("global_buffer", "weight_buffer", "shared_buffer")
MACHINE = ("cores", "batch", "max_regions", "groups_apart", "connected", "plans")
KEYS = (*BUFFERS, *MACHINE, "sram", "dram", "logic", "clock", "technology")
OF_DRAM = ("dram_pj_per_byte", "dram_bytes_per_cycle")  #: fields that a kind of DRAM sets
ALL_DRAM = "dram_gb_per_s"  #: key of the technology: 10^9 bytes per second of all cores, for dram_bytes_per_cycle
OF_BUFFER = ("size", "sram")  #: keys of a buffer that is a mapping
SRAM_OF = {
    "global_buffer": ("activation_sram",), "weight_buffer": ("weight_sram",),
    "shared_buffer": ("activation_sram", "weight_sram"),
}  # fmt: skip  #: fields of the technology that a buffer's own table sets

READ: dict[str, Callable[[object], Any]] = {"logic": logic_said, "clock": clocks_said}  #: here, or in the technology

WORDS = {
    "global_buffer": "bytes of one core, or a size such as 1MB; for activations",
    "weight_buffer": "bytes of one core; for weights",
    "shared_buffer": "bytes of one core, for both; in place of the two",
    "cores": "cores that share a network",
    "batch": "samples computed together",
    "max_regions": "tensors that a subgraph of several layers may hold, null for any number (Cocco, Sec. 3.2)",
    "groups_apart": "whether subgraphs may run one group of channels (one head) after the other; else as plans says",
    "connected": "what connects the layers of a subgraph, all: edge, common input, concatenation; or paper: edge",
    "plans": "which kinds of plans: all, or paper: subgraphs that are held in one piece, and single layers",
    "logic": "what cores, MACs and interfaces take and leak; a preset, or numbers",
    "technology": "what a byte, an operation and a cycle cost",
    "dram_pj_per_byte": "pJ per byte; 12.5 pJ/bit (Cocco, Sec. 5.1.2)",
    "dram_bytes_per_cycle": "bytes per cycle and core; 16 GB/s at 1 GHz (Cocco, Sec. 5.1.2)",
    "clock_ghz": "GHz (Cocco, Sec. 5.1.2)",
    "sram_base_pj_per_byte": "pJ per byte; our choice: a byte costs base + root * sqrt(capacity / 1 MiB)",
    "sram_root_pj_per_byte": "pJ per byte; our choice: grows with the side length of the array",
    "operation_pj": "pJ per MAC or other operation; our choice: fitted to Cocco's Tables 1 and 2",
    "crossbar_pj_per_byte": "pJ per byte; our choice: one hop between cores",
    "crossbar_bytes_per_cycle": "bytes per cycle of the port of a core; our choice: 256 bits",
    "sram_mm2_per_mb": "mm2 per MiB at 12 nm (Cocco, Fig. 2)",
    "pe_rows": "PEs of a core (Cocco, Sec. 5.1.2)",
    "pe_columns": "PEs of a core (Cocco, Sec. 5.1.2)",
    "pe_inputs": "input channels that a PE reduces in a cycle (Cocco, Sec. 5.1.2)",
    "pe_outputs": "output channels of a PE (Cocco, Sec. 5.1.2)",
    "pe_light_channels": "channels that depth-wise work keeps busy in a PE; our choice: half of pe_outputs",
    "channel_alignment": "channels are stored in multiples of this; NWHC8c (Cocco, Fig. 7)",
    "buffer_word_bytes": "bytes; regions start and end on words (Cocco, Sec. 3.2)",
    "tiles": "output tiles tried, from the largest; our choice",
    "activation_sram": "SRAM of the global or shared buffer",
    "weight_sram": "SRAM of the weight buffer, the same for a shared one",
    "dram_kind": "a preset of DRAM: pJ/bit, GB/s of a channel",
    "dram_background_mw": "mW of all DRAM, whatever crosses",
    "dram_channels": "channels of the chip, which all cores share; dram_bytes_per_cycle is not used then",
    "channel_gb_per_s": "10^9 bytes per second of a channel",
    "clock": "[GHz, V] of all clocks, of which clock_ghz is one; energy of logic and SRAM follows the voltage",
    "link_gb_per_s": "10^9 bytes per second from a chip to others, and as many back (docs/language-models.md)",
    "link_pj_per_byte": "pJ per byte that leaves a chip and enters another",
    "sram_bytes_per_cycle": "bytes per cycle of the port of a buffer, read or written; else what logic says",
}  #: by key: unit, meaning, source


def load_accelerator(path: str | PathLike[str], **changes: Any) -> Accelerator:
    """Return the accelerator of a hardware file (docs/partitions.md).

    Parameters
    ----------
    path : str or PathLike
        A .yaml or .json file, as `cocco show --hardware` prints it; what it leaves out keeps its default.
    **changes
        Fields of Accelerator that replace those of the file; giving any buffer replaces all buffers of the file.

    Returns
    -------
    Accelerator

    Raises
    ------
    ValueError
        One line that names the file, the key, the rule and the value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator import load_accelerator
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "chip.yaml")
    ...     _ = file.write_text("shared_buffer: 1.5MB\\ncores: 2\\n")
    ...     load_accelerator(file, batch=4)
    Accelerator(shared_buffer=1572864, cores=2, batch=4)
    """
    found = read_hardware(path, changes.get("cores"))
    if any(name in changes for name in BUFFERS):
        found = {name: value for name, value in found.items() if name not in BUFFERS}
    try:
        return Accelerator(**found | changes)
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from None


def read_hardware(path: str | PathLike[str], cores: int | None = None) -> dict[str, Any]:
    """Return what a hardware file gives, and only that, as keywords for Accelerator: bytes, numbers, a Technology.

    Each value is checked. A file may leave out the buffers for the caller to choose. cores: that share `dram_gb_per_s`,
    in place of the file's own.
    """
    content = read_mapping(path)
    return hardware_of(path, content if cores is None else content | {"cores": cores})


def hardware_of(path: str | PathLike[str], content: dict[str, Any]) -> dict[str, Any]:
    """Return what a mapping from a file gives, as `read_hardware` does; path: the file named in errors."""
    _check_keys(path, content, KEYS, "hardware")
    found: dict[str, Any] = {}
    memory = _memory(path, content)
    for name in BUFFERS:
        size = content.get(name)
        if isinstance(size, dict):
            size = size.get("size")
        if size is not None:
            found[name] = _size(path, name, size)
    for name in MACHINE:
        if name in content:
            found[name] = None if name == "max_regions" and content[name] == "none" else content[name]
    memory |= {name: content[name] for name in READ if content.get(name) is not None}
    if "technology" in content or memory or content.get("dram") is not None:
        cores = content.get("cores", 1)
        found["technology"] = _technology(path, content.get("technology", {}), content.get("dram"), memory, cores)
    given = [name for name in BUFFERS if name in found]
    if len(given) == 1 and given != ["shared_buffer"]:
        missing = "weight_buffer" if given == ["global_buffer"] else "global_buffer"
        raise FileFormatError(f"{path}: {given[0]} needs {missing}: separate buffers come in pairs")
    try:
        (Accelerator if given else Machine)(**found)
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return found


def hardware_text(accelerator: Accelerator) -> str:
    """Return the accelerator as a hardware file (YAML) that names every number, its unit and its source."""
    lines = ["# Hardware for cocco: --hardware FILE. What is left out is the default."]
    for name in BUFFERS:
        value = getattr(accelerator, name)
        lines.append(_line("" if value is not None else "# ", name, 2**21 if value is None else value))
    lines += [_line("", name, getattr(accelerator, name)) for name in MACHINE[:3]]
    apart = accelerator.groups_apart
    lines.append(_line("# " if apart is None else "", "groups_apart", apart is None or apart))
    for name in ("connected", "plans"):
        lines.append(_line("" if getattr(accelerator, name) != "all" else "# ", name, "paper"))
    lines.append("technology:".ljust(44) + f"  # {WORDS['technology']}")
    for each in fields(Technology):
        value = getattr(accelerator.technology, each.name)
        if each.name not in UNSAID:
            line = _line("  ", each.name, value)
            if accelerator.technology.dram_kind is not None and each.name in OF_DRAM:
                line = f"{line.partition(';')[0]}; of dram_kind, or given in its place"
            lines.append(line + ("" if value == each.default else f"; default {each.default}"))
        elif value != each.default and each.name != "logic":
            lines.append(_line("  ", each.name, value) + _source(value))
    return "\n".join([*lines, *_logic_lines(accelerator.technology)]) + "\n"


def _logic_lines(technology: Technology) -> list[str]:
    """Return the logic with its units and sources; nothing where nothing is said of it."""
    logic, kind = technology.logic, technology.dram_kind
    if logic is None:
        return []
    lines = ["logic:".ljust(44) + f"  # {WORDS['logic']}"]
    for name, words in LOGIC_WORDS.items():
        value = getattr(logic, name)
        own = f"; {kind} {logic.phy_of(kind)} mm2: {PHY_SOURCES[kind]}" if value is None and kind in PHY_SOURCES else ""
        lines.append(f"  {name}: {_yaml(value)}".ljust(44) + f"  # {words}{own}")
    return [*lines, *([f"  node: {logic.node}"] if logic.node else [])]


def _source(value: object) -> str:
    """Return the source of a table or a kind of DRAM, which replaces the formula or the paper's constants."""
    if isinstance(value, Sram):
        return f"; {one_line(value.table.source) or 'nobody says from where'}"
    return f"; {dram_source(value)}" if isinstance(value, str) else ""


def _line(before: str, name: str, value: object) -> str:
    return f"{before}{name}: {_yaml(value)}".ljust(44) + f"  # {WORDS[name]}"


def _yaml(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, Sram):
        return sram_text(value)
    text = str(value)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # YAML reads 1e-06 as text
    return text


def _check_keys(path: str | PathLike[str], content: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in content:
        if key not in known:
            hint = f"it belongs {'below' if 'technology' in known else 'outside'} technology; " if key in WORDS else ""
            raise FileFormatError(f"{path}: unknown key {shown(key)}; {hint}{what} has {', '.join(known)}")


def _size(path: str | PathLike[str], name: str, value: object) -> int:
    if isinstance(value, str):
        try:
            return parse_size(value)
        except ValueError as error:
            raise FileFormatError(f"{path}: {name}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, int):
        raise FileFormatError(f"{path}: {name} must be {WORDS['global_buffer'].partition(';')[0]}, got {shown(value)}")
    return value


def _memory(path: str | PathLike[str], content: dict[str, Any]) -> dict[str, Any]:
    """Return the technology fields that the file sets outside of it, except those of DRAM, which need the clock."""
    found: dict[str, Any] = {}
    try:
        if content.get("sram") is not None:
            found = dict.fromkeys(SRAM_OF["shared_buffer"], sram_said(path, content["sram"]))
        for name in BUFFERS:
            buffer = content.get(name)
            if isinstance(buffer, dict):
                check_keys(name, buffer, OF_BUFFER)
                if buffer.get("sram") is not None:
                    found |= dict.fromkeys(SRAM_OF[name], sram_said(path, buffer["sram"]))
    except ValueError as error:
        raise FileFormatError(_in_file(path, error)) from None
    return found


def _technology(
    path: str | PathLike[str], content: object, dram: object, memory: dict[str, Any], cores: object
) -> Technology:
    """Return the technology; its own fields take precedence over `dram:` and `sram:`."""
    if not isinstance(content, dict):
        raise FileFormatError(f"{path}: technology is {shown(content)}; it must be a mapping of numbers")
    names = tuple(each.name for each in fields(Technology))
    _check_keys(path, content, (*names, ALL_DRAM), "technology")
    content = dict(content)
    said_of = dict(content).get
    rate = content.pop(ALL_DRAM, None)
    try:
        said: dict[str, Any] = {
            name: sram_said(path, content[name]) for name in SRAM_OF["shared_buffer"] if content.get(name)
        }
        said |= {name: read(content[name]) for name, read in READ.items() if content.get(name) is not None}
        given = Technology(**content | said)
        if "pe_light_channels" not in content:
            content["pe_light_channels"] = light_channels(given.pe_outputs)
        if rate is not None:
            content["dram_bytes_per_cycle"] = _per_cycle(rate, content.get("dram_bytes_per_cycle"), given, cores)
        memory = memory | {name: read(memory[name]) for name, read in READ.items() if name in memory}
        if dram is not None:
            memory = memory | dram_said(dram, given.clock_ghz)
            clash = next((name for name in (ALL_DRAM, "dram_bytes_per_cycle") if said_of(name)), None)
            if "dram_channels" in memory and clash is not None:
                raise ValueError(f"technology.{clash} and dram.channels both say the bandwidth; give one of them")
        return Technology(**memory | content | said)
    except ValueError as error:
        wrong = next((name for name in names if str(error).startswith(f"technology.{name} ")), None)
        unit = (
            f"; it is in {WORDS[wrong].partition(';')[0].partition(' (')[0]}"
            if wrong and wrong not in UNSAID[:3]
            else ""
        )
        raise FileFormatError(_in_file(path, error) + unit) from None


def _per_cycle(rate: object, said: int | None, technology: Technology, cores: object) -> int:
    """Return the whole bytes per cycle and core, at least 1, of DRAM that all cores share; they must be those said."""
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= MAX_NUMBER:
        raise ValueError(
            f"technology.{ALL_DRAM} must be a number above 0 and at most {MAX_NUMBER:g}, got {shown(rate)}"
        )
    check_count("cores", cores, MAX_COUNT)
    assert isinstance(cores, int)
    found = max(1, int(rate / technology.clock_ghz / cores))
    if said not in (None, found):
        raise ValueError(
            f"technology.{ALL_DRAM} is {rate}, {found} bytes per cycle and core ({technology.clock_ghz:g} GHz, "
            f"{cores} {'core' if cores == 1 else 'cores'}), but dram_bytes_per_cycle is {said}; give one of them"
        )
    return found


def _in_file(path: str | PathLike[str], error: ValueError) -> str:
    """Return the text of an error, with the file unless it already names another."""
    return str(error) if isinstance(error, FileFormatError) else f"{path}: {error}"
