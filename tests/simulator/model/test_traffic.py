"""Bytes through the buffers, worked by hand (docs/model.md, section 5)."""

from __future__ import annotations

from simulator.model.regions import allocate_regions, derive_tiling
from simulator.model.subgraph import Geometry, Subgraph
from simulator.model.traffic import buffer_bytes, weight_buffer_bytes
from tests.helpers.executions import execute
from tests.helpers.graphs import residual


def test_rows_kept_for_later_are_written_to_side_and_read_back():
    """12x14, tile 2: results 3 * 168, windows 3 * 168 + 572; SIDE of x and 1 keeps 1 and 2 rows of 14, five times."""
    subgraph = Subgraph(Geometry(residual()), range(3))
    tiling = derive_tiling(subgraph, (2, 2))
    found = buffer_bytes(subgraph, tiling, allocate_regions(subgraph, tiling))
    assert found == 3 * 168 + (3 * 168 + 572) + 2 * (1 * 14 * 5 + 2 * 14 * 5)
    counts = execute(residual(), 2)
    assert found == 3 * 168 + sum(counts.window_read.values()) + 2 * sum(counts.side_read.values())


def test_every_update_reads_its_weights_once():
    """42 updates of 1 (1x1) and 2 (3x3), one channel: 42 * 1 + 42 * 9."""
    subgraph = Subgraph(Geometry(residual()), range(3))
    assert weight_buffer_bytes(subgraph, derive_tiling(subgraph, (2, 2))) == 42 * 10
