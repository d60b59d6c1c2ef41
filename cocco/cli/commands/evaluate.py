"""cocco evaluate: the price of a partition on given hardware, and what else is asked of it.

Each question adds to the answer and leaves the others alone: --verify executes the partition, --explain says where its
bytes are, --addresses where every region lies, --trace when what happens. --keep changes what is priced: the partition
with the tensors that are best kept on chip, or with none.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocco.cli.options.hardware import accelerator_of
from cocco.cli.options.options import (
    ANSWER,
    SEARCH,
    add_addresses,
    add_buffers,
    add_json,
    add_machine,
    add_mapper,
    add_network,
    add_output,
    keep_of,
)
from cocco.cli.options.output import file_path, print_answer
from cocco.cli.options.usage import Parser, UsageError, old_spelling
from cocco.cli.running.opinion import SecondOpinion, add_prove, second_opinion_of
from cocco.cli.running.plans import PLAN_SUFFIXES, add_plan, kept_by_choice, read_partition, without_kept
from cocco.cli.running.progress import watched
from cocco.cli.running.runs import believe, hardware_notes, network_of, plan_of
from cocco.output.folders.written.ready import ready_files
from cocco.output.text.plans.addresses import map_text, places_text
from cocco.output.text.plans.evaluation import evaluation_text
from cocco.output.text.plans.explanation import explanation_text
from cocco.output.text.plans.kept import choice_text
from cocco.output.text.plans.verification import AT_ADDRESSES, IN_REGIONS, verification_text
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation, evaluate
from simulator.partition.partition import Partition
from workloads.files import write_atomic
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.allocation.address_map import AddressMap
    from cocco.latency.places import Places
    from cocco.output.folders.verified.verify_run import CheckedRun
    from cocco.output.program.verify import ProgramRun
    from cocco.plans.explain import Explanation
    from cocco.plans.keeping import KeptChoice
    from simulator.execution import Verification


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser, or_run=True)
    add_plan(parser)
    add_buffers(parser)
    add_machine(parser)
    add_mapper(parser)
    parser.add_argument_group(SEARCH).add_argument(
        "--keep", choices=("auto", "none"),
        help="auto: choose which tensors stay on chip between the subgraphs, which stay as they are, in the order in "
        "which the file has them; none: keep none, whatever the file says; default: what the file says, "
        "with --plans paper none",
    )  # fmt: skip
    group = parser.add_argument_group(ANSWER)
    group.add_argument(
        "--verify", nargs="?", const="two", choices=("two", "full", "c"), metavar="full|c",
        help="run the partition and count every printed number again, and execute it tile by tile with integers: "
        "two channels of each tensor, or with 'full' all of them; 'c': its program is built and run instead",
    )  # fmt: skip
    add_prove(parser)
    group.add_argument(
        "--explain", action="store_true",
        help="for each subgraph that does not fit, and for the five most expensive: which tensors take the bytes, the "
        "best split, and the capacity that suffices; with kept tensors also what each saves, the room of each step, "
        "and what the next tensors lack",
    )  # fmt: skip
    group.add_argument(
        "--trace", metavar="FILE",
        help="write what runs, crosses to DRAM and is held over time, for ui.perfetto.dev or chrome://tracing (.json)",
    )  # fmt: skip
    add_addresses(parser, "; --verify then executes there")
    group.add_argument(
        "--regions", metavar="FILE", help="write the regions of --addresses as a table to this file (.csv)"
    )
    add_output(parser, "the plan (.json, .yaml)", " of --keep")
    add_json(parser)


class Answer(NamedTuple):
    """What was asked of a partition; None where it was not asked, or where the partition cannot run."""

    evaluation: Evaluation
    explanation: Explanation | None
    addresses: AddressMap | None
    verification: Verification | None
    choice: KeptChoice | None = None
    opinion: SecondOpinion | None = None
    places: Places | None = None  #: where all lies that the run holds, with --addresses
    checked: CheckedRun | None = None  #: of the folder of a run, with --verify
    program: ProgramRun | None = None  #: how the program in C ran, with --verify c

    @property
    def is_placed(self) -> bool:
        """Whether every region has its place."""
        return self.addresses is not None and self.addresses.fits

    def to_json(self) -> dict[str, Any]:
        """Return what --json prints."""
        content = self.evaluation.to_json() | (self.choice.to_json() if self.choice else {})
        if self.evaluation.fits:
            content |= {"verified": None} if self.verification is None else self.verification.to_json()
        if self.program is not None:
            content |= {"verified": self.program.verified, "program": self.program.to_json()}
        if self.checked is not None:
            content["folder"] = self.checked.to_json()
        if self.addresses is not None:
            content["addresses"] = self.addresses.to_json()
        if self.places is not None:
            content["places"] = self.places.to_json()
        if self.opinion is not None:
            content["second_opinion"] = self.opinion.to_json()
        return content | (self.explanation.to_json() if self.explanation else {})

    def paragraphs(self) -> Iterator[str]:
        """Yield what is printed for people."""
        if self.choice is not None:
            yield choice_text(self.choice)
        yield evaluation_text(self.evaluation)
        if self.explanation is not None:
            yield from explanation_text(self.explanation, is_listed=self.choice is not None)
        if self.addresses is not None:
            yield map_text(self.addresses)
            yield places_text(self.places)
        if self.verification is not None:
            yield verification_text(self.verification, AT_ADDRESSES if self.is_placed else IN_REGIONS)
        if self.program is not None:
            yield self.program.summary()
        if self.opinion is not None:
            yield self.opinion.text()
        if self.checked is not None:
            yield self.checked.summary()


def run(options: Namespace) -> int:
    """Ask, save, print. Exit 1 where the partition, or with --addresses its map, does not fit, or --verify fails."""
    if options.plans == "paper":
        options.keep = keep_of(options)
    trace = file_path(options.trace, "--trace", (".json",))
    output, table = _outputs(options)
    plan = plan_of(options)
    accelerator = accelerator_of(options)
    network = network_of(options)
    partition, choice = _partition(options, plan, network, accelerator)
    checked = believe(Path(plan), network, is_full=True) if options.verify and Path(plan).is_dir() else None
    with ready_files(output, table, trace):
        found = _ask(options, network, partition, accelerator)._replace(choice=choice, checked=checked)
        found = found._replace(opinion=second_opinion_of(options, plan, network, found.evaluation))
        if table and found.addresses:
            from cocco.output.folders.written.addresses import write_table

            write_table(table, found.addresses)
        if output:
            found.evaluation.plan.save(output, accelerator)
        if trace:
            _write_trace(trace, network, found.evaluation)
    notes = hardware_notes(options, accelerator)
    print_answer(options, found.to_json, lambda: "\n\n".join(found.paragraphs()), notes)
    fits = found.is_placed if options.addresses else found.evaluation.fits
    is_proved = found.opinion is None or found.opinion.is_confirmed
    runs = all(each is None or each.verified for each in (found.verification, found.program))
    return 0 if fits and is_proved and runs else 1


def _outputs(options: Namespace) -> tuple[Path | None, Path | None]:
    """Return where the plan goes, and where the regions go, which was -o once, too."""
    output = file_path(options.output, "-o", (".csv", *PLAN_SUFFIXES))
    table = file_path(options.regions, "--regions", (".csv",))
    is_table = output is not None and output.suffix.lower() == ".csv"
    if (table or is_table) and not options.addresses:
        raise UsageError(f"{'-o' if is_table else '--regions'} writes the regions of --addresses; give that as well")
    if output and not is_table and options.keep is None:
        raise UsageError(f"-o {output} writes the plan of --keep; give that as well")
    if not is_table:
        return output, table
    if table:
        raise UsageError(f"-o {output} not allowed with --regions: it writes the plan of --keep (.json, .yaml)")
    old_spelling("-o with a .csv", "--regions")
    return None, output


def _partition(
    options: Namespace, plan: str, network: Network, accelerator: Accelerator
) -> tuple[Partition, KeptChoice | None]:
    """Return what is priced: what the file says, with the tensors kept that --keep asks for."""
    written = read_partition(plan, network, accelerator, options.tile_rule)
    if options.keep == "auto":
        choice = kept_by_choice(plan, network, written, accelerator, options.tile_rule)
        return choice.partition, choice
    return (without_kept(network, written) if options.keep == "none" else written), None


def _ask(options: Namespace, network: Network, partition: Partition, accelerator: Accelerator) -> Answer:
    rule = options.tile_rule
    evaluation = evaluate(network, partition, accelerator, rule)
    explanation = addresses = places = verification = program = None
    if options.explain:
        from cocco.plans.explain import explain

        kept = True if options.keep == "auto" else None
        explanation = explain(network, partition, accelerator, tile_rule=rule, kept=kept)
    if options.addresses:
        from cocco.allocation.address_map import address_map
        from cocco.latency.places import places_of

        addresses = address_map(network, partition, accelerator, rule)
        places = places_of(evaluation.simulation) if evaluation.fits else None
    if options.verify == "c" and evaluation.fits:
        from cocco.output.program.verify import verify_program

        program = verify_program(network, evaluation)
    elif options.verify and evaluation.fits:
        verification = _verify(options, network, partition, accelerator, addresses, places)
    return Answer(evaluation, explanation, addresses, verification, places=places, program=program)


def _verify(
    options: Namespace, network: Network, partition: Partition, accelerator: Accelerator, found: AddressMap | None,
    run: Places | None,
) -> Verification:  # fmt: skip
    """Execute the partition, at its addresses where it has them; say on stderr what was scaled, what failed first."""
    from simulator.execution import verify

    places = {each.memory: each.addresses for each in found.memories} if found and found.fits else None
    with watched(len(partition), "subgraphs") as progress:
        verification = verify(
            network, partition, accelerator, options.tile_rule, places, options.verify == "full", progress,
            None if run is None else run.claims,
        )  # fmt: skip
    for note in verification.notes:
        print(f"cocco: {note}", file=sys.stderr)
    if not verification.verified:
        print(f"cocco: verification failed: {verification.message}", file=sys.stderr)
    return verification


def _write_trace(path: Path, network: Network, evaluation: Evaluation) -> None:
    if evaluation.fits:
        from simulator.views.chrome_trace import chrome_trace

        write_atomic(path, json.dumps(chrome_trace(network, evaluation), allow_nan=False))
        print(f"cocco: trace written to {path}", file=sys.stderr)
    else:
        print("cocco: no trace: the partition cannot run", file=sys.stderr)
