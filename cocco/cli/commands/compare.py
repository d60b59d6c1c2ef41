"""cocco compare: partitions of a network side by side, or two runs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cocco.cli.options.hardware import TILE_RULE, accelerator_of, flag
from cocco.cli.options.networks import load
from cocco.cli.options.options import NETWORK_HELP, PARTITION, add_buffers, add_json, add_machine, add_unsupported
from cocco.cli.options.output import print_answer
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.plans import read_partition
from cocco.cli.running.runs import believe, check_no_network_option, hardware_notes, is_run
from cocco.output.text.plans.comparison import comparison_text, runs_text
from cocco.plans.compare import compare


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument("network", metavar="NETWORK|DIR", help=f"{NETWORK_HELP}; or the folder of a run, then another")
    add_unsupported(parser)
    parser.add_argument("partitions", metavar="PLAN|DIR", nargs="+", help=PARTITION)
    add_buffers(parser)
    add_machine(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Compare. Exit 1 where one of the partitions cannot run on this hardware, or one of the runs found no memory."""
    if is_run(options.network):
        return _compare_runs(options)
    accelerator = accelerator_of(options)
    if len(options.partitions) < 2:
        raise UsageError("compare needs two partitions or more; 'cocco evaluate' prices one")
    twice = [name for name in options.partitions if options.partitions.count(name) > 1]
    if twice:
        raise UsageError(f"the partition {twice[0]!r} is given twice; give each once")
    network = load(options.network, options)
    plans = {name: read_partition(name, network, accelerator, options.tile_rule) for name in options.partitions}
    found = compare(network, plans, accelerator, tile_rule=options.tile_rule)
    print_answer(options, found.to_json, lambda: comparison_text(found), hardware_notes(options, accelerator))
    return 0 if all(each.evaluation.fits for each in found.partitions) else 1


def _compare_runs(options: Namespace) -> int:
    """Compare two runs of explore, each on the hardware that it found."""
    from cocco.output.report.pair import read_pair

    others = options.partitions
    if len(others) != 1:
        raise UsageError(f"a run is compared with one other, got {len(others)}; or name the network before the folders")
    if options.given or options.hardware_file is not None:
        option = flag(options.given[0]) if options.given else "--hardware"
        raise UsageError(f"{option} not allowed with two runs: each has found its hardware")
    check_no_network_option(options, "two runs: each names its network")
    if options.tile_rule != TILE_RULE:
        raise UsageError(f"--tile-rule {options.tile_rule} not allowed with two runs: each was priced by its own")
    if Path(options.network) == Path(others[0]):
        raise UsageError(f"the run {others[0]!r} is given twice; give each once")
    pair = read_pair(Path(options.network), Path(others[0]))
    for folder in (options.network, others[0]):
        believe(Path(folder))
    print_answer(options, pair.to_json, lambda: runs_text(pair.names, pair.answers, pair.questions))
    return 0 if pair.first.networks and pair.second.networks else 1
