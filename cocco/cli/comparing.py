"""cocco compare and cocco capacity: partitions side by side, and the least memory on which one runs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from cocco.cli.hardware import accelerator_of, machine_of
from cocco.cli.networks import load
from cocco.cli.output import print_json
from cocco.cli.plans import read_partition
from cocco.cli.usage import UsageError
from cocco.output.text.comparison import capacity_text, comparison_text
from cocco.plans.compare import compare
from simulator import least_capacity


def compare_partitions(options: Namespace, _: Sequence[str]) -> int:
    """cocco compare: exit 1 where one of the partitions cannot run on this hardware."""
    accelerator = accelerator_of(options)
    if len(options.partitions) < 2:
        raise UsageError("compare needs two partitions or more; 'cocco evaluate' prices one")
    twice = [name for name in options.partitions if options.partitions.count(name) > 1]
    if twice:
        raise UsageError(f"the partition {twice[0]!r} is given twice; give each once")
    network = load(options.network, options)
    plans = {
        name: read_partition(name, network, accelerator, options.tile_rule) for name in options.partitions
    }  # fmt: skip
    found = compare(network, plans, accelerator, tile_rule=options.tile_rule)
    if options.json:
        print_json(found.to_json())
    else:
        print(comparison_text(found))
    return 0 if all(each.evaluation.fits for each in found.partitions) else 1


def find_capacity(options: Namespace, _: Sequence[str]) -> int:
    """cocco capacity: exit 1 where a subgraph breaks a rule that no memory mends."""
    network = load(options.network, options)
    plan = read_partition(options.partition, network, None, options.tile_rule)
    runs, held = (
        least_capacity(network, plan, **machine_of(options), tile_rule=options.tile_rule, streaming=streaming)
        for streaming in (True, False)
    )
    if options.json:
        if runs.fits:
            names = [list(group) for group in plan.names]
            needs = [{"layers": group, **need._asdict()} for group, need in zip(names, runs.needs)]
            shown = {"runs": runs.to_json(), "held": held.to_json()}
            for each in shown.values():
                del each["needs"], each["infeasible"], each["network"], each["streaming"]
            print_json({"network": network.name, "subgraphs": needs, **shown})
        else:
            print_json({"status": "infeasible", "infeasible": [vars(each) for each in runs.infeasible]})
    else:
        print(capacity_text(plan, runs, held))
    return 0 if runs.fits else 1
