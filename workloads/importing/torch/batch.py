"""A batch in the example inputs: samples that do not see each other, of which the first stands for all."""

from __future__ import annotations

from typing import Any

from workloads.importing.torch.export import arguments_of, without_fast_paths


def first_sample(module: Any, example_inputs: Any) -> tuple[Any, int]:
    """Return the example inputs with the first sample alone, and how many there were; as they are, and 1, where none.

    All arrays of two dimensions and more have the same first extent, and what the module makes of the first sample
    alone is what it makes of it beside the others, on random numbers: nodes of a graph and steps of a sequence see
    each other. A sequence that stands before a batch of 1 is none.
    """
    import torch

    given = arguments_of(example_inputs)
    arrays = [each for each in torch.utils._pytree.tree_leaves(given) if isinstance(each, torch.Tensor)]
    extents = {each.shape[0] for each in arrays if each.ndim > 1}
    if len(extents) != 1 or (count := extents.pop()) < 2 or any(each.shape[1] == 1 for each in arrays if each.ndim > 2):
        return example_inputs, 1
    numbers = torch.Generator().manual_seed(0)

    def drawn(each: Any) -> Any:
        is_real = isinstance(each, torch.Tensor) and each.is_floating_point()
        return torch.randn(each.shape, generator=numbers).to(each.dtype) if is_real else each

    def first(each: Any) -> Any:
        return each[:1] if isinstance(each, torch.Tensor) and each.ndim and each.shape[0] == count else each

    every, was_training = torch.utils._pytree.tree_map(drawn, given), module.training
    try:
        module.eval()
        with torch.no_grad(), without_fast_paths():
            whole, alone = (_made(module, each) for each in (every, torch.utils._pytree.tree_map(first, every)))
        is_batch = bool(whole) and all(
            torch.allclose(first(beside), by_itself, rtol=1e-3, atol=1e-4, equal_nan=True)
            for beside, by_itself in zip(whole, alone, strict=True)
        )
    except Exception:  # whatever a module does when it runs: then it has no such batch
        is_batch = False
    finally:
        module.train(was_training)
    if not is_batch:
        return example_inputs, 1
    arguments, keywords = torch.utils._pytree.tree_map(first, given)
    return (keywords or arguments), count


def _made(module: Any, given: Any) -> list[Any]:
    import torch

    arguments, keywords = given
    found = torch.utils._pytree.tree_leaves(module(*arguments, **keywords))
    return [each for each in found if isinstance(each, torch.Tensor)]
