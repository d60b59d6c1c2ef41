"""What a second opinion says, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import counted, percent
from cocco.output.text.plans.hardware import buffers
from cocco.problem.criteria import CRITERIA

if TYPE_CHECKING:
    from cocco.second_opinion import Opinion


def opinion_text(found: Opinion, space: str, others: int, note: str, is_placed: bool) -> str:
    """Return what was confirmed and what was not; space: the plans that were looked at, in words.

    others: the other memories of a run; is_placed: whether a cheaper plan, where there is one, has addresses.
    """
    work = f"{counted(found.states, 'state')}, {found.steps:,} steps"
    if found.better is not None:
        return _cheaper(found, is_placed, work)
    if found.status == "gave_up":
        return (
            f"Second opinion: gave up after {work}. Nothing is confirmed; --steps N with a larger N goes further. "
            f"Looked at: {space}."
        )
    cost = _cost(found, found.claimed)
    text = f"Second opinion: confirmed. No plan on this memory costs less than {cost} ({work}). Looked at: {space}."
    if found.confirmed == others + 1 > 1:
        text += f" Nor does a plan on any of the other {others} memories of the run make a choice that costs less."
    elif others:
        text += (
            f" Of the other {others} memories of the run {found.confirmed - 1} were looked at to the end: that none "
            "of the rest costs less is not confirmed; --steps N with a larger N goes further."
        )
    return f"{text} {note}".rstrip()


def _cheaper(found: Opinion, is_placed: bool, work: str) -> str:
    assert found.better is not None
    plan, machine, cost = found.better
    less = (
        f"{percent(found.claimed - cost, found.claimed)} less than" if cost < found.claimed else "where this plan has"
    )
    text = f"costs {_cost(found, cost)}, {less} {_cost(found, found.claimed)}, on {buffers(machine)}"
    lines = [f"  {' '.join(names)}" for names in plan.names]
    kept = [f"  {each.tensor} from {each.from_layer} until {each.until_layer}" for each in plan.keep]
    head = f"Second opinion: refuted. A plan {text} ({work}), its subgraphs in the order they run:"
    if not is_placed:
        head = (
            f"Second opinion: gave up ({work}). A plan that fits by its bytes {text}, but no addresses were found for "
            "it, which answers with kept tensors have; of those that have some none was looked for:"
        )
    return "\n".join([head, *lines, *(["kept on chip:", *kept] if kept else [])])


def _cost(found: Opinion, value: float) -> str:
    return CRITERIA[found.metric].quantity.text(value)
