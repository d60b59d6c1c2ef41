"""What is printed of tensors that stay on chip: which were chosen, what each saves, what others would have needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import counted, percent, table
from cocco.output.text.plans.evaluation import group_text
from cocco.problem.criteria import CRITERIA
from simulator.units import SIZE

if TYPE_CHECKING:
    from cocco.plans.keeping import KeptChoice
    from cocco.plans.kept_tensors import KeptReason, KeptReasons, Missed, StepRoom

TENSORS_SHOWN = 12  #: tensors and steps that the text names; our choice


def choice_text(found: KeptChoice) -> str:
    """Return what was chosen for a partition by hand, and what it saves."""
    metric = found.partition.metric
    known = "no other choice for these subgraphs in this order costs less" if found.exact else "the best of a beam"
    if not found.evaluation.fits:
        return "Kept on chip: as it was given; nothing was found with which these subgraphs run."
    if not found.partition.keep:
        return f"Kept on chip: nothing ({known})."
    saved = found.saved
    gain = "as it was given it does not run"
    if saved is not None:
        unit = CRITERIA[metric]
        given: float = getattr(found.given, unit.column)
        gain = f"{unit.quantity.text(saved)} less than as it was given ({percent(saved, given)})"
    head = f"Kept on chip for the least {metric}: {counted(len(found.partition.keep), 'interval')}, {gain}; {known}."
    return f"{head}\n\n{kept_table(found.reasons())}"


def kept_table(kept: Sequence[KeptReason]) -> str:
    """Return the intervals that save most, in the order in which they begin."""
    largest = sorted(range(len(kept)), key=lambda i: (-kept[i].saved_bytes, i))[:TENSORS_SHOWN]
    listed = [kept[i] for i in sorted(largest)]
    takes, moves = SIZE.texts([each.size_bytes for each in listed]), SIZE.texts([-each.saved_bytes for each in listed])
    rows = [(*_kept_words(each), *sizes) for each, *sizes in zip(listed, takes, moves)]
    heads = ("kept tensor", "from step", "until step", "saves", "takes", "off-chip")
    text = table(heads, rows, left=4)
    more = len(kept) - len(rows)
    return text + (f"\n  and {more} that save less; --json prints all of them" if more else "")


def _kept_words(each: KeptReason) -> tuple[str, ...]:
    interval = each.interval
    start = f"{interval.from_step} ({interval.from_layer})"
    until = f"{interval.until_step} ({interval.until_layer})"
    why = counted(each.reads, "reading")
    if interval.from_layer == interval.tensor:
        why += "; written for others" if each.is_written else " and the writing"
    return interval.tensor, start, until, why


def reasons_text(found: KeptReasons, is_listed: bool = False) -> Iterator[str]:
    """Yield a paragraph on what is kept, unless it is listed already, on the room of the steps, on what is not kept."""
    if found.kept and not is_listed:
        yield kept_table(found.kept)
    yield _rooms_text(found.rooms)
    if found.missed:
        yield _missed_text(found.missed, found.metric)


def _rooms_text(rooms: Sequence[StepRoom]) -> str:
    """Return the steps that have the least room left, in the order in which they run."""
    fullest = sorted(range(len(rooms)), key=lambda i: (rooms[i].free_bytes, i))[:TENSORS_SHOWN]
    listed = [rooms[i] for i in sorted(fullest)]
    sizes = [
        SIZE.texts([getattr(room, f"{name}_bytes") for room in listed])
        for name in ("capacity", "kept", "needed", "free")
    ]  # fmt: skip
    words = [(room.position, group_text(room.layers), _names(room.kept)) for room in listed]
    rows = [(*each, *row) for each, *row in zip(words, *sizes)]
    text = table(("step", "with", "keeps", "room", "kept", "needs", "free"), rows, left=3)
    more = len(rooms) - len(rows)
    return text + (f"\n  the {len(rows)} of {len(rooms)} steps with the least left; --json prints all" if more else "")


def _names(kept: Sequence[str]) -> str:
    return ", ".join(kept[:3]) + (f", ... ({len(kept)})" if len(kept) > 3 else "") if kept else "nothing"


def _missed_text(missed: Sequence[Missed], metric: str) -> str:
    words = [(each.tensor, f"{each.from_step} .. {each.until_step}", _why_not(each, metric)) for each in missed]
    takes, moves = SIZE.texts([each.size_bytes for each in missed]), SIZE.texts([-each.saved_bytes for each in missed])
    rows = [(*each, *sizes) for each, *sizes in zip(words, takes, moves)]
    return table(("not kept", "over steps", "why", "takes", "off-chip"), rows, left=3)


def _why_not(each: Missed, metric: str) -> str:
    if each.step is not None:
        if each.missing_bytes is None:
            return f"step {each.step}: {each.reason}"
        return f"step {each.step} lacks {each.missing_bytes:,} bytes"
    if each.change is None:
        return "it fits; other steps do not run"
    unit = CRITERIA[metric]
    change = unit.quantity.text(abs(each.change))
    if each.change < 0:
        return f"it fits, and saves {change}"
    return f"it fits, but the plan would cost {change} more"
