"""Reads hand-written partitions from files, and decides what happens to layers that no group names."""

from __future__ import annotations

from os import PathLike

from cocco.problem.names import Metric
from simulator.accelerator import Accelerator
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.errors import PartitionError
from simulator.partition.files import read_handwritten
from simulator.partition.partition import Partition, named_groups, order_subgraphs
from workloads.network.network import Network


def load_partition(
    path: str | PathLike[str],
    network: Network,
    accelerator: Accelerator | None = None,
    *,
    metric: Metric | None = None,
    tile_rule: TileRule = "exact",
) -> Partition:
    """Return the partition in a .json or .yaml file (docs/partitions.md), as Partition.load does.

    "rest: greedy" fuses the layers that no group names as the greedy baseline does on this accelerator, and leaves the
    groups unchanged; so the same file may give a different partition on another accelerator.

    Parameters
    ----------
    path
        The file.
    network
        What it is a partition of.
    accelerator
        The hardware for which "rest: greedy" fuses; otherwise not needed.
    metric
        What that fusion minimizes, and by which tiles are chosen: "ema" (off-chip bytes), "energy" (pJ) or
        "latency-sum" (cycles); by default what the file says, else energy.
    tile_rule
        As in `simulator.evaluate`.

    Raises
    ------
    ValueError
        If the file is malformed, or says "rest: greedy" and no accelerator is given.

    Examples
    --------
    >>> import pathlib, tempfile, cocco, simulator, workloads
    >>> network = workloads.load("vgg16")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "plan.yaml"
    ...     _ = path.write_text("network: vgg16\\nsubgraphs:\\n- [fc7, fc8]\\n")
    ...     plan = cocco.load_partition(path, network)
    >>> plan == simulator.Partition.from_groups(network, [["fc7", "fc8"]])
    True
    """
    found = read_handwritten(path, network)
    metric = metric or found.metric
    if found.rest == "greedy" and accelerator is None:
        raise PartitionError(f"{path}: 'rest: greedy' needs given hardware, which decides what is fused")
    try:
        plan = Partition.from_groups(network, found.groups, metric, *found.of_groups)  # type: ignore[arg-type]  # it checks
        groups = named_groups(network, found.groups)
    except PartitionError as error:
        raise PartitionError(f"{path}: {error}") from None
    if accelerator is None or found.rest == "layerwise":
        return plan
    return fill_greedily(network, groups, accelerator, metric, tile_rule)


def written_order(path: str | PathLike[str], network: Network, partition: Partition) -> tuple[tuple[int, ...], ...]:
    """Return the subgraphs of a file's partition in the order in which they are written, if they can run in it.

    Otherwise in the order of the partition. Subgraphs that the file does not list run in between, as early as in the
    usual order.
    """
    if partition.keep:
        return partition.subgraphs
    listed = [tuple(sorted(group)) for group in named_groups(network, read_handwritten(path, network).groups)]
    others = [group for group in partition.subgraphs if group not in set(listed)]
    try:
        return order_subgraphs(network, [*listed, *others], written=len(listed))
    except PartitionError:
        return partition.subgraphs


def fill_greedily(
    network: Network, groups: list[list[int]], accelerator: Accelerator, metric: Metric, tile_rule: TileRule
) -> Partition:
    """Return the partition of these groups of ids and the greedy fusion of all other layers (Cocco, Sec. 4.2.2)."""
    from cocco.candidates.genome import groups_of
    from cocco.problem.problem import on_hardware
    from cocco.search.baselines.greedy import greedy
    from cocco.search.pricing.compiled import subgraph_costs

    problem = on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule)
    labels, _ = greedy(problem, subgraph_costs(problem), fixed=groups)
    return Partition.from_ids(network, groups_of(labels), metric)
