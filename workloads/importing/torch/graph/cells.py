"""Cells that a loop of the module calls step by step: chains of GRUCell, LSTMCell and RNNCell become one call.

Each chain is the recurrent layer that torch has for a whole sequence: weights and operations are the same, and every
step reads the state of the one before. A chain whose inputs depend on its own states (a decoder that reads what it
said) stays a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from operator import getitem
from typing import Any

from workloads.importing.torch.export import operator_name

LAYERS = {"gru_cell": "gru", "lstm_cell": "lstm", "rnn_tanh_cell": "rnn_tanh", "rnn_relu_cell": "rnn_relu"}


def with_loops(program: Any) -> Any:
    """Return the program, changed in place, with every chain of cells as one call."""
    import torch
    from torch.fx.passes.tools_common import legalize_graph

    module = program.graph_module
    while chain := next((each for each in _chains(module.graph) if len(each) > 1 and _is_free(each)), None):
        _fold(module.graph, chain, torch.ops.aten)
        legalize_graph(module)  # in an order in which each node comes after what it reads
        module.graph.eliminate_dead_code()
    return program


def _kind(node: Any) -> str:
    """Return the layer that a cell is a step of; empty for any other node."""
    is_operator = node.op == "call_function" and hasattr(node.target, "_schema")
    return LAYERS.get(operator_name(node.target), "") if is_operator else ""


def _chains(graph: Any) -> Iterator[list[Any]]:
    """Yield cells that hand their states on to a cell with the same weights, from the first to the last."""
    chains: dict[Any, list[Any]] = {}  # by the last cell
    for node in graph.nodes:
        if _kind(node):
            before = _before(node)
            is_next = before in chains and before.args[2:] == node.args[2:] and before.target is node.target
            chains[node] = [*chains.pop(before), node] if is_next else [node]
    yield from chains.values()


def _before(cell: Any) -> Any:
    """Return the cell whose states this one reads, all of them; None where there is none."""
    states = cell.args[1]
    if _kind(cell) != "lstm":
        return states
    sources = [each.args for each in states if getattr(each.target, "__name__", "") == "getitem"]
    is_pair = len(sources) == 2 and sources[0][0] is sources[1][0] and [each[1] for each in sources] == [0, 1]
    return sources[0][0] if is_pair else None


def _is_free(chain: list[Any]) -> bool:
    """Whether no input depends on a state of the chain, and nothing reads the inner state of a cell but the next."""
    inside, after = set(chain), set(chain)
    for node in chain[0].graph.nodes:
        if node in inside:
            if after.intersection(_flat(node.args[0])):
                return False
        elif after.intersection(node.all_input_nodes):
            after.add(node)
    for cell in chain[:-1] if _kind(chain[0]) == "lstm" else ():
        inner = [user for user in cell.users if user.args[1] == 1]
        if any(reader not in inside for user in inner for reader in user.users):
            return False
    return True


def _flat(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _fold(graph: Any, chain: list[Any], aten: Any) -> None:
    """Put one call in the place of a chain: the steps stacked, and each state a part of what it returns."""
    kind, (_, first, *weights) = _kind(chain[0]), chain[0].args
    weights = [each for each in weights if each is not None]

    def call(target: Any, *arguments: Any) -> Any:
        node = graph.call_function(target, arguments)
        node.meta = {**chain[0].meta, "val": value_of(target, arguments)}
        return node

    def read(cell: Any, state: int) -> list[Any]:
        """Return the nodes that stand for a state of a cell."""
        return [user for user in cell.users if user.args[1] == state] if kind == "lstm" else [cell]

    states = [call(aten.unsqueeze.default, each, 0) for each in _flat(first)]
    made = call(
        getattr(aten, kind).input, call(aten.stack.default, [cell.args[0] for cell in chain]),
        states if kind == "lstm" else states[0], weights, len(weights) == 4, 1, 0.0, False, False, False,
    )  # fmt: skip
    rows = call(getitem, made, 0)
    for place, cell in enumerate(chain):
        row = call(aten.select.int, rows, 0, place)
        for node in read(cell, 0):
            node.replace_all_uses_with(row)
    if kind == "lstm":
        last = call(aten.select.int, call(getitem, made, 2), 0, 0)
        for node in read(chain[-1], 1):
            node.replace_all_uses_with(last)


def value_of(target: Any, arguments: Any) -> Any:
    """Return what a call makes of the arrays without numbers that its arguments make."""
    import torch

    found = torch.fx.map_arg(list(arguments), lambda node: node.meta["val"])
    mode = next((each.fake_mode for each in torch.utils._pytree.tree_leaves(found) if hasattr(each, "fake_mode")), None)
    with mode or nullcontext():
        return target(*found)
