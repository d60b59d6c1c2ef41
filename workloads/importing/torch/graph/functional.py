"""An exported program as one list of functions: no blocks and branches of their own, no writes into a part of an array.

A node that writes into a view changes the array that it is a view of, which a later node reads under its old name. Such
programs are made functional, as torch itself does it: a write becomes a node that makes the new array (slice_scatter,
select_scatter, index_put).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

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


def _number(program: Any, node: Any) -> bool | None:
    """What a node makes of constants and stored tensors alone, None where it takes inputs to know."""
    found = Numbers(program).of(node)
    return None if found is None else bool(found)


def operator_of(node: Any) -> str:
    """Return the operator of a node without its library, "" where it is none of torch's."""
    return str(node.target._schema.name).split("::")[-1].rstrip("_") if hasattr(node.target, "_schema") else ""


class Numbers:
    """What nodes make of constants and stored tensors alone, each run once.

    maps: nodes that need inputs to know; most: elements of what a node makes, above which it is not run.
    """

    def __init__(self, program: Any, maps: Iterable[Any] = (), most: int | None = None) -> None:
        signature = program.graph_signature
        self.program, self.most = program, most
        self.stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        self.lifted = signature.inputs_to_lifted_tensor_constants
        self.found: dict[Any, Any] = {node: LookupError(node.name) for node in maps}

    def of(self, given: Any) -> np.ndarray | None:
        """Return the numbers of a node, or of a number; None where it takes inputs to know, or nothing is given."""
        import torch

        try:
            with torch.no_grad():
                value = self._value(given)
            return None if value is None else np.asarray(value.float() if value.dtype == torch.bfloat16 else value)
        except Exception:  # whatever happens there: it is not known
            return None

    def _value(self, given: Any) -> Any:
        import torch

        if not isinstance(given, torch.fx.Node):
            return given if given is None else torch.as_tensor(given)
        found = self._made(given)
        if isinstance(found, LookupError):
            raise found
        return found

    def _made(self, node: Any) -> Any:
        """Run a node after those that it reads; a LookupError where one of them is not known."""
        import torch

        waiting = [node]
        while waiting:
            at = waiting[-1]
            left = [each for each in at.all_input_nodes if each not in self.found]
            if left and at.op != "placeholder":
                waiting += left
                continue
            waiting.pop()
            if any(isinstance(self.found[each], LookupError) for each in at.all_input_nodes):
                self.found[at] = LookupError(at.name)
                continue
            try:
                args, keywords = torch.utils._pytree.tree_map(self._read, (list(at.args), dict(at.kwargs)))
                self.found[at] = self._placed(at) if at.op == "placeholder" else self._run(at, args, keywords)
            except Exception:  # whatever happens there: it is not known
                self.found[at] = LookupError(at.name)
        return self.found[node]

    def _read(self, each: Any) -> Any:
        import torch

        return self.found[each] if isinstance(each, torch.fx.Node) else each

    def _placed(self, node: Any) -> Any:
        name = self.stored.get(node.name, self.lifted.get(node.name, ""))
        found = self.program.state_dict.get(name, self.program.constants.get(name))  # there: buffers that are not saved
        if found is None or found.is_meta:
            raise LookupError(name)
        return found.clone()

    def _run(self, node: Any, args: Any, keywords: Any) -> Any:
        made = node.meta.get("val")
        is_large = self.most is not None and hasattr(made, "numel") and made.numel() > self.most
        if node.op != "call_function" or is_large:
            raise LookupError(node.name)
        if changed_by(node):
            args, keywords = copy.deepcopy((args, keywords))
        return node.target(*args, **keywords)


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
    """What an array is stored in, by number; 0 where it is none, each of its own, or torch does not say it."""
    try:
        return array.untyped_storage()._cdata if hasattr(array, "untyped_storage") else 0
    except NotImplementedError:  # rows of torch.vmap
        return 0
