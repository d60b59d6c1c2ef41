"""What torch.export makes of a module and its arguments, and the operators of it that must be taken apart."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

from workloads.errors import NetworkError, one_line, shown


def exported(module: Any, example_inputs: Any, title: str) -> tuple[Any, str]:
    """Return the program of one call, without gradients, and what was assumed; keywords are given as a mapping.

    A module that cannot be exported is told that it is not, for some leave out what they would do otherwise; then what
    its numbers choose is what those of the examples choose.
    """
    import torch

    arguments, keywords = arguments_of(example_inputs)
    was_training, handle = (
        module.training,
        module.register_forward_hook(lambda *call: list(_tensors_in(call[-1], set()))),
    )
    reason, ways = "", (nullcontext, _as_it_runs, _with_numbers)
    try:
        for way in ways:
            with torch.no_grad(), without_fast_paths(), _without_spare_work():
                try:
                    with way():
                        program = torch.export.export(module.eval(), arguments, keywords, strict=False)
                    return program, "what its numbers choose is as in the example" if way is _with_numbers else ""
                except Exception as error:  # whatever a module does when it runs
                    reason = reason or _reason(error)
        raise NetworkError(f"module {title!r} cannot be exported: {reason}")
    finally:
        handle.remove()
        module.train(was_training)


def _as_it_runs() -> AbstractContextManager[Any]:
    return patch("torch.compiler.is_compiling", bool)


@contextmanager
def _with_numbers() -> Iterator[None]:
    """Let torch, where its version can, run the module on the numbers of the examples wherever they decide."""
    import torch._functorch.config as config

    log = logging.getLogger("torch.fx.experimental.symbolic_shapes")
    was_disabled, log.disabled = log.disabled, True
    try:
        with config.patch(fake_tensor_propagate_real_tensors=True):
            yield
    finally:
        log.disabled = was_disabled


def _tensors_in(found: Any, seen: set[int]) -> Iterator[Any]:
    """The tensors of what a module returns, those of objects that torch.export does not know (caches) as well."""
    import torch

    if isinstance(found, torch.Tensor):
        yield found
    elif id(found) not in seen and not isinstance(found, (str, bytes, type)):
        seen.add(id(found))
        parts = found.values() if isinstance(found, Mapping) else found
        if not isinstance(parts, (Iterable, Mapping)) or hasattr(found, "layers"):
            parts = vars(found).values() if hasattr(found, "__dict__") else ()
        for each in parts:
            yield from _tensors_in(each, seen)


@contextmanager
def without_fast_paths() -> Iterator[None]:
    """Keep torch from taking one operator for a whole encoder layer."""
    import torch

    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@contextmanager
def _without_spare_work() -> Iterator[None]:
    """Keep torch, where its version can, from what nobody reads here: a good third of the time of a trace.

    The lines of Python behind each node, the code of graphs that are not run, and strides.
    """
    import torch
    from torch.fx.experimental import proxy_tensor

    config: Any = getattr(torch.fx, "config", None)
    lazy: Any = getattr(getattr(torch.fx, "_lazy_graph_module", None), "_use_lazy_graph_module", nullcontext)
    with ExitStack() as stack:
        if hasattr(config, "do_not_emit_stack_traces"):
            stack.enter_context(patch.object(config, "do_not_emit_stack_traces", True))
        if hasattr(proxy_tensor, "_extract_tensor_metadata"):
            stack.enter_context(patch.object(proxy_tensor, "_extract_tensor_metadata", lambda *_: None))
        stack.enter_context(lazy(True))
        yield


def arguments_of(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what a module is called with; keywords are given as a mapping."""
    import torch

    if isinstance(example_inputs, torch.Tensor):
        return (example_inputs,), {}
    if isinstance(example_inputs, Mapping):
        return (), _apart(dict(example_inputs))
    try:
        return _apart(tuple(example_inputs)), {}
    except TypeError:
        raise NetworkError(
            f"has the example inputs {shown(example_inputs)}; give a tensor, a tuple, or a mapping of keywords"
        ) from None


def _apart(given: Any) -> Any:
    """The arguments with a copy of each tensor that stands twice: the trace would take them for one input."""
    import torch

    seen: set[int] = set()

    def own(each: Any) -> Any:
        if not isinstance(each, torch.Tensor) or id(each) not in seen:
            seen.add(id(each))
            return each
        return each.clone()

    return torch.utils._pytree.tree_map(own, given)


def _reason(error: Exception) -> str:
    """The line of an error that says most: data that choose what is computed have a way out."""
    text = one_line(error)[:300]
    words = ("data-dependent", "GuardOnDataDependentSymNode", "Could not guard", "DataDependent", "unbacked")
    if any(word in text or word in type(error).__name__ for word in words):
        return f"what it computes depends on the numbers of its inputs ({text[:160]}); export a module without that"
    return text


def taken_apart(program: Any, known: Mapping[str, object]) -> Any | None:
    """Return the program with unknown operators as simpler ones, as torch itself has them; None where it has none."""
    import torch

    unknown = {
        node.target
        for node in program.graph.nodes
        if node.op == "call_function" and hasattr(node.target, "_schema") and operator_name(node.target) not in known
    }
    try:
        rules = dict(torch.export.default_decompositions())
        table = {target: rules[target] for target in unknown if target in rules}
        return program.run_decompositions(table) if table else None
    except Exception:  # whatever happens there: the operator stays unknown
        return None


def operator_name(target: Any) -> str:
    """Return the name of an operator, without the library and the trailing mark of one that works in place."""
    name = str(target._schema.name).split("::")[-1]
    return name[:-1] if name.endswith("_") and not name.startswith("_") else name
