"""Clocks with their voltages, and what a voltage makes of the energy of logic and SRAM."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workloads.errors import shown

Clock = tuple[float, float]  #: GHz, V
NOMINAL_VOLTS = 0.8  #: at which the energies of the hardware hold; our choice: the supply of 12 and 16 nm
#: a V^2 + b V + c of an operation at 16 nm (Stillmaker and Baas 2017, Integration 58)
SQUARED, LINEAR, CONSTANT = 0.2958, -0.1241, 0.03024
VOLTS = (0.4, 1.2)  #: our choice: what is built


def energy_scale(volts: float) -> float:
    """Return the energy of an operation at this voltage over that at NOMINAL_VOLTS.

    Examples
    --------
    >>> energy_scale(0.8), round(energy_scale(0.9), 3), round(energy_scale(0.6), 3)
    (1.0, 1.315, 0.518)
    """
    found, nominal = (SQUARED * each * each + LINEAR * each + CONSTANT for each in (volts, NOMINAL_VOLTS))
    return found / nominal


def clocks_said(content: object) -> tuple[Clock, ...]:
    """Return the clocks of a hardware file, a mapping of clocks to voltages, or of plain data, a list of pairs.

    Raises ValueError, one line.

    Examples
    --------
    >>> clocks_said({"1.0GHz": "0.8V", 1.2: 0.9})
    ((1.0, 0.8), (1.2, 0.9))
    >>> clocks_said({"1.0GHz": "0.8W"})
    Traceback (most recent call last):
    ValueError: clock must be a mapping such as {1.0GHz: 0.8V}, with voltages from 0.4 to 1.2 V; got {'1.0GHz': '0.8W'}
    """
    pairs = list(content.items()) if isinstance(content, Mapping) else content
    found = [_clock(pair) for pair in pairs] if isinstance(pairs, list | tuple) else []
    if not found or None in found:
        rule = f"a mapping such as {{1.0GHz: 0.8V}}, with voltages from {VOLTS[0]} to {VOLTS[1]} V"
        raise ValueError(f"clock must be {rule}; got {shown(content)}")
    return tuple(each for each in found if each is not None)


def _clock(pair: object) -> Clock | None:
    """Return a clock with its voltage; None where it is none."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return None
    clock, volts = (_number(each, unit) for each, unit in zip(pair, ("GHz", "V")))
    return (clock, volts) if clock > 0 and VOLTS[0] <= volts <= VOLTS[1] else None


def _number(value: object, unit: str) -> float:
    """Return a number with its unit or without; 0 where it is none."""
    if isinstance(value, str) and re.fullmatch(rf"[0-9]{{1,9}}(\.[0-9]{{1,9}})? ?{unit}", value):
        return float(value.removesuffix(unit))
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
