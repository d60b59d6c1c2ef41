"""A hand-written partition as its file says it: groups of layers by pattern, the rest, what is kept, for which chip."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple

from simulator.metrics import DEFAULT_METRIC, METRIC_NAMES, OLD_NAMES, Metric
from simulator.partition.errors import PartitionError
from workloads.errors import shown
from workloads.files import read_mapping
from workloads.network.network import Network

KEYS = ("network", "metric", "subgraphs", "rest", "keep", "schemes", "spare", "ahead", "accelerator")
RESTS = ("layerwise", "greedy")


class Handwritten(NamedTuple):
    """The content of a partition file; nothing is looked up in the network yet, beside the network's name."""

    path: str
    groups: list[list[object]]  #: names, wildcards and ranges (simulator.partition.patterns)
    metric: Metric  #: by which tiles and loop orders are chosen
    rest: str  #: "layerwise" or "greedy": how the layers run that no group names
    keep: list[object]  #: tensors kept on chip (simulator.partition.keep)
    schemes: list[object]  #: how several cores share each group (simulator.partition.schemes); empty: nothing is said
    spare: list[object]  #: bytes that each group leaves free (simulator.partition.spare); empty: none does
    ahead: list[object]  #: the most bytes of what comes ahead while each runs; empty: all that is free
    accelerator: dict[str, Any] | None = None  #: for which it was made, as in hardware files; no price depends on it

    @property
    def of_groups(self) -> tuple[list[object], ...]:
        """What is kept, and what is said of each group, as Partition.from_groups takes it."""
        return self.keep, self.schemes, self.spare, self.ahead


def read_handwritten(path: str | PathLike[str], network: Network) -> Handwritten:
    """Return the groups of a .json or .yaml file; raises ValueError where it is no partition of this network."""
    content = read_mapping(path)
    unknown = sorted(key for key in content if key not in KEYS)
    if unknown:
        raise PartitionError(f"{path}: unknown key {unknown[0]!r}; a partition has {', '.join(map(repr, KEYS))}")
    if "subgraphs" not in content:
        raise PartitionError(f"{path}: a partition is a mapping with the key 'subgraphs'")
    named = content.get("network", network.name)
    if named != network.name:
        raise PartitionError(f"{path}: is a partition of network {shown(named)}, not of {network.name!r}")
    groups = content["subgraphs"]
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise PartitionError(f"{path}: 'subgraphs' must be a list of lists of layer names")
    rest = content.get("rest", RESTS[0])
    if rest not in RESTS:
        raise PartitionError(f"{path}: 'rest' is {shown(rest)}; it must be {' or '.join(map(repr, RESTS))}")
    metric = content.get("metric", DEFAULT_METRIC)
    metric = OLD_NAMES.get(str(metric), metric)
    if metric not in METRIC_NAMES:
        raise PartitionError(f"{path}: 'metric' is {shown(metric)}; it must be {' or '.join(map(repr, METRIC_NAMES))}")
    keep = content.get("keep", [])
    if not isinstance(keep, list):
        raise PartitionError(f"{path}: 'keep' is {shown(keep)}; it must be a list of tensors to keep on chip")
    if keep and rest != RESTS[0]:
        raise PartitionError(
            f"{path}: 'rest: {rest}' and 'keep' exclude each other: what is fused decides which steps there are; "
            "write all subgraphs, in the order of execution"
        )
    schemes = content.get("schemes", [])
    if not isinstance(schemes, list) or ("schemes" in content and not schemes and groups):
        raise PartitionError(f"{path}: 'schemes' is {shown(schemes)}; it must be a list, one for each of 'subgraphs'")
    if schemes and rest != RESTS[0]:
        raise PartitionError(
            f"{path}: 'rest: {rest}' and 'schemes' exclude each other: what is fused is priced by the cheapest scheme"
        )
    sizes = {name: content.get(name, []) for name in ("spare", "ahead")}
    for name, each in sizes.items():
        if not isinstance(each, list):
            raise PartitionError(f"{path}: {name!r} is {shown(each)}; it must be a list, one for each of 'subgraphs'")
        if each and rest != RESTS[0]:
            raise PartitionError(
                f"{path}: 'rest: {rest}' and {name!r} exclude each other: what is fused is priced in the whole memory"
            )
    accelerator = content.get("accelerator")
    if not isinstance(accelerator, dict | None):
        raise PartitionError(f"{path}: 'accelerator' is {shown(accelerator)}; it must be a mapping, as a hardware file")
    return Handwritten(str(path), groups, metric, rest, keep, schemes, sizes["spare"], sizes["ahead"], accelerator)
