"""What subgraphs hold: MAIN and SIDE by hand, and that the parts sum to what was priced, streamed layers too."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.model.layer.loop_layer import round_up
from simulator.model.layer.loops import meet
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.partition import connected_parts
from simulator.views.occupancy import Occupancy, occupancies
from tests.helpers.graphs import chain
from tests.helpers.random_graphs import random_network


def whole(network, accelerator, rule="exact"):
    """Price the network as one subgraph, or as one for each part that nothing joins to the others."""
    parts = connected_parts(network, range(len(network.layers)))
    return evaluate(network, Partition.from_ids(network, parts), accelerator, rule)


@pytest.mark.parametrize(
    ("activations", "expected"),
    [
        (832, Occupancy(3968, 128 + 144 + 16 + 32, 256 + 256)),
        (1392, Occupancy(3968, 288 + 400 + 64 + 128, 256 + 256)),
        (9216, Occupancy(3968, 2048 + 4096 + 1024 + 2048, 0)),
    ],
)
def test_chain_of_three_convolutions(activations: int, expected: Occupancy):
    """The regions of test_regions.py for tiles 1, 2 and 8; weights 3x3x8x16 + 3x3x16x16 + 16x32 = 3968."""
    priced = whole(chain(), Accelerator(global_buffer=activations, weight_buffer=4096))
    assert occupancies(chain(), priced) == (expected,)


def test_four_cores_hold_bands_of_the_maps_or_a_quarter_of_the_channels():
    """Four cores, 16 columns: bands of 4, so x is 16x4x8 = 512, a 1024, b 256 and c 512, without SIDE; weights / 4."""
    priced = whole(chain(), Accelerator(global_buffer=9216, weight_buffer=992, cores=4))
    assert [each.scheme for each in priced.subgraphs] == ["rotated"]
    assert occupancies(chain(), priced) == (Occupancy(992, 512 + 1024 + 256 + 512, 0),)


@pytest.mark.parametrize("rule", ["exact", "paper"])
@pytest.mark.parametrize(
    "chip",
    [
        Accelerator(shared_buffer=64 * KiB),
        Accelerator(shared_buffer=8 * KiB, cores=2, batch=3),
        Accelerator(global_buffer=16 * KiB, weight_buffer=16 * KiB),
    ],
)
@pytest.mark.parametrize("name", ["googlenet", pytest.param("gpt", marks=pytest.mark.slow)])
def test_parts_of_every_layer_sum_to_what_was_priced(name: str, chip: Accelerator, rule: str):
    """SIDE is what the price was made of: that of the tile if all is held, else that of the way it streams."""
    network = workloads.load(name)
    priced = evaluate(network, Partition.layerwise(network), chip, rule)
    rules = PricingRules(Geometry(network), chip, rule)
    for group, cost, held in zip(
        Partition.layerwise(network).subgraphs, priced.subgraphs, occupancies(network, priced)
    ):
        assert held.weight_bytes == cost.weight_bytes
        assert held.main_bytes + held.side_bytes == cost.activation_bytes
        assert held.main_bytes > 0
        assert held.side_bytes == side_bytes(SubgraphModel(rules, group), chip)


def side_bytes(model: SubgraphModel, chip: Accelerator) -> int:
    """Return the SIDE bytes of what the pricing chose, told by its stream."""
    price = model.price(chip.activation_capacity, chip.weight_capacity)
    if price.loops is not None:
        layer = model.rules.loop_layer(model.subgraph.layers[0])
        rows, columns = meet(layer.rows, price.tile[0]), meet(layer.columns, price.tile[1])
        channels = {"apart": round_up(layer, price.loops.apart)}.get(layer.kind, layer.part.room)
        return price.at_once * rows.live * columns.union * channels * (price.loops.mode == "side")
    regions = model.residency(price).regions
    return sum(region.side_bytes for region in regions.values())


def test_parts_sum_on_random_graphs():
    fitting = 0
    for seed in range(300):
        network = random_network(seed, whole=True)
        priced = whole(network, Accelerator(global_buffer=600 + 13 * seed, weight_buffer=4096, batch=1 + seed % 3))
        for cost, held in zip(priced.subgraphs, occupancies(network, priced)):
            assert held.main_bytes + held.side_bytes == cost.activation_bytes
            fitting += held.side_bytes > 0
    assert fitting > 5  # bands of the full width have none


def test_evaluation_of_another_network_is_refused():
    priced = whole(chain(), Accelerator(shared_buffer=2**20))
    with pytest.raises(ValueError, match="of network 'chain', not of 'vgg16'"):
        occupancies(workloads.load("vgg16"), priced)
