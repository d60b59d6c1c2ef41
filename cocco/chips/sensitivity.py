"""How far a number of the hardware may be off before another chip would be chosen (docs/chips.md).

Each number is halved and doubled, and the same question asked again: bounds of classes that it does not touch are those
of the first search. Regret is what the recommended chip, with its plans, then costs more than the one to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cocco.chips.axes import Chip
from cocco.chips.classes import Classes
from cocco.chips.search import Search
from cocco.effort.stages import tell
from simulator.accelerator import Machine
from simulator.chip.money import dram_usd
from simulator.technology import Technology

FACTORS = (0.5, 2.0)
FIRM = 0.03  #: regret up to which a chip is called firm; our choice


class Shift(NamedTuple):
    """What would be chosen if a number were different."""

    number: str
    factor: float
    chip: str  #: the one to choose then
    memory_bytes: int | None
    regret: float | None  #: share that the recommended one costs more then; None where it breaks a limit


def shifts(search: Search) -> tuple[Shift, ...]:
    """Return what each number, halved and doubled, would change; nothing where no chip was found."""
    best, found = search.best, list[Shift]()
    if best is None or best.answer is None:
        return ()
    names = [name for name in CHANGED if name != DRAM_PRICE or search.question.asks_price]
    changes = [(name, factor) for name in names for factor in FACTORS]
    for done, (name, factor) in enumerate(changes):
        tell("sensitivity", done, len(changes), "numbers")
        chips = [chip._replace(machine=_changed(chip.machine, name, factor)) for chip in search.chips]
        if all(new.machine == old.machine for new, old in zip(chips, search.chips)):
            continue
        again = replace(
            search, chips=chips, classes=_classes(search, chips), pairs=[], best=None, answers=0, unproven=0
        )
        again.run()
        if again.is_stopped:
            raise KeyboardInterrupt
        if again.best is None:
            found.append(Shift(name, factor, "none within the limits", None, None))
            continue
        ours = chips[best.chip].machine.with_buffers(**dict(zip(chips[best.chip].buffers, best.sizes)))
        own = again.answered.priced(ours, best.answer.plans)
        regret = None if own is None else max(0.0, own.cost / again.least - 1)
        found.append(Shift(name, factor, chips[again.best.chip].name, again.best.accelerator.buffer_bytes, regret))
    return tuple(found)


def is_firm(found: Sequence[Shift]) -> bool:
    """Return whether the recommended chip stays within a few per cent of the best, whatever is off."""
    return all(each.regret is not None and each.regret <= FIRM for each in found)


def _classes(search: Search, chips: Sequence[Chip]) -> Classes:
    """Return the classes of these chips: those of the search where their bytes and prices are the same."""
    known = {search.classes.of(chip.machine) for chip in search.chips}
    is_same = all(search.classes.of(chip.machine) in known for chip in chips)
    return search.classes if is_same else Classes(search.asked, chips)


def _changed(machine: Machine, name: str, factor: float) -> Machine:
    return replace(machine, technology=CHANGED[name](machine.technology, factor))


def _of_logic(*names: str) -> Any:
    def changed(technology: Technology, factor: float) -> Technology:
        logic = technology.logic
        if logic is None:
            return technology
        return replace(technology, logic=replace(logic, **{name: factor * getattr(logic, name) for name in names}))

    return changed


def _interface(technology: Technology, factor: float) -> Technology:
    logic = technology.logic
    if logic is None:
        return technology
    return replace(technology, logic=replace(logic, phy_mm2=factor * (logic.phy_of(technology.dram_kind) or 0.0)))


def _dram(technology: Technology, factor: float) -> Technology:
    return replace(technology, dram_pj_per_byte=factor * technology.dram_pj_per_byte)


def _price(technology: Technology, factor: float) -> Technology:
    logic = technology.of_logic
    each = dram_usd(technology.dram_kind, logic.dram_usd_per_gb_per_s)
    assert each is not None, "machines without a price are left out"
    return replace(technology, logic=replace(logic, dram_usd_per_gb_per_s=factor * each))


DRAM_PRICE = "price of DRAM"
CHANGED = {
    "mm2 of a MAC": _of_logic("mac_mm2", "mac_bits_mm2"), "leakage of a MAC": _of_logic("leakage_uw_per_mac"),
    "energy of an idle MAC": _of_logic("idle_pj_per_mac"), "mm2 of a DRAM interface": _interface,
    "energy of a DRAM byte": _dram, DRAM_PRICE: _price,
}  # fmt: skip
