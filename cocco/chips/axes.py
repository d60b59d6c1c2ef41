"""The axes of a chip: what each may be, and the machines that their product has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from cocco.problem.buildable import buildable
from cocco.problem.space import Space
from simulator.accelerator import Machine
from simulator.memory.dram import dram_kind
from simulator.memory.reading import find_table, shipped
from simulator.memory.sram import Sram
from simulator.technology import COUNTS, NUMBERS, Technology, light_channels
from workloads.errors import shown

MOST = 10_000  #: machines of a product; our choice: minutes

Fields = dict[str, Any]
Value = str | int | float | tuple[int, int]


class Chip(NamedTuple):
    """A machine of a product."""

    axes: dict[str, Value]  #: by axis the value that it has
    machine: Machine
    buffers: dict[str, tuple[int, ...]]  #: the candidates that can be built with it, bytes

    @property
    def name(self) -> str:
        """The values of all axes in words."""
        return ", ".join(f"{axis} {text_of(value)}" for axis, value in self.axes.items()) or "as given"

    @property
    def texts(self) -> dict[str, Any]:
        """By axis its value: a number, or text as it is written on the command line."""
        return {name: each if isinstance(each, (int, float)) else text_of(each) for name, each in self.axes.items()}


@dataclass(frozen=True)
class Axes:
    """A product of axes.

    Parameters
    ----------
    values
        By axis the values, each once: pe and lanes as pairs, dram and sram as names, all others as numbers.

    Raises
    ------
    ValueError
        One line that names the axis, the rule and the value.

    Examples
    --------
    >>> axes = Axes({"pe": [(4, 4), (8, 8)], "cores": [1, 2]})
    >>> axes.size, parsed_axis("dram=lpddr5,hbm2e")
    (4, ('dram', ('lpddr5', 'hbm2e')))
    """

    values: Mapping[str, Sequence[Value]]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("axes must have an axis at least, such as pe=4x4,8x8")
        checked: dict[str, tuple[Value, ...]] = {}
        for name, values in self.values.items():
            if name not in NAMES:
                raise ValueError(f"an axis is one of {', '.join(NAMES)}; got {shown(name)}")
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise ValueError(f"axis {name} must have a list of values, got {shown(values)}")
            checked[name] = tuple(map(_checked(name), values))
            twice = next((each for each in checked[name] if checked[name].count(each) > 1), None)
            if twice is not None:
                raise ValueError(f"axis {name} has {text_of(twice)} twice; give each value once")
        object.__setattr__(self, "values", checked)
        if self.size > MOST:
            raise ValueError(f"axes must have at most {MOST:,} machines, got {self.size:,}")

    @property
    def size(self) -> int:
        """How many machines the product has."""
        found = 1
        for values in self.values.values():
            found *= len(values)
        return found

    def chips(self, machine: Machine, space: Space) -> tuple[list[Chip], Counter[str]]:
        """Return the machines that can be built, and how many of the others break each rule.

        machine: what no axis names. Raises ValueError where none can be built.
        """
        array = next((name for name in ("pe", "lanes", "light") if name in self.values), None)
        if array is not None and not machine.mapper.is_flat:
            raise ValueError(
                f"axis {array} needs the mapper 'enumerate'; {machine.mapper.name!r} knows the paper's PE array only"
            )
        found, left_out = list[Chip](), Counter[str]()
        for values in product(*self.values.values()):
            axes = dict(zip(self.values, values))
            try:
                each = machine_with(machine, axes)
                found.append(Chip(axes, each, buildable(space.buffers, each.technology)))
            except ValueError as error:
                left_out[str(error)] += 1
        if not found:
            raise ValueError(f"no machine of the axes can be built: {left_out.most_common(1)[0][0]}")
        return found, left_out


def parsed_axis(text: str) -> tuple[str, tuple[Value, ...]]:
    """Return (name, values) of 'pe=4x4,8x8'; raises ValueError, one line."""
    name, equals, values = text.partition("=")
    if not equals or name not in NAMES:
        raise ValueError(f"an axis is NAME=A,B,... with a name of {', '.join(NAMES)}; got {shown(text)}")
    return name, Axes({name: [word.strip() for word in values.split(",")]}).values[name]  # type: ignore[return-value]


def text_of(value: Value) -> str:
    """Return a value as it is written on the command line."""
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


def with_prices(chips: Sequence[Chip], left_out: Counter[str]) -> list[Chip]:
    """Return the machines whose price is known; the others are counted. Raises ValueError where there is none."""
    found = []
    for chip in chips:
        first = chip.machine.with_buffers(**{name: sizes[0] for name, sizes in chip.buffers.items()})
        if first.chip_money.total is not None:
            found.append(chip)
            continue
        rule = f"the price of its DRAM, {chip.machine.technology.dram_kind or 'of no kind'}, is not known"
        left_out[rule] += 1
    if not found:
        raise ValueError(f"no machine of the axes has a price: {next(iter(left_out))}")
    return found


def machine_with(machine: Machine, axes: Mapping[str, Value]) -> Machine:
    """Return a machine with these values; raises ValueError, one line, where it cannot be built.

    Where lanes are an axis, half of the output channels are busy in depth-wise work, as in the paper's array. A kind of
    DRAM has as many channels as `channels` says, which all cores share, else one for each core; its bytes in a cycle
    follow the clock.
    """
    technology, fields = machine.technology, dict[str, Any]()
    for name in ("pe", "lanes"):
        if name in axes:
            fields |= dict(zip(PAIRS[name], axes[name]))  # type: ignore[arg-type]
    if "lanes" in axes:
        fields["pe_light_channels"] = light_channels(fields["pe_outputs"])
    fields |= {NAMES[name].field: value for name, value in axes.items() if NAMES[name].field in TECHNOLOGY}
    cores, batch = (int(axes.get(name, getattr(machine, name))) for name in ("cores", "batch"))
    technology = replace(technology, **fields)
    technology = replace(technology, **_sram(technology, axes))
    technology = replace(technology, **_dram(technology, axes, cores))
    return replace(machine, cores=cores, batch=batch, technology=technology)


def _sram(technology: Technology, axes: Mapping[str, Value]) -> Fields:
    """Return the tables of both buffers, or no field where no axis names any."""
    found: Fields = {}
    if "sram" in axes:
        found = dict.fromkeys(("activation_sram", "weight_sram"), Sram(find_table(_table(str(axes["sram"])))))
    if "banks" in axes:
        for name in ("activation_sram", "weight_sram"):
            sram = found.get(name, getattr(technology, name))
            if sram is None:
                raise ValueError("axis banks needs a table of SRAM: an axis sram, or sram: of the hardware file")
            found[name] = replace(sram, banks=axes["banks"])
    return found


def _table(name: str) -> str:
    """Return a table by its last word, such as hp, or by its name or file."""
    return next((each for each in shipped() if each.rpartition("_")[2] == name), name)


def _dram(technology: Technology, axes: Mapping[str, Value], cores: int) -> Fields:
    """Return the channels of a kind of DRAM; no field where no axis changes what they give."""
    kind = axes.get("dram", technology.dram_kind)
    if not {"dram", "channels", "clock", "cores"} & axes.keys():
        return {}
    if kind is None:
        if "channels" in axes:
            raise ValueError("axis channels needs a kind of DRAM: an axis dram, or dram: of the hardware file")
        return {}
    found = dram_kind(kind)
    said = axes.get("channels", None if "dram" in axes else technology.dram_channels)
    rate = technology.channel_gb_per_s if "dram" not in axes and technology.dram_channels else None
    energy = {"dram_kind": kind, "dram_pj_per_byte": found.pj_per_byte} if "dram" in axes else {}
    return energy | {"dram_channels": said or cores, "channel_gb_per_s": rate or found.gigabytes_per_second}


class _Axis(NamedTuple):
    """What an axis names; field: of the technology or of the machine, "" where it names several."""

    read: Callable[[str], Value]
    field: str = ""


def _pair(text: str) -> tuple[int, int]:
    match = re.fullmatch("([0-9]{1,6})x([0-9]{1,6})", text)
    if match is None:
        raise ValueError("a pair such as 4x4")
    return int(match[1]), int(match[2])


def _whole(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or not int(text):
        raise ValueError("a whole number from 1")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def _word(text: str) -> str:
    if not text:
        raise ValueError("a name")
    return text


PAIRS = {"pe": ("pe_rows", "pe_columns"), "lanes": ("pe_inputs", "pe_outputs")}
TECHNOLOGY = (*COUNTS, *NUMBERS)
NAMES = {
    "pe": _Axis(_pair), "lanes": _Axis(_pair), "cores": _Axis(_whole), "batch": _Axis(_whole), "dram": _Axis(_word),
    "channels": _Axis(_whole), "sram": _Axis(_word), "banks": _Axis(_whole), "clock": _Axis(_number, "clock_ghz"),
    "light": _Axis(_whole, "pe_light_channels"),
    **{name: _Axis(_whole, name) for name in COUNTS}, **{name: _Axis(_number, name) for name in NUMBERS},
}  # fmt: skip  #: by name, as in hardware files


def _checked(name: str) -> Callable[[object], Value]:
    """Return what makes a value of an axis of what was given: text, or the value itself."""

    def checked(given: object) -> Value:
        text = "x".join(map(str, given)) if isinstance(given, (tuple, list)) else str(given)
        try:
            found = NAMES[name].read(text)
            if name == "dram":
                dram_kind(found)
            elif name == "sram":
                find_table(_table(text))
        except ValueError as error:
            rule = str(error)
            raise ValueError(
                f"axis {name}: {rule}"
                if name in ("dram", "sram")
                else f"axis {name} must be {rule}, got {shown(given)}"
            ) from None
        return found

    return checked
