"""No computation may vanish: what was read of a module is held against torch's graph of it, and torch's counter.

Three questions, whose answers come from the graph and not from what the operators became: does the network have every
layer that a needed node has been read as, is every weight of a product in a layer, and are its MACs those that torch
counts? What may differ is named in a note: products of stored tables alone, or of positions and masks, which are
computed once; nodes that no output needs; what torch.export leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workloads.errors import NetworkError
from workloads.importing.finishing import check_kept, loaded_in
from workloads.importing.sketch import Sketch
from workloads.importing.torch.counting import macs_of
from workloads.importing.torch.export import operator_name
from workloads.importing.torch.graph.functional import changed_by
from workloads.importing.torch.inputs import Stored
from workloads.importing.torch.weighted import WEIGHTED
from workloads.importing.values import Value
from workloads.network.layers.layer import Note
from workloads.network.network import Network

#: arguments whose numbers are not computed with: shapes, what is written over; and, of what no layer has to say, orders
SHAPES = {
    "copy": slice(1, 2),
    "fill": slice(1, 2),
    **dict.fromkeys("expand_as view_as reshape_as type_as".split(), slice(1)),
}
ORDERING = {
    **dict.fromkeys("index _unsafe_index index_select gather take_along_dim".split(), slice(1)),
    **dict.fromkeys("_grouped_mm grouped_mm grouped_mm_fallback".split(), slice(2)),
}
#: operators that are a layer wherever a map meets them, and those that are one where several maps do
LAYERS = frozenset(
    "softmax _softmax log_softmax _log_softmax layer_norm native_layer_norm rms_norm group_norm instance_norm cumsum "
    "scaled_dot_product_attention max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d".split()
)
JOINS = frozenset("add sub mul div maximum minimum where cat concat concatenate stack".split())
#: arguments that are multiplied, where others are not: masks, and what is added
MULTIPLIED = {"scaled_dot_product_attention": slice(3), "addmm": slice(1, 3), "baddbmm": slice(1, 3)}
WRITES = ("slice_scatter", "select_scatter")
NODES_NAMED = 3  #: nodes that an error names


@dataclass
class ReadNodes:
    """What a reader leaves behind: for each node what it makes, and the layers that it put down."""

    program: Any
    sketch: Sketch
    values: Mapping[Any, Any]
    made: dict[Any, list[str]] = field(default_factory=dict)


def audited(network: Network, reading: ReadNodes, counted: int | None, is_lenient: bool = False) -> Network:
    """Return the network with notes on what torch counts; raises NetworkError where something has vanished.

    counted: the MACs that torch counts of the module itself, None where it does not run without numbers. is_lenient:
    operators that were not understood may have had MACs.
    """
    needed = needed_in(reading.program.graph, SHAPES)
    _check_layers(network, reading, needed_in(reading.program.graph, SHAPES | ORDERING))
    _check_weights(network, reading, needed)
    stored, notes = reading.sketch.matrices, []
    size = sum(stored[name] for name in loaded_in(network, reading.sketch))
    notes.append(Note("weights", f"{size:,} of {sum(stored.values()):,} elements of stored matrices", "counted"))
    if counted == network.macs:
        notes.append(Note("MACs", f"{network.macs:,} of {counted:,}", "counted"))
    else:
        notes += _explained(network, reading, needed, counted, is_lenient)
    return replace(network, notes=(*network.notes, *notes))


def needed_in(graph: Any, some: Mapping[str, slice]) -> set[Any]:
    """The nodes whose numbers an output needs; a node that works in place is needed where what it changes is.

    some: operators of which only these arguments count.
    """
    read: set[Any] = set()
    found: set[Any] = set()
    for node in reversed(graph.nodes):
        if node.op != "output" and node not in read and not any(each in read for each in changed_by(node)):
            continue
        found.add(node)
        op = operator_name(node.target) if hasattr(node.target, "_schema") else ""
        if op in some:
            read.update(each for each in node.args[some[op]] if hasattr(each, "meta"))
        elif not op.endswith("_like") and not op.startswith(("new_", "sym_", "_assert")) and op != "zero":
            read.update(node.all_input_nodes)
    return found


def _check_layers(network: Network, reading: ReadNodes, needed: set[Any]) -> None:
    """Raise NetworkError for a layer that a needed node was read as, and that the network does not have."""
    wanted: dict[str, str] = {}
    for node in needed:
        value = reading.values.get(node)
        source = value.source if isinstance(value, Value) else None
        is_cache = isinstance(value, Value) and bool(value.above)  # new rows stand for all that it then has
        if source is not None and not is_cache and _is_handed_on(node, source, reading):
            op = operator_name(node.target)
            raise NetworkError(f"has no layer of node {node.name!r} (aten.{op}); this is a mistake of the reader")
        if source is not None:
            wanted.setdefault(source, node.name)
    check_kept(network, reading.sketch, wanted)


def _is_handed_on(node: Any, source: str, reading: ReadNodes) -> bool:
    """Whether a node that is a layer was read as one of its own operands."""
    op = operator_name(node.target) if hasattr(node.target, "_schema") else ""
    if op not in LAYERS | JOINS and op not in WRITES:
        return False
    values = [reading.values.get(each) for each in node.all_input_nodes]
    maps = [each for each in values if isinstance(each, Value) and not each.is_constant]
    is_plain = not any(each.pending or each.is_statistic or each.above for each in maps)
    if op in WRITES:  # what is written is made of the array, or the array has it already
        reads = {layer.name: layer.inputs for layer in reading.sketch.layers}
        first, last = ((each.source or "") for each in (maps[0], maps[-1]))
        is_new = first not in reads.get(last, ()) and last not in reads.get(first, ())
        return is_plain and source == first != last and is_new
    return is_plain and len({each.source for each in maps}) > (op in JOINS) and source in {each.source for each in maps}


def _check_weights(network: Network, reading: ReadNodes, needed: set[Any]) -> None:
    """Raise NetworkError for stored weights of a needed product or convolution that no layer of the network has."""
    sketch, stored = reading.sketch, Stored(reading.program)
    have = loaded_in(network, sketch) | sketch.chosen_tables.keys() | sketch.read_elements.keys()
    made_of: dict[Any, frozenset[str] | None] = {}  # stored tensors of a constant; None: more than these
    for node in reading.program.graph.nodes:
        given = [made_of[each] for each in node.all_input_nodes]
        if node.op == "placeholder":
            made_of[node] = None if node.name in stored.given else frozenset([stored.name(node)])
            continue
        known = [each for each in given if each is not None]
        made_of[node] = frozenset().union(*known) if len(known) == len(given) else None
        if node not in needed or made_of[node] is not None or not hasattr(node.target, "_schema"):
            continue
        op = operator_name(node.target)
        if op in MULTIPLIED:
            known = [made_of[each] or frozenset() for each in node.args[MULTIPLIED[op]]]
        lost = sorted(name for each in known for name in each if name in sketch.matrices and name not in have)
        if lost and (op in WEIGHTED or "embedding" in op):
            raise NetworkError(f"node {node.name!r} (aten.{op}): its weights {lost[0]!r} are in no layer")


def _explained(
    network: Network, reading: ReadNodes, needed: set[Any], counted: int | None, is_lenient: bool
) -> list[Note]:
    """Notes on why torch counts other MACs; raises NetworkError where there is no reason."""
    reasons: Counter[str] = Counter()
    ours = _macs_by_node(network, reading)
    inputs = _inputs_of(reading)
    wrong: list[tuple[int, str]] = []
    total = 0
    for node in reading.program.graph.nodes:
        if node.op != "call_function" or not hasattr(node.target, "_schema"):
            continue
        macs = macs_of(node)
        total += macs
        if macs == ours[node]:
            continue
        is_stored, is_table = inputs[node]
        if not ours[node] and node not in needed:
            reasons["that no output needs"] += macs
        elif not ours[node] and is_stored:
            reasons["of stored tables alone, computed once"] += macs
        elif not ours[node] and is_table:
            reasons["of positions, masks or tokens alone, computed once"] += macs
        else:
            text = f"node {node.name!r} (aten.{operator_name(node.target)}) {macs:,} in torch, {ours[node]:,} here"
            wrong.append((abs(macs - ours[node]), text))
    if counted is not None and total < counted:
        reasons["that torch.export leaves out, for nothing needs them"] = counted - total
    expected = max(total, counted or 0) - sum(reasons.values())
    if network.macs != expected and not is_lenient:
        named = [text for _, text in sorted(wrong, reverse=True)[:NODES_NAMED]]
        more = f" and {len(wrong) - NODES_NAMED} more" if len(wrong) > NODES_NAMED else ""
        raise NetworkError(
            f"has {network.macs:,} MACs where torch counts {expected:,}: {', '.join(named) or 'layers are lost'}{more}"
            "; this is a mistake of the reader"
        )
    notes = [Note("MACs", f"{network.macs:,} of {max(total, counted or 0):,}", "counted")]
    notes += [Note("MACs", f"{macs:,} {why}", "not counted") for why, macs in reasons.items()]
    if counted is None:
        notes.append(Note("module", "torch cannot count it as it is, its exported graph was counted", "not compared"))
    elif total > counted:
        notes.append(Note("module", f"{counted:,} MACs where it is not exported", "not compared"))
    if network.macs != expected:
        notes.append(Note("MACs", f"{network.macs - expected:,} of operators that were not understood", "not compared"))
    return notes


def _macs_by_node(network: Network, reading: ReadNodes) -> Counter[Any]:
    """The MACs of the network's layers, by the node that put them down."""
    macs = {layer.name: layer.macs for layer in network.layers}
    parts = reading.sketch.split
    cut = {name for names in parts.values() for name in names}
    found: Counter[Any] = Counter()
    for node, names in reading.made.items():
        for name in names:
            whole = [name] if name not in parts else parts[name]
            found[node] += 0 if name in cut else sum(macs.get(each, 0) for each in whole)
    return found


def _inputs_of(reading: ReadNodes) -> dict[Any, tuple[bool, bool]]:
    """Of each node: whether it is made of stored tensors alone, and whether of none but buffers and given numbers.

    Given numbers are integers and booleans, and arrays of less than two dimensions: positions, masks, tokens.
    """
    stored = Stored(reading.program)
    found: dict[Any, tuple[bool, bool]] = {}
    for node in reading.program.graph.nodes:
        before = [found[each] for each in node.all_input_nodes]
        is_stored, is_table = all(each for each, _ in before), all(each for _, each in before)
        if node.op == "placeholder":
            tensor = node.meta.get("val")
            is_stored = node.name not in stored.given
            is_real = getattr(getattr(tensor, "dtype", None), "is_floating_point", False) and tensor.ndim > 1
            is_table = not is_real or (is_stored and node.name not in stored.parameters)
        found[node] = is_stored, is_table
    return found
