"""Sums of products by letters (einsum): a product of two maps, of a map with weights, or element by element."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from workloads.errors import NetworkError, shown
from workloads.importing.families.combining import join, reduce
from workloads.importing.families.moving import reshape, transpose
from workloads.importing.families.multiplying import product
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, derived

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ELLIPSIS = "..."


def einsum(sketch: Sketch, equation: str, values: Sequence[Value]) -> Value:
    """Return the sum of products that an equation names; more than two operands are multiplied from left to right.

    Letters of both operands that the result keeps are a batch (heads), those that it has not are summed over; what only
    one operand has are its rows.

    Examples
    --------
    >>> from workloads.importing.sketch import Sketch
    >>> sketch = Sketch("attention")
    >>> queries, keys = (sketch.input(name, (1, 7, 4, 8), [1]) for name in ("queries", "keys"))
    >>> einsum(sketch, "bqhd,bkhd->bhqk", [queries, keys]).shape
    (1, 4, 7, 7)
    >>> [(layer.op, layer.groups, layer.macs) for layer in sketch.layers]  # 4 heads x 7 x 7 x 8
    [('matmul', 4, 1568)]
    """
    terms, result = _parsed(equation, [value.rank for value in values])
    extents = _extents(terms, values)
    if all(value.is_constant for value in values) and not _has_weights(sketch, values):
        return derived(tuple(extents[letter] for letter in result), None, values)
    values = [sketch.fed(value) if value.is_given else value for value in values]
    pairs = [_simple(sketch, term, value, extents) for term, value in zip(terms, values)]
    found = pairs[0]
    for i, pair in enumerate(pairs[1:], 2):
        wanted = set(result).union(*(term for term, _ in pairs[i:]))
        found, pair = _summed(sketch, found, wanted | set(pair[0])), _summed(sketch, pair, wanted | set(found[0]))
        found = _of_two(sketch, found, pair, wanted, extents)
    return _in_order(sketch, _summed(sketch, found, set(result)), result, extents)


Term = tuple[str, Value]  #: letters, one for each dimension of the value


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, three dots as letters that are free."""
    text = "".join(equation.split())
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise NetworkError(f"has the equation {shown(equation)} for {len(ranks)} arrays")
    wide = max((rank - len(term) + 3 for rank, term in zip(ranks, terms) if ELLIPSIS in term), default=0)
    free = [letter for letter in LETTERS if letter not in text][: max(0, wide)]
    found = []
    for rank, term in zip(ranks, terms):
        own = rank - len(term) + 3 if ELLIPSIS in term else 0
        found.append(term.replace(ELLIPSIS, "".join(free[len(free) - own :] if own > 0 else ""), 1))
        if len(found[-1]) != rank or len(set(found[-1])) < rank or not set(found[-1]) <= set(LETTERS):
            raise NetworkError(f"has the equation {shown(equation)}, of which {shown(term)} is not known")
    every = "".join(found)
    if arrow:
        result = right.replace(ELLIPSIS, "".join(free), 1)
    else:
        single = [each for each in set(every) - set(free) if every.count(each) == 1]
        result = "".join(free) + "".join(sorted(single))
    if len(set(result)) < len(result) or not set(result) <= set(every):
        raise NetworkError(f"has the equation {shown(equation)}, of which {shown(right)} is not known")
    return found, result


def _extents(terms: Sequence[str], values: Sequence[Value]) -> dict[str, int]:
    """The extent of each letter; one of 1 is repeated to that of the other operand."""
    found: dict[str, int] = {}
    for term, value in zip(terms, values):
        for letter, extent in zip(term, value.shape):
            if extent != 1 and found.get(letter, 1) not in (1, extent):
                raise NetworkError(f"has {extent} and {found[letter]} for the letter {letter}")
            found[letter] = found.get(letter, 1) if extent == 1 else extent
    return found


def _has_weights(sketch: Sketch, values: Sequence[Value]) -> bool:
    """Whether stored weights meet what is given: a layer, not a constant."""
    stored = any(value.origins & sketch.matrices.keys() and not value.is_given for value in values)
    return stored and any(value.is_given for value in values)


def _simple(sketch: Sketch, term: str, value: Value, extents: dict[str, int]) -> Term:
    """The operand without the dimensions along which it is repeated."""
    kept = [i for i, letter in enumerate(term) if value.shape[i] == extents[letter]]
    if len(kept) == len(term):
        return term, value
    return "".join(term[i] for i in kept), reshape(sketch, value, tuple(value.shape[i] for i in kept))


def _summed(sketch: Sketch, pair: Term, wanted: set[str]) -> Term:
    """The operand summed over the letters that nothing else has."""
    term, value = pair
    gone = [i for i, letter in enumerate(term) if letter not in wanted]
    if not gone:
        return pair
    return "".join(each for each in term if each in wanted), reduce(sketch, value, gone, False)


def _of_two(sketch: Sketch, first: Term, second: Term, wanted: set[str], extents: dict[str, int]) -> Term:
    """The product of two operands, summed over what both have and nothing else wants."""
    both = [letter for letter in first[0] if letter in second[0]]
    batch = "".join(letter for letter in both if letter in wanted)
    inner = "".join(letter for letter in both if letter not in wanted)
    left, right = ("".join(letter for letter in term if letter not in both) for term, _ in (first, second))
    if not inner:  # element by element
        letters = first[0] + right
        return letters, join(sketch, "mul", [_in_order(sketch, each, letters, extents) for each in (first, second)])
    sizes = [prod(extents[letter] for letter in letters) for letters in (left, inner, right)]
    heads = tuple(extents[letter] for letter in batch)
    rows = _in_order(sketch, first, batch + left + inner, extents)
    columns = _in_order(sketch, second, batch + inner + right, extents)
    made = product(
        sketch, reshape(sketch, rows, (*heads, sizes[0], sizes[1])), reshape(sketch, columns, (*heads, *sizes[1:]))
    )
    letters = batch + left + right
    return letters, reshape(sketch, made, tuple(extents[letter] for letter in letters))


def _in_order(sketch: Sketch, pair: Term, letters: str, extents: dict[str, int]) -> Value:
    """The value with a dimension for each of the letters, 1 for those that it has not."""
    term, value = pair
    order = [term.index(letter) for letter in letters if letter in term]
    shape = tuple(extents[letter] if letter in term else 1 for letter in letters)
    return reshape(sketch, transpose(sketch, value, order), shape)
