"""How a hand-written partition names layers: by name, by wildcard and by range (docs/partitions.md).

    conv1               this layer; a name that a layer has is never a pattern
    s1b1_*, s?b1_add    every layer whose name matches: * is any text, ? any one character
    s3b1_a..s3b2_add    every layer from the first to the second, both included, in the order of `cocco show`

A range follows the network's order, not its paths (our choice): so a shortcut that stands between is in it, what is
in it can be looked up in a list, and subgraphs that are ranges can never wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from simulator.partition.errors import PartitionError
from workloads.errors import shown
from workloads.network.network import Network

RANGE = ".."


def expand(network: Network, groups: Iterable[Iterable[object]]) -> list[list[object]]:
    """Return the groups with wildcards and ranges replaced by the names of layers; the rest stays as it is.

    Raises PartitionError where a pattern matches nothing, the end of a range is unknown or before its start, or a
    pattern names a layer that was named before.
    """
    found: list[list[object]] = []
    seen: dict[object, tuple[int, object]] = {}
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(f"groups must be a list of lists of layer names; got {shown(groups)}")
    for position, group in enumerate(groups):
        if not isinstance(group, Iterable):
            raise TypeError(f"subgraph {position} is {shown(group)}; it must be a list of layer names")
        if isinstance(group, str):
            raise PartitionError(f"subgraph {position} is the string {group!r}; it must be a list of layer names")
        names: list[object] = []
        for item in group:
            matched = layers_of(network, item, position) if isinstance(item, str) else [item]
            for name in matched:
                if isinstance(name, str):
                    if name in seen:
                        raise PartitionError(_repeated(name, seen[name], (position, item)))
                    seen[name] = (position, item)
            names += matched
        found.append(names)
    return found


def layers_of(network: Network, item: str, position: int) -> list[object]:
    """Return the names that an item of subgraph `position` stands for; a plain name stands for itself."""
    if item in network.index:
        return [item]
    if RANGE in item:
        return _range(network, item, position)
    if "*" in item or "?" in item:
        matched: list[object] = [layer.name for layer in network.layers if matches(item, layer.name)]
        if not matched:
            raise PartitionError(f"subgraph {position}: no layer of network {network.name!r} matches {item!r}")
        return matched
    return [item]


def matches(pattern: str, name: str) -> bool:
    """Return whether a name matches: * is any text, ? any one character. At most len(pattern) * len(name) steps."""
    at = back = 0
    star = -1  # the last * passed, and where in the name its text ends
    for_name = 0
    while for_name < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, back = at, for_name
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[for_name]):
            at, for_name = at + 1, for_name + 1
        elif star >= 0:
            back += 1
            at, for_name = star + 1, back
        else:
            return False
    return not pattern[at:].strip("*")


def _range(network: Network, item: str, position: int) -> list[object]:
    names = [layer.name for layer in network.layers]
    index = {name: i for i, name in enumerate(names)}
    cuts = [i for i in range(len(item) - 1) if item.startswith(RANGE, i)]
    ends = [(item[:i].strip(), item[i + len(RANGE) :].strip()) for i in cuts]
    first, last = next((each for each in ends if each[0] in index and each[1] in index), ends[0])
    for end in (first, last):
        if end not in index:
            close = get_close_matches(end, names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f" of network {network.name!r}"
            raise PartitionError(
                f"subgraph {position}: the range {item!r} has the end {end!r}, which is no layer{hint}"
            )
    if index[first] > index[last]:
        raise PartitionError(
            f"subgraph {position}: the range {item!r} runs backwards: {first!r} comes after {last!r}; "
            f"write {last + RANGE + first!r}"
        )
    return list(names[index[first] : index[last] + 1])


def _repeated(name: str, *places: tuple[int, object]) -> str:
    first, second = (f"subgraph {i}" + ("" if item == name else f" (by {item!r})") for i, item in places)
    return f"layer {name!r} is in {first} and again in {second}"
