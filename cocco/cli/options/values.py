"""From the words of the command line to numbers: sizes, counts, ranges. Errors name the rule and the value."""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError
from dataclasses import fields

from cocco.candidates.stream import MAX_SEED
from cocco.effort.settings import Settings
from cocco.problem.criteria import CRITERIA, Clocked
from simulator.units import POWER

HIGHEST_COUNT = 10**15  #: our choice: above any number of samples or regions that could be meant
OF_CHIPS = {"power": {"": 1.0, **POWER.sizes}, "price": {"": 1.0, "$": 1.0, "usd": 1.0}}  #: units of other limits
MAX_NUMBER = 1e15  #: of alpha and weights; our choice: the cost of any network stays finite


def address(text: str) -> str:
    """Return the address of a dask scheduler: tcp://HOST:PORT, or of another protocol of dask's."""
    if not re.fullmatch(r"[a-z]+://\S+", text):
        raise ArgumentTypeError(f"an address is tcp://HOST:PORT; got {text!r}")
    return text


class Bare(int):
    """Bytes that were given without a unit."""


def size(text: str, is_whole: bool = True) -> int:
    """Return bytes: '1344KB' is 1344 * 1024, '1.5MB' is 1572864, '65536' is itself.

    is_whole: whether it must be whole bytes; else it is rounded down, as '134.38MB', which is printed so, has to be.
    """
    from simulator.sizes import parse_size

    try:
        found = parse_size(text, is_whole)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return Bare(found) if text.strip().isdigit() else found


def budget(text: str) -> int | str:
    """Return a size, or the name of a budget of COSMA: minimum (MR), half (MH), peak (MP)."""
    names = {"MR": "minimum", "MH": "half", "MP": "peak"}
    if text in names or text in names.values():
        return names.get(text, text)
    try:
        return size(text)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"must be minimum, half, peak or a size; {error}") from None


def share(text: str) -> float:
    """Return a share from 0 to 1: '0.5%' and '0.005' are the same."""
    number, percent = (text[:-1], 100.0) if text.endswith("%") else (text, 1.0)
    try:
        found = float(number) / percent
    except ValueError:
        found = math.nan
    if not 0 <= found <= 1:
        raise ArgumentTypeError(f"must be a share from 0 to 1, such as 0.5% or 0.005; got {text!r}")
    return found


def capacity_range(text: str) -> tuple[int, int, int]:
    """Return (low, high, step) of 'LOW:HIGH:STEP', each a size."""
    parts = text.split(":")
    if len(parts) != 3:
        raise ArgumentTypeError(f"a range is LOW:HIGH:STEP, three sizes such as 128KB:3072KB:64KB; got {text!r}")
    low, high, step = map(size, parts)
    return low, high, step


def count(text: str) -> int:
    """Return a whole number from 1."""
    return _whole(text, 1, HIGHEST_COUNT)


def counts(text: str) -> int | tuple[int, ...]:
    """Return a whole number from 1, or several that commas separate."""
    found = tuple(count(word) for word in text.split(","))
    if len(set(found)) < len(found):
        raise ArgumentTypeError(f"each number once; got {text!r}")
    return found if len(found) > 1 else found[0]


def count_from_0(text: str) -> int:
    """Return a whole number from 0."""
    return _whole(text, 0, HIGHEST_COUNT)


def count_or_none(text: str) -> int | None:
    """Return a whole number from 1, or None for 'none'."""
    if text == "none":
        return None
    try:
        return count(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"must be 'none' or a whole number from 1 to {HIGHEST_COUNT}; got {text!r}") from None


def rate(text: str) -> float:
    """Return 10^9 bytes per second: of '100GB/s', or of a number alone."""
    try:
        found = float(re.sub(r"\s*(GB/s)?$", "", text))
    except ValueError:
        found = math.nan
    if not 0 < found <= MAX_NUMBER:
        raise ArgumentTypeError(f"must be a bandwidth above 0, such as 100GB/s; got {text!r}")
    return found


def seed(text: str) -> int:
    """Return a whole number from 0 to 2**64 - 1."""
    return _whole(text, 0, MAX_SEED)


