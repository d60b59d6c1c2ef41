"""No computation may vanish: what was read of a file is held against its graph.

Every layer that a needed node was read as is in the network, and every weight of a needed product, too; which of the
file's matrices are in layers is noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workloads.errors import NetworkError
from workloads.importing.finishing import check_kept, loaded_in
from workloads.importing.onnx.order import title
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value
from workloads.network.layers.layer import Note
from workloads.network.network import Network

#: operators with weights, and the places of those
WEIGHTS = {
    **dict.fromkeys(("Conv", "ConvTranspose", "MatMul", "Gemm", "FusedMatMul", "FusedGemm"), slice(0, 2)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), slice(1, 3)),
    "Einsum": slice(None),
}
#: operators that read some inputs only, and which: of the others the shape, or an order that no layer has to say
READ = {
    **dict.fromkeys(("Shape", "Size", "ConstantOfShape"), slice(0)),
    **dict.fromkeys(("Gather", "GatherElements", "Expand", "Reshape", "Tile", "Slice"), slice(1)),
}


def audited(
    network: Network, sketch: Sketch, graph: Any, values: Mapping[str, Value], is_lenient: bool = False
) -> Network:
    """Return the network with a note on its weights; raises NetworkError where something has vanished.

    is_lenient: operators that were not understood have been passed over.
    """
    have = loaded_in(network, sketch) | sketch.chosen_tables.keys() | sketch.read_elements.keys()
    wanted: dict[str, str] = {}
    for node in _needed(graph, READ):
        for name in node.output:
            value = values.get(name)
            if value is not None and value.source is not None:
                wanted.setdefault(value.source, title(node))
    if not is_lenient:
        check_kept(network, sketch, wanted)
    for node in _needed(graph, {}):
        operands = [values[name] for name in node.input[WEIGHTS.get(node.op_type, slice(0))] if name in values]
        if all(values[name].is_constant for name in node.input if name in values):
            continue
        lost = sorted(name for value in operands for name in value.origins & sketch.matrices.keys() - have)
        if lost:
            raise NetworkError(f"{title(node)}: its weights {lost[0]!r} are in no layer")
    stored = sketch.matrices
    if not stored:
        return network
    size = sum(stored[name] for name in loaded_in(network, sketch))
    text = f"{size:,} of {sum(stored.values()):,} elements of stored matrices"
    return replace(network, notes=(*network.notes, Note("weights", text, "counted")))


def _needed(graph: Any, read: Mapping[str, slice]) -> list[Any]:
    """The nodes that an output needs; of some operators only some inputs count."""
    made = {name: node for node in graph.node for name in node.output}
    stack = [made[info.name] for info in graph.output if info.name in made]
    found: dict[int, Any] = {}
    while stack:
        node = stack.pop()
        if id(node) in found:
            continue
        found[id(node)] = node
        inside = [name for each in node.attribute if each.HasField("g") for one in each.g.node for name in one.input]
        names = [*node.input[read.get(node.op_type, slice(None))], *inside]
        stack += [made[name] for name in names if name in made]
    return list(found.values())
