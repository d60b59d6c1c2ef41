"""What --prove of cocco evaluate asks: a second search, from scratch, for a plan that costs less."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocco.bounds.kinds import kinds_of_plans
from cocco.cli.options import values
from cocco.cli.options.options import ANSWER
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.progress import watched
from cocco.output.text.searches.opinion import opinion_text
from cocco.second_opinion import MOST_STEPS, Opinion, Prover, second_opinion
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.hardware_files import BUFFERS
from simulator.partition.partition import Partition
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.output.folders.read.reading import Reader


def add_prove(parser: Parser) -> None:
    """Add what asks for a second opinion."""
    group = parser.add_argument_group(ANSWER)
    group.add_argument(
        "--prove", action="store_true",
        help="look for a plan that costs less, once more and from scratch: Dijkstra's search over all plans, which "
        "shares nothing with the searches and bounds of this program, on this memory and, of a run that chose its "
        "memory, on all others; with kept tensors where the run, the plan or --keep has them",
    )  # fmt: skip
    group.add_argument(
        "--steps", type=values.count, metavar="N",
        help=f"the most steps that --prove takes before it gives up; default {MOST_STEPS}, which takes some minutes",
    )  # fmt: skip


class RunSpace(NamedTuple):
    """What a run had to choose from in addition to its plan; empty for a plan file."""

    keep: str | None = None
    others: tuple[Accelerator, ...] = ()  #: memories, small ones first
    alpha: float = 0.0  #: times the weight of the network; of the buffers that the cost counts, for those of one core
    note: str = ""  #: why there are no others, where a run had some


class SecondOpinion(NamedTuple):
    """A second opinion, and what it is about."""

    opinion: Opinion
    choice: RunSpace
    is_placed: bool  #: whether the cheaper plan has addresses, or needs none
    space: tuple[str, ...]  #: the kinds of plans that were looked at

    @property
    def is_confirmed(self) -> bool:
        """Whether no plan costs less on the memory."""
        return self.opinion.status == "confirmed"

    def text(self) -> str:
        """Return what is printed for people."""
        others = len(self.choice.others)
        space = ", ".join(self.space)
        return opinion_text(self.opinion, space, others, self.choice.note, self.is_placed)

    def to_json(self) -> dict[str, Any]:
        """Return what --json prints."""
        found = self.opinion
        content: dict[str, Any] = {
            "status": found.status, "space": list(self.space), "metric": found.metric, "states": found.states,
            "steps": found.steps, "claimed_cost": found.claimed, "least_cost": found.least,
        }  # fmt: skip
        if self.choice.others:
            content |= {"other_memories": len(self.choice.others), "confirmed_memories": max(0, found.confirmed - 1)}
        if found.better is not None:
            plan, machine, cost = found.better
            names = {"network": plan.network_name, "metric": plan.metric, "subgraphs": [*map(list, plan.names)]}
            keep = [each.to_json() for each in plan.keep]
            made = names | {"keep": keep, "accelerator": machine.to_json()}
            content["better"] = {"cost": cost, "has_addresses": self.is_placed, "plan": made}
        return content


def second_opinion_of(options: Namespace, plan: str, network: Network, evaluation: Evaluation) -> SecondOpinion | None:
    """Return what --prove found out about a plan that was evaluated; None where it is not asked, or does not fit."""
    if options.steps and not options.prove:
        raise UsageError(f"--steps {options.steps} is the budget of --prove; give that as well")
    if not options.prove or not evaluation.fits:
        return None
    partition, accelerator, rule = evaluation.plan, evaluation.accelerator, evaluation.tile_rule
    choice = _choice(Path(plan), evaluation)
    keep = options.keep or choice.keep or "none"
    most = options.steps or MOST_STEPS
    with watched(most, "steps") as progress:
        keeps = keep == "auto" or bool(partition.keep)
        prover = Prover(network, accelerator, partition.metric, rule, keeps, most, progress)
        opinion = second_opinion(prover, partition, accelerator, choice.others, choice.alpha)
    is_placed = opinion.better is None or _is_placed(network, evaluation, *opinion.better[:2])
    if not is_placed:
        opinion = replace(opinion, status="gave_up")
    return SecondOpinion(opinion, choice, is_placed, kinds_of_plans(accelerator, "auto" if keeps else "none"))


def _is_placed(network: Network, evaluation: Evaluation, plan: Partition, machine: Accelerator) -> bool:
    """Return whether a plan with kept tensors has addresses, as answers with kept tensors have."""
    from cocco.allocation.address_map import address_map

    found = address_map(network, plan, machine, evaluation.tile_rule) if plan.keep else None
    return found is None or found.fits


def _choice(path: Path, evaluation: Evaluation) -> RunSpace:
    """Return what the run in a folder had to choose from: other memories only where all of the question is known."""
    if not path.is_dir():
        return RunSpace()
    from cocco.output.folders.read.reading import Reader
    from cocco.output.folders.verified.made_for import RunFolder
    from cocco.output.folders.written.about import RESULT

    run = RunFolder(path)
    settings = Reader(path / RESULT, run.about.settings, "settings: ")
    keep = settings.one_of("keep", ("auto", "none")) if "keep" in settings.content else None
    alpha, weights = run.result.optional("alpha"), settings.content.get("weights")
    if alpha is None or len(run.networks) > 1 or run.accelerator != evaluation.accelerator:
        return RunSpace(keep, note="The run had more to decide: only this plan on this memory was looked at.")
    if alpha <= 0 or not isinstance(weights, list) or not all(isinstance(each, (int, float)) for each in weights):
        return RunSpace(
            keep, note="Only this plan on this memory was looked at: bytes alone say which memory costs less."
        )
    counted = run.accelerator.cores if run.result.content.get("count") == "all" else 1
    return RunSpace(keep, _others(settings, run.result, run.accelerator), alpha * weights[0] / counted)


def _others(settings: Reader, result: Reader, chosen: Accelerator) -> tuple[Accelerator, ...]:
    """Return the other memories that a run had to choose from."""
    from cocco.output.folders.read.run import ranges_said
    from cocco.problem.buildable import buildable
    from cocco.problem.space import Range

    space = ranges_said(settings, result)
    try:
        sizes = {name: Range(**space.get(name, dict)).candidates for name in space.content if name in BUFFERS}
        names, candidates = zip(*buildable(sizes, chosen.technology).items())
    except (TypeError, ValueError):
        raise settings.broken("space", "a run has low, high and step of each buffer") from None
    machines = (replace(chosen, **dict(zip(names, each))) for each in product(*candidates))
    return tuple(sorted((each for each in machines if each != chosen), key=lambda each: each.buffer_bytes))
