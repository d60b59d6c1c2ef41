"""cocco capacity: the least memory on which a partition runs."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cocco.cli.options.hardware import machine_of
from cocco.cli.options.options import add_json, add_machine, add_mapper, add_network
from cocco.cli.options.output import print_answer
from cocco.cli.options.usage import Parser
from cocco.cli.running.plans import add_plan, read_partition
from cocco.cli.running.runs import machine_notes, network_of, plan_of
from cocco.output.text.plans.comparison import capacity_text
from simulator.partition.partition import Partition
from simulator.views.least_capacity import LeastCapacity, least_capacity


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser, or_run=True)
    add_plan(parser)
    add_machine(parser)
    add_mapper(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Find it, with and without streaming. Exit 1 where a subgraph breaks a rule that holds in every memory."""
    word = plan_of(options)
    network = network_of(options)
    plan = read_partition(word, network, None, options.tile_rule)
    runs, held = (
        least_capacity(network, plan, **machine_of(options), tile_rule=options.tile_rule, streaming=streaming)
        for streaming in (True, False)
    )
    notes = machine_notes(options)
    print_answer(options, lambda: _to_json(plan, runs, held), lambda: capacity_text(plan, runs, held), notes)
    return 0 if runs.fits else 1


def _to_json(plan: Partition, runs: LeastCapacity, held: LeastCapacity) -> dict[str, Any]:
    if not runs.fits:
        return {"status": "infeasible", "infeasible": [vars(each) for each in runs.infeasible]}
    needs = [{"layers": list(group), **need._asdict()} for group, need in zip(plan.names, runs.needs)]
    shown = {"runs": runs.to_json(), "held": held.to_json()}
    for each in shown.values():
        del each["needs"], each["infeasible"], each["network"], each["streaming"]
    return {"network": plan.network_name, "subgraphs": needs, **shown}