def number(text: str) -> float:
    """Return a number of at most MAX_NUMBER; what may not be below 0, the search knows."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not abs(found) <= MAX_NUMBER:
        raise ArgumentTypeError(f"must be a finite number of at most {MAX_NUMBER:g}; got {text!r}")
    return found


def _whole(text: str, low: int, high: int) -> int:
    if not re.fullmatch("[0-9]{1,20}", text) or not low <= int(text) <= high:
        raise ArgumentTypeError(f"must be a whole number from {low} to {high}; got {text!r}")
    return int(text)


ARGUMENT_TYPES = ("float32", "float16", "bfloat16", "int64", "int32", "bool")


def pasts(text: str) -> int | tuple[int, ...]:
    """Return the tokens in a cache, or in those of several sequences: '512,4096'."""
    found = tuple(count_from_0(word) for word in text.split(","))
    return found[0] if len(found) == 1 else found


def extent(text: str) -> tuple[str, int]:
    """Return (name, extent) of 'words=512'."""
    name, equals, wanted = text.rpartition("=")
    if not equals or not name:
        raise ArgumentTypeError(f"an extent is NAME=N, such as words=512; got {text!r}")
    return name, _whole(wanted, 1, 2**20)


def argument(text: str) -> tuple[tuple[int, ...], str | None]:
    """Return the shape of '1,3,224,224', and the type of '1,128:int64', None where it has none."""
    shape, colon, kind = text.partition(":")
    if not re.fullmatch("[0-9]{1,7}(,[0-9]{1,7})*", shape) or (colon and kind not in ARGUMENT_TYPES):
        known = ", ".join(ARGUMENT_TYPES)
        raise ArgumentTypeError(f"an input is its extents, such as 1,3,224,224 or 1,128:int64 ({known}); got {text!r}")
    return tuple(map(int, shape.split(","))), kind or None


def bits(text: str) -> dict[str, int | str]:
    """Return the bits by kind of 'weights=4,cache=fp8'; what kinds and numbers there are, the networks know."""
    found: dict[str, int | str] = {}
    for part in text.split(","):
        name, equals, wanted = part.strip().partition("=")
        if not equals or not name or name in found:
            raise ArgumentTypeError(f"bits are KIND=N, each kind once, such as weights=4,cache=8; got {text!r}")
        found[name] = int(wanted) if re.fullmatch("[0-9]{1,9}", wanted) else wanted
    return found


def setting(text: str) -> tuple[str, int | float | bool]:
    """Return (name, value) of 'population=500'; the values that it may have, the settings know."""
    name, equals, wanted = text.partition("=")
    known = [each.name for each in fields(Settings) if each.name != "operators"]
    if not equals or name not in known:
        raise ArgumentTypeError(f"a setting is NAME=VALUE, with one of {', '.join(known)}; got {text!r}")
    if wanted in ("true", "false"):
        return name, wanted == "true"
    found = number(wanted)
    return name, int(found) if found.is_integer() and "." not in wanted else found


def names(text: str) -> tuple[str, ...]:
    """Return the words between commas; what they may be, the search knows."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def without_commas(text: str) -> str:
    """Return '4600000' of '4,600,000', as numbers are printed; a text with commas elsewhere as it is."""
    return text.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", text) else text


def limit(text: str) -> tuple[str, float]:
    """Return (criterion, most) of 'latency=2000000', 'latency=4.6ms', 'latency=30fps', 'capacity=1MB', 'energy=4.5mJ'.

    In the units of the model; a time, a rate, or GB/s, is Clocked.
    """
    given, equals, most = text.partition("=")
    name = given.rpartition(".")[2]
    if not equals or not name or not most:
        raise ArgumentTypeError(f"a limit is WHAT=MOST, such as latency=2000000 or capacity=1MB; got {text!r}")
    if name in ("capacity", "ema"):
        return given, float(size(most, is_whole=name == "capacity"))
    match = re.fullmatch("([+-]?[0-9.][0-9.,]*(?:[eE][+-]?[0-9]+)?) ?([A-Za-z\u00b5$][A-Za-z0-9/ ]*)?", most)
    units = CRITERIA[name].units if name in CRITERIA else OF_CHIPS.get(name, {"": 1.0})
    clocked = CRITERIA[name].clocked if name in CRITERIA else {}
    unit = (match[2] or "").replace("\u00b5", "u") if match else ""
    if not match or unit not in (*units, *clocked):
        known = ", ".join(unit for unit in (*units, *clocked) if unit and " " not in unit) or "none"
        raise ArgumentTypeError(f"the limit of {name} is a number, known units are {known}; got {text!r}")
    found = number(without_commas(match[1]))
    if not found > 0:
        raise ArgumentTypeError(f"the limit of {name} must be above 0; got {text!r}")
    if unit not in clocked:
        return given, found * units[unit]
    return given, Clocked.of(found, clocked[unit])
