"""The row operations that are timed are those that the counting run makes from the windows alone."""

from __future__ import annotations

import pytest

from simulator import Accelerator
from simulator.execution.count.part import Part
from simulator.execution.count.scheme import derive_scheme
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.timing.stages import row_operations
from tests.helpers.parts import first_of
from tests.helpers.random_graphs import large_network, random_network


@pytest.mark.parametrize("seed", first_of(range(120), 40))
@pytest.mark.parametrize("tile", [1, 4])
def test_rows_are_made_as_the_counting_run_makes_them(seed, tile):
    network = large_network(seed) if seed % 2 else random_network(seed, whole=seed % 4 == 0)
    chip = Accelerator(shared_buffer=1)
    model = SubgraphModel(PricingRules(Geometry(network), chip, "exact"), range(len(network.layers)))
    found = model.tiling((tile, tile))
    if found is None:
        return
    part = Part(network, range(len(network.layers)))
    scheme = derive_scheme(part, (tile, tile), 8)
    rooms = {u: cells.rows for u, cells in scheme.cells.items()}
    made = row_operations(model.subgraph, found[0])
    before = [dict.fromkeys(part.tensors, 0), *made]
    pieces = {u: [(a[u], b[u]) for a, b in zip(before, made) if b[u] > a[u]] for u in part.tensors}
    counted = {u: [] for u in part.tensors}
    for event in scheme.rows.events(rooms):
        counted[event.tensor].append((event.start, event.stop))
    assert pieces == counted
