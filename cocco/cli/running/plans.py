"""Partitions as the command line names them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cocco.cli.options.of_methods import is_plain
from cocco.cli.options.options import PARTITION, SEARCH
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.runs import believe
from cocco.plans.made import is_made, made_plan
from simulator.accelerator import Accelerator
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.bank.bank import Bank
    from cocco.plans.keeping import KeptChoice

PLAN_SUFFIXES = (".json", ".yaml", ".yml")  #: of partition files


def add_plan(parser: Parser) -> None:
    """Add the one partition that a command is about, in either of two ways."""
    parser.add_argument("plan", metavar="PLAN", nargs="?", help=PARTITION)
    parser.add_argument("--partition", metavar="PLAN", help="the same as PLAN")


def read_partition(
    text: str, network: Network, accelerator: Accelerator | None = None, tile_rule: TileRule = "exact"
) -> Partition:
    """Return the partition of a file or run, or what code makes; what a file leaves to a search fits the hardware."""
    if is_made(text):
        return made_plan(text, network, accelerator)
    from cocco.plans.files import load_partition

    if Path(text).is_dir():
        believe(Path(text), network)
    return load_partition(file_of(text, network), network, accelerator, tile_rule=tile_rule)


def file_of(text: str, network: Network) -> Path:
    """Return the partition file that a word names: that of the network in the folder of a run, or itself."""
    path = Path(text)
    if not path.is_dir():
        return path
    from cocco.output.folders.verified.made_for import RunFolder

    return RunFolder(path).plan(network.name)


def add_start(parser: Parser) -> None:
    """Add the plans that a search starts from."""
    parser.add_argument_group(SEARCH).add_argument(
        "--from", nargs="+", metavar="PLAN", default=None,
        help="start from this plan (as in 'cocco evaluate NETWORK PLAN'; for several networks one each, in their "
        "order, or the folder of one run): the answer costs no more than it, with the tensors that it keeps on chip "
        "if --keep allows",
    )  # fmt: skip


def add_bank(parser: Parser) -> None:
    """Add whether a search may start from what was found before."""
    parser.add_argument_group(SEARCH).add_argument(
        "--fresh", action="store_true",
        help="start anew; without it the default method also starts from plans that earlier searches left for this "
        "network in the user's bank (~/.cache/cocco/bank, or where COCCO_BANK says; empty: none), so that the answer "
        "costs no more than any of them",
    )  # fmt: skip


def bank_of(options: Namespace) -> Bank | None:
    """Return the bank of a search; none for methods that are asked by name, which answer for themselves."""
    if options.fresh or options.method != "auto" or is_plain(options):
        return None
    from cocco.bank.bank import users_bank

    return users_bank()


def start_of(
    options: Namespace, networks: Sequence[Network], accelerator: Accelerator | None = None
) -> tuple[tuple[Partition, ...], ...]:
    """Return the partitions of --from as `initial` takes them; empty where it is not given."""
    files = getattr(options, "from")
    if files is None:
        return ()
    if len(files) == 1 and Path(files[0]).is_dir():
        files = files * len(networks)
    if len(files) != len(networks):
        names = ", ".join(network.name for network in networks)
        raise UsageError(f"--from needs one file for each network ({names}), got {len(files)}")
    plans = zip(files, networks)
    return (tuple(read_partition(file, network, accelerator, options.tile_rule) for file, network in plans),)


def kept_by_choice(
    text: str, network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule
) -> KeptChoice:
    """Return the partition of a file, in the order in which it is written, with the tensors that are best kept."""
    from cocco.plans.files import written_order
    from cocco.plans.keeping import keep_on_chip

    order = None if is_made(text) else written_order(file_of(text, network), network, partition)
    return keep_on_chip(network, partition, accelerator, order=order, tile_rule=tile_rule)


def without_kept(network: Network, partition: Partition) -> Partition:
    """Return the same subgraphs with nothing kept between them."""
    return Partition.from_ids(network, partition.subgraphs, partition.metric, schemes=partition.schemes)
