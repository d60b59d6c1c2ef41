"""The top of a page: which memory, how sure that is, why, and what else; and the sections beneath each drawing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.parts import Placing
from cocco.output.folders.read.run import Run, RunNetwork
from cocco.output.report.plans import ShownMemory, ShownPlan, is_link
from cocco.output.report.table import kept_table, plan_table
from cocco.output.report.words import (
    STATUS,
    among,
    busy_sentence,
    cores_sentence,
    costs,
    kept_sentence,
    placing_sentence,
    serving_sentence,
)
from cocco.output.text.layout.numbers import capacity, counted, percent
from cocco.output.text.searches.ranges import changes_text, ends, within_sentence
from cocco.problem.criteria import CRITERIA
from simulator.units import SIZE

MOST = 3  #: subgraphs that are named as those that make the memory so large; our choice


def answer_of(run: Run, sentence: str, choice: ShownMemory) -> str:
    """Return the answer of a run as HTML: the recommendation, whether it is proved, why, and what else there is."""
    rows = [("how sure", _status(run))]
    rows += [(name, escape(said)) for name, said in among(run)]
    rows += _addresses(run.placing)
    if run.ranges is not None:
        rows.append(("what else", escape(within_sentence(run.ranges))))
        if said := _what_decides(run):
            rows.append(("what decides", escape(said)))
    rows += [("why so large", escape(said)) for plan in choice.plans if (said := _largest(plan))]
    return f'<div id="answer"><p id="recommendation">{escape(sentence)}</p>{pairs(rows)}</div>'


def _addresses(placing: Placing | None) -> list[tuple[str, str]]:
    return [] if placing is None else [("addresses", escape(placing_sentence(placing)))]


def _addresses_of_front(points: Sequence[Placing | None]) -> list[tuple[str, str]]:
    """Return how many points with kept tensors had to be changed for their addresses; the table says which."""
    sought = [each for each in points if each is not None]
    if not sought:
        return []
    changed = sum(each.is_placed and bool(each.changes) for each in sought)
    without = sum(not each.is_placed for each in sought)
    if not changed and not without:
        return [("addresses", "every region of every point has one, in the plans as the search found them")]
    said = f"{changed} of {counted(len(sought), 'point')} with kept tensors took changes of the plan, priced again"
    said += f"; for {without} none were found" if without else ""
    return [("addresses", escape(f"{said}: see the last column of the points"))]


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and what is said of each, as HTML."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows) + "</dl>"


def _status(run: Run) -> str:
    said = STATUS.get(run.status, run.status)
    if run.status == "optimal":
        return f'<strong class="sure">{escape(said)}</strong>'
    gap = "no bound is known" if run.lower_bound is None else f"no answer costs less than {run.lower_bound:,.0f}"
    if run.gap is not None:
        gap += f", so at most {100 * run.gap:.2g} % of its cost can be saved"
    return f'<strong class="unsure">{escape(said)}</strong>: {escape(gap)}'


def _what_decides(run: Run) -> str:
    """Return what changes from the smallest to the largest size within the widest margin, the most first."""
    assert run.ranges is not None
    if run.metric != "energy" or not run.alpha or run.accelerator is None:
        return f"the bytes of the buffer against {CRITERIA[run.metric].title}"
    shown = ends(run.ranges)
    if len(shown) < 2 or any(each.terms is None for each in (shown[0], shown[-1])):
        return ""
    counted_cores = run.accelerator.cores if run.count == "all" else 1
    said = changes_text(run.ranges, counted_cores / run.alpha)
    low, high = (" + ".join(capacity(size) for _, size in each.buffers) for each in (shown[0], shown[-1]))
    return f"from {low} to {high}: {said}; a byte of buffer counts as much as {counted_cores / run.alpha:,.4g} pJ"


def _largest(plan: ShownPlan) -> str:
    """Return the subgraphs that need most, or hold most where their needs are not known."""
    held = [sum(each) for each in plan.occupied]
    order = sorted(range(len(held)), key=lambda i: -held[i])[:MOST]
    named = []
    for i in order:
        layers = plan.network.subgraphs[i].layers
        name = layers[0] if len(layers) == 1 else f"{layers[0]} .. {layers[-1]}"
        kept = plan.occupied[i].kept_bytes
        of_it = f", {SIZE.text(kept)} of it kept for later subgraphs" if kept else ""
        named.append(f"subgraph {i} ({name}) holds {SIZE.text(held[i])}{of_it}")
    whose = f"{plan.network.name}: " if plan.network.name else ""
    return whose + "; ".join(named)


def alone_sentence(network: RunNetwork) -> str:
    """Return what runs layer by layer, and what share of energy and traffic that takes."""
    alone = [cost for cost in network.subgraphs if len(cost.layers) == 1]
    if not alone:
        return "No layer runs alone."
    energy = percent(sum(cost.energy_pj for cost in alone), network.energy_pj)
    ema = percent(sum(cost.ema_bytes for cost in alone), network.ema_bytes)
    said = f"{len(alone)} of {counted(len(network.subgraphs), 'subgraph')} are one layer that runs alone: "
    said += f"{energy} of the energy, {ema} of the off-chip traffic"
    return f"{said}."


def choice_section(at: int, choice: ShownMemory, is_hidden: bool) -> str:
    """Return the plans of one memory; the script draws into the empty elements."""
    hidden = " hidden" if is_hidden else ""
    inner = "\n".join(_plan(place, plan) for place, plan in enumerate(choice.plans))
    return f'<div class="choice" id="choice-{at}" data-choice="{at}"{hidden}>{inner}</div>'


def _plan(place: int, plan: ShownPlan) -> str:
    network = plan.network
    link = f' (<a href="{escape(plan.link)}">{escape(plan.link)}</a>)' if is_link(plan.link) else ""
    words = [f"{costs(plan.machine, network)}{{}}. {alone_sentence(network)}"]
    kept_words = kept_sentence(network) if network.keep else ""
    more = serving_sentence(network), busy_sentence(network), cores_sentence(network), kept_words
    words += [said for said in more if said]
    first = "<p>" + escape(" ".join(words)).replace("{}", link, 1) + "</p>"
    kept = ""
    if network.keep:
        kept = f"<details><summary>The tensors that stay on chip</summary>{kept_table(network)}</details>"
    is_drawn = plan.partition is not None
    return "\n".join([
        f'<section class="plan" data-plan="{place}"><h2>{escape(network.name)}</h2>{first}',
        '<div class="steps" tabindex="0" role="group" aria-label="Subgraphs in the order they run: left and right'
        ' arrow keys go from one to the next, Escape lets go"></div>',
        f'<p class="note">{escape(plan.note)}</p><div class="detail" role="status"></div>',
        '<div class="network"></div>' if is_drawn else "",
        f'<details open><summary>The subgraphs</summary><div class="wide">{plan_table(plan)}</div></details>{kept}',
        "</section>",
    ])  # fmt: skip


def front_answer(run: FrontRun, sentence: str, status: str) -> str:
    """Return the answer of a front as HTML."""
    sure = "sure" if run.status in ("optimal", "infeasible") else "unsure"
    listed = pairs([
        ("how sure", f'<strong class="{sure}">{escape(status)}</strong>'),
        *((name, escape(said)) for name, said in among(run)),
        *(_addresses(run.placing[0]) if run.is_limited else _addresses_of_front(run.placing)),
    ])  # fmt: skip
    return f'<div id="answer"><p id="recommendation">{escape(sentence)}</p>{listed}</div>'
