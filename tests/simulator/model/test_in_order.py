"""Recurrent layers and scans, alike: where they have no price, and that no mapping runs their rows side by side."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, Partition, evaluate
from simulator.mapping.mappers import Enumerate
from tests.helpers.command_line import cocco
from tests.helpers.in_order import cell, mamba
from workloads.errors import NetworkError

NETWORKS = {"recurrent": cell, "scan": mamba}


@pytest.mark.parametrize("op", NETWORKS)
@pytest.mark.parametrize(
    "chip, rule",
    [
        (Accelerator(shared_buffer=4096, cores=2), "several cores"),
        (Accelerator(shared_buffer=4096, mapper=Enumerate(tiled=True)), "looks at every tile"),
    ],
)
def test_what_has_no_price_says_why(op, chip, rule):
    network = NETWORKS[op]()
    with pytest.raises(NetworkError, match=f"{network.layers[0].name!r} has no price on .*{rule}.*{op}"):
        evaluate(network, Partition.layerwise(network), chip)


@pytest.mark.parametrize("op", NETWORKS)
def test_no_mapping_runs_its_rows_side_by_side(op, tmp_path):
    workloads.save(NETWORKS[op](), tmp_path / "one.json")
    found = cocco("map", tmp_path / "one.json")
    assert f"is {op}" in found.stdout + found.stderr and "parallel" not in found.stdout
