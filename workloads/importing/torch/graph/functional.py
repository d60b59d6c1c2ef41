"""An exported program as one list of functions: no blocks and branches of their own, no writes into a part of an array.

A node that writes into a view changes the array that it is a view of, which a later node reads under its old name. Such
programs are made functional, as torch itself does it: a write becomes a node that makes the new array (slice_scatter,
select_scatter, index_put).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workloads.errors import NetworkError, one_line, shown

BLOCKS = ("wrap_with_autocast", "wrap_with_set_grad_enabled")  #: what runs a graph of its own, as it is


def functional(program: Any) -> Any:
    """Return the program with blocks and known branches in line, and writes into views as functions."""
    inlined(program, program.graph_module)
    if not writes_into_views(program.graph):
        return program
    try:
        return program.run_decompositions({})
    except Exception as error:  # whatever happens there
        raise NetworkError(f"writes into parts of arrays, which torch cannot undo: {one_line(error)[:200]}") from None


def has_branches(program: Any) -> bool:
    """Whether a module has branches of torch.cond, which torch compiles when the module runs."""
    return any(getattr(node.target, "__name__", "") == "cond" for node in program.graph.nodes)


def inlined(program: Any, module: Any) -> None:
    """Put the graphs of autocast and gradient blocks, and of branches that are known, where they run."""
    import torch

    for node in list(module.graph.nodes):
        name = getattr(node.target, "__name__", "")
        if node.op != "call_function" or not (name in BLOCKS or name == "cond"):
            continue
        if name == "cond":
            block, operands = _branch(program, node), node.args[3]
        else:
            place = next(i for i, each in enumerate(node.args) if getattr(each, "op", "") == "get_attr")
            block, operands = node.args[place], node.args[place + 1 :]
        inner = getattr(module, block.target)
        inlined(program, inner)
        _replace(program, module.graph, node, inner.graph, operands)
    if isinstance(module, torch.fx.GraphModule):
        module.graph.eliminate_dead_code(lambda each: each.op != "get_attr")
        module.recompile()


def _branch(program: Any, node: Any) -> Any:
    """The branch that is taken; raises NetworkError where the numbers of the inputs choose it."""
    chooser = node.args[0]
    known = chooser if isinstance(chooser, bool) else _number(program, chooser)
    if known is None:
        raise NetworkError(
            f"node {node.name!r} (torch.cond) has a branch that the numbers of the inputs choose "
            f"({shown(str(chooser))}); give it a predicate of shapes or constants, or export the branch alone"
        )
    return node.args[1] if known else node.args[2]


def _number(program: Any, node: Any) -> Any | None:
    """What a node makes of constants and stored tensors alone, None where it takes inputs to know."""
    import torch

    signature = program.graph_signature
    stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    lifted = signature.inputs_to_lifted_tensor_constants

    def value(each: Any) -> Any:
        if not isinstance(each, torch.fx.Node):
            return each
        if each.op == "placeholder":
            found = program.state_dict.get(stored.get(each.name, ""), program.constants.get(lifted.get(each.name, "")))
            if found is None or found.is_meta:
                raise LookupError(each.name)
            return found.clone()
        if each.op != "call_function" or not hasattr(each.target, "_schema"):
            raise LookupError(each.name)
        args, keywords = torch.utils._pytree.tree_map(value, (list(each.args), dict(each.kwargs)))
        target: Any = each.target
        return target(*args, **keywords)

    try:
        with torch.no_grad():
            return bool(value(node))
    except Exception:  # whatever happens there: it is not known
        return None


def _replace(program: Any, graph: Any, node: Any, inner: Any, operands: Sequence[Any]) -> None:
    """Copy a graph to where a node stands, whose results are then those of the copy."""
    places = [each for each in inner.nodes if each.op == "placeholder"]
    values: dict[Any, Any] = dict(zip(places, operands, strict=True))
    with graph.inserting_before(node):
        made = graph.graph_copy(inner, values)
    made = made if isinstance(made, (list, tuple)) else [made]
    for user in list(node.users):
        if getattr(user.target, "__name__", "") != "getitem":
            raise NetworkError(f"node {user.name!r} reads the block {node.name!r} as a whole")
        found = made[user.args[1]]
        user.replace_all_uses_with(found)
        program.graph_signature.replace_all_uses(user.name, found.name)
        graph.erase_node(user)
    graph.erase_node(node)


def writes_into_views(graph: Any) -> bool:
    """Whether a node changes an array that another node has under a name of its own, as a view of it or as its base."""
    names: dict[int, set[Any]] = {}  # of the nodes that have an array, by what it is stored in
    first: dict[Any, Any] = {}  # the node whose result a node changes in place and hands on
    for node in graph.nodes:
        changed = [each for each in changed_by(node) if each in first]
        for each in changed:
            if names.get(_storage(each.meta.get("val")), set()) - {first[each]}:
                return True
        first[node] = first[changed[0]] if changed else node
        made = node.meta.get("val")
        for each in made if isinstance(made, (list, tuple)) else [made]:
            names.setdefault(_storage(each), set()).add(first[node])
    return False


def changed_by(node: Any) -> list[Any]:
    """Return the nodes whose arrays a node changes in place."""
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return []
    given: Mapping[str, Any] = {
        argument.name: node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
        for i, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    }
    found = [one for each in given.values() for one in (each if isinstance(each, (list, tuple)) else [each])]
    return [each for each in found if hasattr(each, "meta")]


def _storage(array: Any) -> int:
    """What an array is stored in, by number; 0 where it is none, each of its own."""
    return array.untyped_storage()._cdata if hasattr(array, "untyped_storage") else 0
