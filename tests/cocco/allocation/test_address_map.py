"""Address maps of partitions: by hand, against their lower bound, and the search that is checked by them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cocco import SharedBuffer, explore
from cocco.allocation.address_map import AddressMap, address_map
from simulator import Accelerator, KiB, Partition
from simulator.allocation.buffers import Allocation
from simulator.allocation.judge import check_allocation
from simulator.model.buffer_plan import plan_buffers
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_graphs import random_network
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def convolutions(*channels: int) -> Network:
    """1x1 convolutions in a row on a map of 4x4; weights of channels[i] x channels[i + 1] bytes."""
    layers = [
        Layer(f"n{i}", "conv", (f"n{i - 1}" if i else "x",), 4, 4, after, before)
        for i, (before, after) in enumerate(zip(channels, channels[1:]))
    ]
    return Network("row", (Tensor("x", 4, 4, channels[0]),), tuple(layers))


def map_of(network: Network, partition: Partition, accelerator: Accelerator) -> AddressMap:
    found = address_map(network, partition, accelerator)
    assert found is not None
    return found


def test_two_subgraphs_in_a_shared_memory():
    """n0: x 128, n0 128, weights 15 -> 16; n1: 128, 128, 25 -> 32."""
    network = convolutions(3, 5, 5)
    found = map_of(network, Partition.layerwise(network), Accelerator(shared_buffer=304))
    (memory,) = found.memories
    assert (memory.status, memory.height_bytes) == ("optimal", 288)
    assert (memory.needed_bytes, memory.pairs) == ((272, 288), (3, 3))
    sizes = {(placed.tensor, placed.kind): placed.end - placed.start for placed in memory.regions[0]}
    assert sizes == {("n0", "main"): 128, ("x", "main"): 128, (None, "weights"): 16}
    assert all(placed.start % 8 == 0 == placed.end % 8 for regions in memory.regions for placed in regions)


def test_words_can_ask_for_more_than_bytes():
    """281 bytes hold 128 + 128 + 25 = 281 by their sum, but not in words of 8: 288."""
    network = convolutions(3, 5, 5)
    found = map_of(network, Partition.layerwise(network), Accelerator(shared_buffer=281))
    (memory,) = found.memories
    assert (memory.status, memory.height_bytes, memory.least_bytes) == ("infeasible", None, 288)
    assert memory.short == (1,) and not found.fits and memory.regions == ()


def test_no_map_where_the_bytes_do_not_fit():
    network = convolutions(3, 5, 5)
    assert address_map(network, Partition.from_groups(network, [["n0", "n1"]]), Accelerator(shared_buffer=60)) is None


@each_seed(20, 40)
def test_maps_reach_their_lower_bound_and_pass_the_judge(seed: int):
    """Without fragmentation, streamed layers included: docs/allocation.md says why it must be so."""
    network = random_network(seed)
    for machine in (
        Accelerator(shared_buffer=(1000, 1024, 2048, 64 * KiB)[seed % 4], cores=1 + seed % 3),
        Accelerator(global_buffer=4 * KiB, weight_buffer=(3 * KiB, 4 * KiB, 8 * KiB)[seed % 3]),
    ):
        partition = Partition.layerwise(network)
        plan, found = plan_buffers(network, partition, machine), map_of(network, partition, machine)
        assert plan is not None
        for each in found.memories:
            assert each.least_bytes == each.lower_bound_bytes == max(each.needed_bytes)
            assert each.fits == (max(each.needed_bytes) <= each.capacity_bytes)
            if each.fits:
                assert not check_allocation(plan.buffers[each.memory], Allocation(each.addresses), each.capacity_bytes)


def test_a_memory_of_whole_words_always_has_a_map():
    """Activations are multiples of 8, so one weights buffer that is rounded up still has its words."""
    for seed in range(60):
        network = random_network(seed)
        for capacity in (2048, 4096, 8192):
            partition = Partition.layerwise(network)
            assert map_of(network, partition, Accelerator(shared_buffer=capacity, cores=1 + seed % 2)).fits


def test_the_check_splits_what_needs_too_many_pairs():
    """4 tensors are within 4 regions, but in a shared memory the weights need a pair too."""
    network = convolutions(8, 8, 8, 8)
    space = SharedBuffer(KiB, 4 * KiB, KiB)
    asked = {"space": space, "samples": 200, "max_regions": 4, "keep": "none"}
    plain = explore(network, **asked)
    assert map_of(network, plain.plan, plain.accelerator).failing() == [0] and plain.splits is None
    checked = explore(network, **asked, check_addresses=True)
    assert map_of(network, checked.plan, checked.accelerator).failing() == []
    assert checked.splits == 1 and len(checked.plan) == 2 and checked.status == "feasible"
    assert checked.cost > plain.cost and checked.evaluation.fits
    dearer = checked.evaluation.energy_pj - plain.evaluation.energy_pj
    assert checked.cost == pytest.approx(plain.cost + 0.002 * dearer)


@pytest.mark.parametrize("samples", first_of([60, 200], 1))
def test_the_check_leaves_an_answer_with_addresses_as_it_is(samples):
    network = convolutions(8, 8, 8, 8)
    plain, checked = (explore(network, samples=samples, check_addresses=check) for check in (False, True))
    assert (checked.splits, checked.cost, checked.plan, checked.status) == (0, plain.cost, plain.plan, plain.status)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    nodes = [{"name": "x", "op": "input", "inputs": [], "out_shape": [1, 3, 4, 4]}]
    for name, source, before in (("n0", "x", 3), ("n1", "n0", 5)):
        nodes.append(
            {"name": name, "op": "conv", "inputs": [source], "out_shape": [1, 5, 4, 4], "kernel": [1, 1],
             "stride": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1], "groups": 1, "in_channels": before}
        )  # fmt: skip
    (tmp_path / "row.json").write_text(json.dumps({"format": "layer-graph/1", "name": "row", "nodes": nodes}))
    return tmp_path


HARDWARE = ("evaluate", "row.json", "--partition", "layerwise")


def test_evaluate_prints_and_writes_the_map_and_executes_in_it(files: Path):
    words = (*HARDWARE, "--shared-buffer", "304", "--addresses", "--verify", "-o", "map.csv", "--json")
    content = answer(cocco(*words, folder=files))
    assert content["verified"] is True and content["addresses"]["fits"] is True
    (memory,) = content["addresses"]["memories"]
    assert (memory["height_bytes"], memory["fragmentation"], memory["pairs"]) == (288, 0, [3, 3])
    rows = list(csv.DictReader((files / "map.csv").open()))
    assert len(rows) == 6 and {row["kind"] for row in rows} == {"main", "weights"}
    assert {"totals", "subgraphs"} <= content.keys()
    text = cocco(*HARDWARE, "--shared-buffer", "304", "--addresses", "--verify", folder=files).stdout
    assert "fits; highest address 288" in text and "at these addresses" in text


def test_evaluate_says_where_the_map_does_not_fit(files: Path):
    finished = cocco(*HARDWARE, "--shared-buffer", "281", "--addresses", folder=files)
    assert finished.returncode == 1
    assert "does NOT fit (proved); the least capacity with a map is 288 bytes" in finished.stdout
    assert "Subgraph 1 needs 288 bytes" in finished.stdout


def test_explore_says_it_too_and_still_ends_well(files: Path):
    words = ("explore", "row.json", "--range", "281:281:8", "--samples", "50", "--alpha", "0")
    content = answer(cocco(*words, "--addresses", "--json", "-o", "out", folder=files))
    saved = json.loads((files / "out" / "result.json").read_text())["result"]
    assert saved["addresses"] == content["addresses"] and (files / "out" / "addresses.csv").exists()
    checked = answer(cocco(*words, "--check-addresses", "--json", folder=files))
    assert checked["splits"] == 0 or checked["addresses"]["fits"]


def test_an_output_without_addresses_is_refused(files: Path):
    assert_malformed(cocco(*HARDWARE, "--shared-buffer", "1KB", "-o", "map.csv", folder=files), ["-o", "--addresses"])
    wrong = cocco(*HARDWARE, "--shared-buffer", "1KB", "--addresses", "-o", "map.txt", folder=files)
    assert_malformed(wrong, ["-o", ".csv", "map.txt"])
