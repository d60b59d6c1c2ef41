"""What torch itself counts: multiplications and additions of a module that runs without numbers, and of each node."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any
from unittest.mock import patch

from workloads.importing.torch.export import arguments_of, without_fast_paths
from workloads.network.layers.state import STEPS


def counted_macs(module: Any, example_inputs: Any) -> int | None:
    """Return the MACs that torch's own counter gives one call of a module on tensors without numbers.

    With those of experts, of vectors and of recurrent layers, which it leaves out; None where what the module computes
    depends on numbers.
    """
    import torch
    from torch._subclasses import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)

    def fake(each: Any) -> Any:
        return mode.from_tensor(each) if isinstance(each, torch.Tensor) else each

    arguments, keywords = torch.utils._pytree.tree_map(fake, arguments_of(example_inputs))
    stored = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    tensors = {name: fake(tensor) for name, tensor in stored}
    was_training = module.training
    for has_gradients in (False, True):  # the counter follows some modules only with gradients
        try:
            module.eval()
            with mode, torch.set_grad_enabled(has_gradients), _as_exported(), _counter() as counter:
                torch.func.functional_call(module, tensors, arguments, keywords)
            return int(counter.get_total_flops()) // 2
        except Exception:  # whatever a module does when it runs
            continue
        finally:
            module.train(was_training)
    return None


def macs_of(node: Any) -> int:
    """Return the MACs that torch's counter gives one node of an exported program; 0 where it cannot run alone."""
    import torch

    def made(each: Any) -> Any:
        return each.meta["val"] if isinstance(each, torch.fx.Node) else each

    arguments, keywords = torch.utils._pytree.tree_map(made, (list(node.args), dict(node.kwargs)))
    tensors = [each for each in torch.utils._pytree.tree_leaves(arguments) if hasattr(each, "fake_mode")]
    if not tensors:
        return 0
    try:
        with torch.no_grad(), tensors[0].fake_mode, without_fast_paths(), _counter() as counter:
            node.target(*arguments, **keywords)
        return int(counter.get_total_flops()) // 2
    except Exception:  # whatever happens there
        return 0


@contextmanager
def _as_exported() -> Iterator[None]:
    """Let a module that asks take the path that it takes when it is exported."""
    import torch

    with without_fast_paths(), patch.object(torch.compiler, "_is_exporting_flag", True):
        yield


@contextmanager
def _counter() -> Iterator[Any]:
    """Torch's counter, attention as the products that it is made of; what fails is no news."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    log = logging.getLogger("torch._subclasses.fake_tensor")
    was_disabled, log.disabled = log.disabled, True
    try:
        counter = FlopCounterMode(display=False, custom_mapping=dict(_left_out()))
        with sdpa_kernel(SDPBackend.MATH), counter:
            yield counter
    finally:
        log.disabled = was_disabled


def _left_out() -> Mapping[Any, Any]:
    """Operations that torch's counter leaves out: rows with the weights of their experts, vectors, states over time."""
    import torch

    def grouped(rows: Any, weights: Any, *_: Any, **__: Any) -> int:
        return int(2 * rows[0] * rows[1] * weights[-1])

    def vector(first: Any, second: Any, *_: Any, **__: Any) -> int:
        return int(2 * first[0] * (first[1] if len(first) > 1 else 1))

    def added_vector(_: Any, first: Any, *__: Any, **___: Any) -> int:
        return int(2 * first[0] * first[1])

    def recurrent(value: Any, inner: Any, outer: Any, *_: Any, **__: Any) -> int:
        return int(2 * value[0] * value[1] * (inner[0] * inner[1] + outer[0] * outer[1]))

    def scan(u: Any, _: Any, weights: Any, __: Any, c: Any, **___: Any) -> int:
        decays = prod(weights) if weights else 0
        return int(2 * u[0] * u[1] * (STEPS * u[2] * c[2] + decays))

    rules = {
        "aten._grouped_mm": grouped, "transformers.grouped_mm_fallback": grouped, "aten.mv": vector,
        "aten.dot": vector, "aten.addmv": added_vector, "aten.mkldnn_rnn_layer": recurrent,
        "cocco.scan": scan,
    }  # fmt: skip
    places = {name: name.split(".") for name in rules}
    found = {name: getattr(getattr(torch.ops, library), op, None) for name, (library, op) in places.items()}
    return {operator: rules[name] for name, operator in found.items() if operator is not None}
