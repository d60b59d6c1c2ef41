"""The executor catches plans that lie: one plan for each of its checks, wrong in this point and in no other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from simulator import Accelerator, KiB
from simulator.execution.count.pace import Event
from simulator.execution.count.part import Part
from simulator.execution.value import executor
from simulator.execution.value.executor import Counts, Miss
from simulator.execution.verify import Scaled, check_traffic, run_subgraph
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.executions import execute
from tests.helpers.graphs import chain, conv, residual
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

A, B, X = 0, 1, 2


def every_second_row() -> Network:
    """x 6x1 -> a 1x1 -> b 1x1/2, 3x1: nobody reads the last row of a."""
    return Network(
        "second",
        (Tensor("x", 6, 1, 1),),
        (conv("a", "x", (6, 1, 1), 1), Layer("b", "conv", ("a",), 3, 1, 1, 1, stride=(2, 1))),
    )


def row_by_row() -> list[Event]:
    """Return an order that works: a row of x, the same of a, and after every first of two one of b."""
    events = []
    for row in range(6):
        events += [Event(X, row, row + 1), Event(A, row, row + 1)]
        events += [Event(B, row // 2, row // 2 + 1)] if row % 2 == 0 else []
    return events


def run_in_order(monkeypatch, events: list[Event]) -> Counts:
    """Execute it in this order of events, in regions that hold all rows."""
    monkeypatch.setattr(executor, "derive_pace", lambda *given: SimpleNamespace(events=lambda room: events))
    return execute(every_second_row(), 8)


def test_an_order_by_hand_runs(monkeypatch):
    counts = run_in_order(monkeypatch, row_by_row())
    assert counts.dram_read == {X: 6} and counts.dram_written == {B: 3} and counts.updates == {X: 6, A: 6, B: 3}


def test_an_element_that_is_never_made_is_caught_though_nobody_reads_it(monkeypatch):
    """Without the last row of a every load, store and output is as it should be."""
    events = [event for event in row_by_row() if event != Event(A, 5, 6)]
    with pytest.raises(Miss, match=r"tensor 'a': element \(.*5.*\) is never made"):
        run_in_order(monkeypatch, events)


def test_an_element_that_is_made_twice_is_caught_though_it_comes_out_the_same(monkeypatch):
    """Row 0 of a once more: x is still there, and nothing else crosses to DRAM."""
    events = row_by_row()
    with pytest.raises(Miss, match=r"tensor 'a': \[0:1, 0:1\] is made twice"):
        run_in_order(monkeypatch, [*events[:2], Event(A, 0, 1), *events[2:]])


def test_a_side_region_one_column_short_is_caught_where_its_rows_come_back():
    """Tile 2 of a residual block 12x14: with 13 columns SIDE of x has column 13 where column 0 should be."""
    x = 3

    def narrower(regions):
        kept, width = regions[x].side
        assert (kept, width) == (1, 14)
        return regions | {x: regions[x]._replace(side=(kept, 13))}

    with pytest.raises(Miss, match=r"tensor '0': SIDE does not hold \["):
        execute(residual(), 2, change=narrower)


def test_a_position_that_moves_again_or_never_is_caught():
    """a of the chain: 16x16 positions in, as many out."""
    part, counts = Part(chain(), [0]), Counts()
    counts.dram_read[3], counts.dram_written[0] = 256, 256
    check_traffic(part, counts)
    for moved, u, count, what in (
        (counts.dram_read, 3, 255, "loads 255 positions of x, which has 256 to move"),
        (counts.dram_read, 3, 257, "loads 257 positions of x, which has 256 to move"),
        (counts.dram_written, 0, 0, "stores 0 positions of a, which has 256 to move"),
        (counts.dram_written, 1, 1, "stores 1 positions of b, which has 0 to move"),
    ):
        before = moved[u]
        moved[u] = count
        with pytest.raises(Miss, match=what):
            check_traffic(part, counts)
        moved[u] = before


def priced(tile):
    """Return the model of a residual block, its network at full scale, and its price with another tile."""
    chip = Accelerator(shared_buffer=64 * KiB, plans="paper")
    model = SubgraphModel(PricingRules(Geometry(residual()), chip, "exact"), range(3))
    return model, Scaled(residual(), 1), model.price(64 * KiB, 0)._replace(tile=tile)


@pytest.mark.parametrize("tile", [(3, 14), (5, 14), (12, 14), (1, 14), (3, 5), (2, 2)])
def test_a_subgraph_runs_with_the_tile_of_its_price(tile):
    """Bands of the full width, the whole map and any rectangle: outputs are those of the layers one by one."""
    model, scale, price = priced(tile)
    assert run_subgraph(model, price, scale) is False


def test_a_number_that_differs_from_running_layer_by_layer_is_caught():
    """One number of the map that the block writes is not what running layer by layer writes."""
    model, scale, price = priced((3, 14))
    scale.values[2][0, 11, 13] += 1
    with pytest.raises(Miss, match="tensor '3': differs from running the layers one by one"):
        run_subgraph(model, price, scale)
