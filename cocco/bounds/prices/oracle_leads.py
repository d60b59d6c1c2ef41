"""How far the tensors of a step run ahead of what is read of them, as constraints of the oracle's model.

Where branches of different depth meet, tensors of the shorter one wait: they hold more rows than their readers' windows
need. By the exact rule of tiles (simulator/model/subgraph/tiling.py), for every reader v of u in S, along either axis,

    u_v lead(u)               >=  s_v lead(v) + F_v - s_v - pad(v)
    u_v (size(u) - step(u))   >=  u_v lead(u) - s_v lead(v) + pad(v) - (u_v - 1)

The leads of S meet these, so S holds no less than what is least over all leads that do. A map that is held by rows
takes a row for each, one that is held by columns a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import Asked, SubgraphCosts
from simulator.model.subgraph.subgraph import COLUMNS, ROWS

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


class Window(NamedTuple):
    """How a layer reads a tensor along one axis."""

    reader: int
    stride: int
    upsample: int
    ahead: int  #: reach - stride - padding
    padding: int

    def asks(self, lead: int) -> int:
        """Return how far the tensor runs ahead if the reader does so far."""
        return -(-(self.stride * lead + self.ahead) // self.upsample)


Windows = dict[int, list[Window]]  #: by tensor: layers of the union, then inputs


def windows_of(problem: Problem) -> list[Windows]:
    """Return what is read through windows, by axis: one where both are alike, none where tiles have no leads."""
    axes = [Windows(), Windows()]
    first_input = problem.size
    for network, rules, offset in zip(problem.networks, problem.rules, problem.offsets):
        geometry, count = rules.geometry, len(network.layers)
        for u, readers in enumerate(geometry.readers):
            union = offset + u if u < count else first_input + u - count
            for axis, found in zip((ROWS, COLUMNS), axes):
                each = geometry.stride[axis], geometry.upsample[axis], geometry.reach[axis], geometry.padding[axis]
                for v, stride, upsample, reach, padding in [
                    (r.layer, *[a[r.layer] for a in each]) for r in readers if r.local
                ]:
                    window = Window(offset + v, stride, upsample, reach - stride - padding, padding)
                    found.setdefault(union, []).append(window)
        first_input += len(network.tensors) - count
    if problem.tile_rule == "paper":
        return []
    return axes[:1] if axes[0] == axes[1] else axes


def in_full(problem: Problem) -> Iterator[tuple[int, int]]:
    """Yield each layer and a reader of it that needs it in full, as ids of the union."""
    for network, rules, offset in zip(problem.networks, problem.rules, problem.offsets):
        for u, readers in enumerate(rules.geometry.readers[: len(network.layers)]):
            yield from [(offset + u, offset + reader.layer) for reader in readers if reader.whole]


class Leads:
    """The leads of the tensors that some layers make or read, along one axis."""

    def __init__(self, model: cp_model.CpModel, inside: Mapping[int, cp_model.IntVar], windows: Windows) -> None:
        self.model, self.inside = model, inside
        self.here = {u: [each for each in some if each.reader in inside] for u, some in windows.items()}
        low, high = dict.fromkeys(self.here, 0), dict.fromkeys(self.here, 0)
        for v in inside:
            low[v] = high[v] = 0
        tensors = [*sorted(inside, reverse=True), *(u for u in self.here if u not in inside)]
        for u in tensors:
            for each in self.here.get(u, ()):
                low[u], high[u] = min(low[u], each.asks(low[each.reader])), max(high[u], each.asks(high[each.reader]))
        self.lead = {u: model.new_int_var(low[u], high[u], "") for u in tensors}
        for u, some in self.here.items():
            for each in some:
                asked = each.stride * self.lead[each.reader] + each.ahead
                model.add(each.upsample * self.lead[u] >= asked).only_enforce_if(inside[each.reader])

    def hold(self, u: int, extra: cp_model.IntVar, slack: int, unless: Iterable[cp_model.IntVar]) -> None:
        """Add that a tensor holds so much beyond its step: `slack`, which is counted elsewhere, and `extra`."""
        for each in self.here[u]:
            behind = each.stride * self.lead[each.reader] - each.padding + each.upsample - 1
            held = self.model.add(each.upsample * (extra + slack - self.lead[u]) >= -behind)
            held.only_enforce_if([self.inside[each.reader], *[~x for x in unless]])


def add_leads(
    model: cp_model.CpModel,
    inside: Mapping[int, cp_model.IntVar],
    kept: Mapping[int, cp_model.IntVar],
    costs: SubgraphCosts,
    asked: Mapping[int, Asked],
) -> list[tuple[int, cp_model.IntVar]]:
    """Return bytes and variables that add up to no more than what tensors hold beyond all that layers ask of them."""
    axes = [Leads(model, inside, windows) for windows in windows_of(costs.problem)]
    free: list[cp_model.IntVar] = []  # a layer of S that another one reads in full may run ahead as far as it likes
    for u, v in in_full(costs.problem):
        if u in inside and v in inside:
            free.append(model.new_bool_var(""))
            for w in (u, v):
                model.add_implication(free[-1], inside[w])
    terms: list[tuple[int, cp_model.IntVar]] = []
    for u in axes[0].here if axes else ():
        (height, width), most = costs.whole_step(u), asked.get(u)
        whole = costs.bytes_of(u, (height, width, 0, 0, False))
        row = whole // max(height, width)
        rows = (whole - costs.bytes_of(u, most)) // row if row and most else 0
        if not most or most[4] or rows <= 0 or not axes[0].here[u]:
            continue
        extra, is_whole = model.new_int_var(0, rows, ""), model.new_bool_var("")
        model.add(extra == rows).only_enforce_if(is_whole)
        unless = [is_whole, *free, *([kept[u]] if u in kept else [])]
        skipped = [model.new_bool_var("") for _ in axes]  # held by rows or by columns, whichever takes less
        model.add(sum(skipped) == len(axes) - 1)
        for axis, slack, is_skipped in zip(axes, most[2:4] if len(axes) > 1 else [max(most[2:4])], skipped):
            axis.hold(u, extra, slack, [*unless, is_skipped])
        terms.append((row, extra))
    return terms
