"""The masks of an exported graph that are made of positions alone: of attentions in one operator, and before a softmax.

What makes such a mask is run with torch, on constants alone; what takes an input to know hides nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workloads.importing.masks import hidden_by, mask_of
from workloads.importing.torch.graph.functional import Numbers, changed_by, operator_of
from workloads.importing.values import Value
from workloads.network.layers.mask import Mask

MOST_PAIRS = 2**26  #: of a mask that is run, and looked at; our choice: 8,192 queries and keys
FAR = 12  #: operators between a softmax and the product of its scores, at most; our choice
PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum")


def masks_of(
    program: Any, values: Mapping[Any, Any], made: Mapping[Any, Sequence[str]], softmaxes: set[str]
) -> dict[str, Mask]:
    """Return the masks by the name of the softmax that they are for.

    values: what each node was read as; made: as which layers; softmaxes: which of these are one.
    """
    maps = [node for node, value in values.items() if not (isinstance(value, Value) and value.is_constant)]
    maps += [each for node in program.graph.nodes for each in changed_by(node)]  # a later node reads other numbers
    numbers, found = Numbers(program, maps, MOST_PAIRS), dict[str, Mask]()
    for node, names in made.items():
        mine = [name for name in names if name in softmaxes]
        if not mine:
            continue
        op = operator_of(node)
        seen = _of_operator(numbers, node) if op == "scaled_dot_product_attention" else _before(numbers, node)
        mask = None if seen is None else mask_of(seen)
        if mask is not None:
            found |= dict.fromkeys(mine, mask)
    return found


def _of_operator(numbers: Numbers, node: Any) -> np.ndarray | None:
    """Return which keys each query of an attention in one operator sees, None where that is not known, or all."""
    given = _given(node)
    if given.get("is_causal"):
        queries, keys = (given[name].meta["val"].shape[-2] for name in ("query", "key"))
        return np.tril(np.ones((queries, keys), dtype=bool)) if queries * keys <= MOST_PAIRS else None
    return _seen(numbers.of(given.get("attn_mask")))


def _before(numbers: Numbers, node: Any) -> np.ndarray | None:
    """Return the same of a softmax: by what was added to its scores, or put in their place."""
    seen: np.ndarray | None = None
    for step in _way(numbers, node):
        op, given = operator_of(step), _given(step)
        hides = None
        if op in ("add", "sub", "baddbmm"):
            others = [each for each in step.args[:2] if hasattr(each, "meta") and numbers.of(each) is not None]
            hides = _seen(numbers.of(others[0])) if others and op != "sub" else None
        elif op in ("where", "masked_fill"):
            hides = _chosen(numbers, op, given)
        if hides is not None:
            seen = hides if seen is None else seen & hides
    return seen


def _way(numbers: Numbers, node: Any) -> Iterator[Any]:
    """Yield the operators from a softmax up to the product of its scores."""
    for _ in range(FAR):
        maps = [each for each in node.all_input_nodes if numbers.of(each) is None]
        if len(maps) != 1 or operator_of(maps[0]) in (*PRODUCTS, ""):
            return
        node = maps[0]
        yield node


def _chosen(numbers: Numbers, op: str, given: Mapping[str, Any]) -> np.ndarray | None:
    """Return what a choice leaves of the scores, where what stands in their place hides them."""
    condition = numbers.of(given["condition" if op == "where" else "mask"])
    if condition is None or condition.dtype != bool:
        return None
    if op == "masked_fill":
        value = numbers.of(given["value"])
        return ~condition if value is not None and hidden_by(value).all() else None
    for name, is_seen in (("other", condition), ("self", ~condition)):
        value = numbers.of(given.get(name))
        if value is not None and hidden_by(value).all():
            return is_seen
    return None


def _seen(mask: np.ndarray | None) -> np.ndarray | None:
    """Return which keys a mask leaves: one of booleans says so, numbers are added to the scores."""
    if mask is None or mask.ndim < 2:
        return None
    if mask.dtype == bool:
        return mask
    hidden = hidden_by(mask)
    return ~hidden if ((mask == 0) | hidden).all() else None


def _given(node: Any) -> dict[str, Any]:
    """Return the arguments of a node by name."""
    names = [argument.name for argument in node.target._schema.arguments]
    return dict(zip(names, node.args)) | dict(node.kwargs)
