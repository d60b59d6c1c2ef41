"""How a hand-written partition says what it keeps on chip (docs/partitions.md).

    s2b1_add                                        from the step that makes it to the last that reads it
    {tensor: conv1, until: s1b2_a}                  to the step of this layer
    {tensor: image, from: conv1, until: shortcut}   from the step of a layer that makes or reads it

A model input is made by no step: without `from` it is kept from the first step that reads it, which loads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from simulator.partition.errors import PartitionError
from simulator.partition.intervals import KeptInterval, Span, Uses
from workloads.errors import shown
from workloads.network.network import Network

KEYS = ("tensor", "from", "until")
IGNORED = "bytes"  #: what an interval takes, beside the keys in the answers of `cocco evaluate --json` and the like


def read_keep(uses: Uses, keep: Iterable[object]) -> list[Span]:
    """Return tensor, first and last step of each entry; raises PartitionError where one says nothing sensible.

    Whether a step makes or reads the tensor is for named_intervals to check.
    """
    return [_span(uses, position, entry) for position, entry in enumerate(keep)]


def check_keep(keep: object) -> list[object]:
    """Return the entries as a list; raises TypeError, one line, where they are none."""
    if isinstance(keep, (str, Mapping)) or not isinstance(keep, Iterable):
        raise TypeError(f"keep must be a list of tensors to keep on chip; got {shown(keep)}")
    return list(keep)


def _span(uses: Uses, position: int, entry: object) -> Span:
    written = _mapping(position, entry)
    network = uses.network
    name = written["tensor"]
    if name not in network.index:
        hint = "; 'keep' takes names, no patterns" if set(name) & set("*?") or ".." in name else ""
        hint = hint or _suggest(name, network, network.index)
        raise PartitionError(f"keep {position} names unknown tensor {name!r}{hint}")
    tensor = network.index[name]
    made, reads = uses.made(tensor), uses.reads(tensor)
    first = made if made is not None or not reads else reads[0]
    if not reads or reads[-1] == first:
        after = "" if first is None else f" after {uses.shown(first)}"
        raise PartitionError(f"keep {position}: {name!r} is read by no step{after}; there is nothing to keep it for")
    start, end = reads[0] if made is None else made, reads[-1]
    if "from" in written:
        start = _step(uses, position, "from", written["from"])
    if "until" in written:
        end = _step(uses, position, "until", written["until"])
    return tensor, start, end


def _mapping(position: int, entry: object) -> dict[str, str]:
    """Return an entry with its keys as written, "tensor" among them."""
    if isinstance(entry, str):
        return {"tensor": entry}
    if isinstance(entry, KeptInterval):
        return entry.to_json()
    if not isinstance(entry, Mapping):
        raise PartitionError(
            f"keep {position} is {shown(entry)}; it must be the name of a tensor, or a mapping with 'tensor' and, "
            "where it needs them, 'from' and 'until'"
        )
    entry = {key: value for key, value in entry.items() if key != IGNORED}
    unknown = [key for key in entry if key not in KEYS]
    if unknown:
        raise PartitionError(
            f"keep {position} has the unknown key {shown(unknown[0])}; known are 'tensor', 'from', 'until'"
        )
    if "tensor" not in entry:
        raise PartitionError(f"keep {position} is {shown(dict(entry))}; it must have the key 'tensor'")
    for key, value in entry.items():
        if not isinstance(value, str):
            raise PartitionError(f"keep {position} has {key!r} {shown(value)}; it must be a name")
    return dict(entry)


def _step(uses: Uses, position: int, key: str, name: str) -> int:
    network = uses.network
    layer = network.index.get(name)
    if layer is None:
        layers = [each.name for each in network.layers]
        raise PartitionError(f"keep {position} has {key!r} unknown layer {name!r}{_suggest(name, network, layers)}")
    if layer >= len(network.layers):
        raise PartitionError(f"keep {position} has {key!r} {name!r}, a model input; it must be a layer of the step")
    return uses.step_of[layer]


def _suggest(name: str, network: Network, names: Iterable[str]) -> str:
    close = get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; network {network.name!r} has none of this name"
