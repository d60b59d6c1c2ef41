"""Small graphs of operators, worked by hand or drawn at random, and a brute force over orders and residency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import strategies as st

from simulator.schedule.schedule import Operator
from workloads import Builder, Network


def skip_chain() -> tuple[Operator, ...]:
    """x(2) -> a(4) -> b(3) -> c(3) -> d(2), and a -> d."""
    return operators({"x": (2, ""), "a": (4, "x"), "b": (3, "a"), "c": (3, "b"), "d": (2, "ca")})


def two_branches() -> tuple[Operator, ...]:
    """r(1) -> p1(5) -> p2(1), r -> q1(5) -> q2(1), both -> o(1), in the order r p1 q1 p2 q2 o."""
    sizes = {"r": (1, ()), "p1": (5, ("r",)), "q1": (5, ("r",)), "p2": (1, ("p1",)), "q2": (1, ("q1",))}
    return operators(sizes | {"o": (1, ("p2", "q2"))})


def operators(
    nodes: dict[str, tuple[int, Sequence[str]]], parameters: dict[str, int] | None = None
) -> tuple[Operator, ...]:
    """Return operators from name -> (size, operands)."""
    weights = parameters or {}
    return tuple(Operator(name, tuple(reads), size, weights.get(name, 0)) for name, (size, reads) in nodes.items())


def encoder_stack(layers: int = 6, length: int = 128) -> Network:
    """Return post-norm encoder layers, d 512, 8 heads, feed-forward 2048: 13 operators each and the input."""
    b = Builder("encoder")
    x = b.input("tokens", length, 1, 512)
    for i in range(layers):
        q, k, v = (b.fc(f"{i}_{name}", x, 512) for name in "qkv")
        weights = b.softmax(f"{i}_softmax", b.matmul(f"{i}_qk", q, k, heads=8, transpose=True))
        out = b.fc(f"{i}_out", b.matmul(f"{i}_pv", weights, v, heads=8), 512)
        x = b.layernorm(f"{i}_norm1", b.add(f"{i}_add1", [out, x]))
        y = b.fc(f"{i}_fc2", b.fc(f"{i}_fc1", x, 2048), 512)
        x = b.layernorm(f"{i}_norm2", b.add(f"{i}_add2", [y, x]))
    return b.build()


@st.composite
def random_operators(draw: st.DrawFn, most: int = 7, weights: bool = True) -> tuple[Operator, ...]:
    """Return a DAG of a few operators; some are model inputs, some have parameters."""
    count = draw(st.integers(2, most))
    found: list[Operator] = []
    for i in range(count):
        readable = [each.name for each in found]
        reads = draw(st.lists(st.sampled_from(readable), max_size=3, unique=True)) if readable else []
        size = draw(st.integers(1, 6))
        weight = draw(st.sampled_from((0, 0, 1, 3))) if weights and reads else 0
        found.append(Operator(f"n{i}", tuple(reads), size, weight, is_input=not reads))
    return tuple(found)


def orders(found: Sequence[Operator], done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every order in which all operands come before their readers."""
    if len(done) == len(found):
        yield done
    for operator in found:
        if operator.name not in done and all(name in done for name in operator.inputs):
            yield from orders(found, (*done, operator.name))


def least_bytes(found: Sequence[Operator], order: Sequence[str], capacity: int, has_copy: bool = False) -> int | None:
    """Return the least off-chip bytes of an order without addresses: every choice of gaps to leave, by enumeration."""
    by_name = {each.name: each for each in found}
    step = {name: t for t, name in enumerate(order)}
    gaps, base = [], [0] * len(order)
    for name, operator in by_name.items():
        uses = sorted([step[name], *(step[other.name] for other in found if name in other.inputs)])
        base[step[name]] += operator.parameters
        for use in uses:
            base[use] += operator.size
        gaps += [(name, before, after) for before, after in zip(uses, uses[1:]) if after > before + 1]
    best: int | None = None
    for kept in product((False, True), repeat=len(gaps)):
        live = list(base)
        for (name, before, after), is_kept in zip(gaps, kept):
            for t in range(before + 1, after) if is_kept else ():
                live[t] += by_name[name].size
        if max(live) > capacity:
            continue
        away = [name for (name, _, _), is_kept in zip(gaps, kept) if not is_kept]
        spilled = {name for name in away if not (has_copy and by_name[name].is_input)}
        cost = sum(by_name[name].size for name in away) + sum(by_name[name].size for name in spilled)
        best = cost if best is None else min(best, cost)
    return best


def least_of_all(found: Sequence[Operator], capacity: int, has_copy: bool = False) -> int | None:
    """Return the least off-chip bytes over all orders, without addresses."""
    costs = [least_bytes(found, order, capacity, has_copy) for order in orders(found)]
    return min((cost for cost in costs if cost is not None), default=None)
