"""Scans that a module writes as a loop over the rows of a sequence: each chain of steps becomes one call.

A step of the chain decays the state, adds to it, and reads it,

    h = a[:, :, t] h + b[:, :, t],    y = h @ c[:, t]        h: [batch, channels, numbers]

where a and b are whole arrays [batch, channels, rows, numbers] that factors make element by element (Mamba and what is
written like it, without its kernels). The call reads the factors: what is as wide as the channels, b and c, and the
weights of the decays. The zeros that the loop begins with are none of its inputs; the state behind the last row, which
a cache would take, is not written (our choice).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from workloads.importing.torch.graph.functional import operator_of

SAME = ("to", "_to_copy", "contiguous", "clone", "alias", "detach")  #: hand on what they read, element by element
MAKES = (*SAME, "mul", "exp", "neg", "expand")  #: of factors the elements of an array
KEEPS = ("copy", "zeros_like")  #: what a cache does with the state behind the last row
BATCH, CHANNELS, ROWS, NUMBERS = range(4)  #: dimensions of decays, and of what is added


class Step(NamedTuple):
    """One row of a scan: the state after it, of the state before, and the row of decays and of what is added."""

    node: Any
    before: Any
    decays: Any
    added: Any
    row: int


class Read(NamedTuple):
    """What reads the state after a row: a product with a row of c, [batch, rows, numbers]."""

    row: int
    product: Any
    c: Any


class Factors(NamedTuple):
    """What a scan reads."""

    channelwise: list[Any]  #: [batch, channels, rows, 1], u first
    weights: list[Any]  #: [1, channels, 1, numbers] and such
    b: Any  #: [batch, 1, rows, numbers]


def with_scans(program: Any) -> Any:
    """Return the program, changed in place, with every loop of a scan as one call."""
    from torch.fx.passes.tools_common import legalize_graph

    module, is_changed = program.graph_module, False
    for chain in list(_chains(module.graph)):
        is_changed |= _fold(module.graph, chain)
    if is_changed:
        legalize_graph(module)  # in an order in which each node comes after what it reads
        module.graph.eliminate_dead_code()
    return program


@cache
def operator() -> Any:
    """Return the operator of a scan: u [batch, rows, channels], gates as u, weights, b and c [batch, rows, numbers]."""
    import torch

    library = torch.library.Library("cocco", "DEF")
    library.define("scan(Tensor u, Tensor[] gates, Tensor? weights, Tensor b, Tensor c) -> Tensor")
    library.impl("scan", lambda u, gates, weights, b, c: torch.empty_like(u), "CompositeExplicitAutograd")
    operator.library = library  # type: ignore[attr-defined]  # as long as it is there, so is its operator
    return torch.ops.cocco.scan.default


def _origin(node: Any) -> Any:
    """Return what a node hands on."""
    while operator_of(node) in SAME and node.meta["val"].shape == node.args[0].meta["val"].shape:
        node = node.args[0]
    return node


def _row_of(node: Any) -> tuple[Any, int] | None:
    """Return an array of four dimensions and the row that this node selects of it."""
    node = _origin(node)
    if operator_of(node) != "select" or node.args[1] != ROWS or len(node.args[0].meta["val"].shape) != 4:
        return None
    return node.args[0], node.args[2]


def _step(node: Any) -> Step | None:
    """Return the row of a scan that a node adds, None where it adds something else."""
    if operator_of(node) != "add" or len(node.args) != 2:
        return None
    for product, addend in (node.args, node.args[::-1]):
        if not all(hasattr(each, "meta") for each in node.args) or operator_of(_origin(product)) != "mul":
            continue
        added, factors = _row_of(addend), _origin(product).args
        for decay, state in (factors, factors[::-1]):
            decays = _row_of(decay) if hasattr(decay, "meta") and hasattr(state, "meta") else None
            if decays and added and decays[1] == added[1] and decays[0].meta["val"].shape == added[0].meta["val"].shape:
                return Step(node, _origin(state), decays[0], added[0], added[1])
    return None


def _chains(graph: Any) -> Iterator[list[Step]]:
    """Yield the steps of all rows of an array, each from the state of the one before, the first from zeros."""
    chains: dict[Any, list[Step]] = {}
    for node in graph.nodes:
        step = _step(node)
        if step is None:
            continue
        before = chains.pop(step.before, [])
        if not before and operator_of(step.before) not in ("zeros", "zeros_like", "new_zeros"):
            continue
        if [each[2:4] for each in before[-1:]] in ([], [step[2:4]]) and len(before) == step.row:
            chains[node] = [*before, step]
    for chain in chains.values():
        if len(chain) == chain[0].decays.meta["val"].shape[ROWS]:
            yield chain


def _readers(node: Any) -> Iterator[Any]:
    """Yield what reads a node, or what hands it on; checks of its type are none."""
    for user in node.users:
        if operator_of(user) in SAME:
            yield from _readers(user)
        elif operator_of(user) != "_assert_tensor_metadata":
            yield user


def _factors(chain: list[Step]) -> Factors | None:
    """Return what the decays and what is added are made of; None where they are no products of such factors."""
    shape = chain[0].decays.meta["val"].shape
    decays, added = (_leaves(each, shape) for each in (chain[0].decays, chain[0].added))
    if decays is None or added is None:
        return None
    weights = [each for each in decays if each.meta["val"].shape[ROWS] == 1]
    own = [each for each in added if each.meta["val"].shape[CHANNELS] == 1]
    wide = [each for each in [*added, *decays] if each not in weights and each not in own]
    if len(own) != 1 or len(weights) > 1 or any(each.meta["val"].shape[NUMBERS] != 1 for each in wide):
        return None
    gates = {_thin(each) for each in decays if each not in weights}
    distinct = dict(zip(map(_thin, wide), wide))  # the same step twice: of the decay, and of what is added
    channelwise = sorted(distinct, key=lambda each: each in gates)
    if not channelwise or distinct[channelwise[0]].meta["val"].shape[CHANNELS] != shape[CHANNELS]:
        return None
    return Factors([distinct[each] for each in channelwise], weights, own[0])


def _thin(node: Any) -> Any:
    """Return what a factor is made of, without dimensions of one."""
    while operator_of(node) in (*SAME, "unsqueeze"):
        node = node.args[0]
    return node


def _leaves(node: Any, shape: Any) -> list[Any] | None:
    """Return the factors that make all elements of an array; None where something else makes it."""
    found = node.meta["val"].shape
    if found.numel() < shape.numel():
        return [node] if len(found) == len(shape) else None
    if operator_of(node) not in MAKES:
        return None
    parts = [_leaves(each, shape) for each in node.all_input_nodes]
    return None if None in parts else [leaf for part in parts for leaf in part or ()]


def _fold(graph: Any, chain: list[Step]) -> bool:
    """Put one call in the place of a chain, if nothing else reads its states; return whether it is there."""
    found, reads, steps = _factors(chain), list[Read](), {each.node for each in chain}
    if found is None:
        return False
    for step in chain:
        readers = [each for each in _readers(step.node) if not steps.intersection(each.users)]
        products = [each for each in readers if operator_of(each) == "matmul"]
        others = [each for each in readers if each not in products]
        for product in products:
            row = _sequence_row(product.args[1])
            if row is None or row[1] != step.row:
                return False
            reads.append(Read(step.row, product, row[0]))
        if any(each.op != "output" and operator_of(each) not in KEEPS for each in others):
            return False
        if others and step is not chain[-1]:
            return False
    if len({each.c for each in reads}) != 1:
        return False
    _put(graph, found, reads, chain)
    return True


def _sequence_row(node: Any) -> tuple[Any, int] | None:
    """Return [batch, rows, numbers] and the row that is read of it as [batch, numbers, 1]."""
    node = _origin(node)
    if operator_of(node) != "unsqueeze" or node.args[1] not in (-1, 2):
        return None
    row = _origin(node.args[0])
    return (row.args[0], row.args[2]) if operator_of(row) == "select" and row.args[1] == 1 else None


def _stack_of(reads: list[Read], count: int) -> Any:
    """Return what stacks the results of all rows in order, [batch, channels] each; None where something else does."""
    rows = [next(iter(each.product.users)) for each in reads if len(each.product.users) == 1]
    stacks = {user for row in rows for user in row.users}
    if len(stacks) != 1 or [each.row for each in reads] != list(range(count)):
        return None
    (stack,) = stacks
    is_stack = operator_of(stack) == "stack" and list(stack.args[0]) == rows and len(stack.args) == 2
    is_plain = all(operator_of(row) in ("select", "squeeze") for row in rows)
    return stack if is_stack and is_plain and stack.args[1] in (-1, 1, 2) else None


def _put(graph: Any, found: Factors, reads: list[Read], chain: list[Step]) -> None:
    """Put the call behind the loop, and each of its rows in the place of a product that read it."""
    import torch

    from workloads.importing.torch.graph.cells import value_of

    aten, meta = torch.ops.aten, chain[0].node.meta

    def call(target: Any, *arguments: Any) -> Any:
        node = graph.call_function(target, arguments)
        node.meta = {**meta, "val": value_of(target, arguments)}
        return node

    def rows(factor: Any) -> Any:
        """Return [batch, rows, channels or numbers] of a factor."""
        if factor.meta["val"].shape[NUMBERS] == 1:
            return call(aten.transpose.int, call(aten.select.int, factor, NUMBERS, 0), 1, 2)
        return call(aten.select.int, factor, CHANNELS, 0)

    u, *gates = map(rows, found.channelwise)
    weights = found.weights[0] if found.weights else None
    made = call(operator(), u, gates, weights, rows(found.b), reads[0].c)
    stack = _stack_of(reads, len(chain))
    if stack is not None:
        is_last = stack.args[1] in (-1, 2)
        stack.replace_all_uses_with(call(aten.transpose.int, made, 1, 2) if is_last else made)
    for each in reads if stack is None else ():
        row = call(aten.unsqueeze.default, call(aten.select.int, made, 1, each.row), -1)
        each.product.replace_all_uses_with(row)
    for user in [user for step in chain for user in step.node.users if operator_of(user) == "_assert_tensor_metadata"]:
        graph.erase_node(user)
    chain[-1].node.replace_all_uses_with(chain[0].before)  # zeros
