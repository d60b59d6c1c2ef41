"""Buffers of a partition over time, by hand; and partitions executed in one array of bytes for each memory."""

from __future__ import annotations

import pytest

from simulator import Accelerator, KiB, Partition
from simulator.allocation.judge import lower_bound
from simulator.execution.cores.addressed import AddressedCores
from simulator.execution.count.miss import Miss
from simulator.execution.verify import Scaled, run_subgraph, verify
from simulator.model.buffer_plan import BufferPlan, plan_buffers
from simulator.model.priced import price_partition
from simulator.model.pricing import PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.regions import activation_bytes
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.partition import connected_parts
from tests.helpers.graphs import chain, residual
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_graphs import random_network


def plan_of(network, partition, accelerator) -> BufferPlan:
    plan = plan_buffers(network, partition, accelerator)
    assert plan is not None
    return plan


def stacked(plan: BufferPlan) -> dict:
    """The construction of docs/allocation.md: even weights from 0, odd ones down from the bound, regions between."""
    found = {}
    for memory, buffers in plan.buffers.items():
        top, addresses = lower_bound(buffers), {}
        for buffer in buffers:
            if buffer.id.count("/") == 1:
                is_odd = int(buffer.id.split("/")[0]) % 2
                addresses[buffer.id] = top - buffer.size if is_odd else 0
        for step in range(len(plan.holdings)):
            live = plan.live(memory, step)
            at = max((b.size for b in live if addresses.get(b.id) == 0), default=0)
            for buffer in live:
                if buffer.id not in addresses:
                    addresses[buffer.id] = at
                    at += buffer.size
        found[memory] = addresses
    return found


def parts(network, seed):
    """Some valid partition: everything in one, or layer by layer."""
    if seed % 3 == 0:
        return Partition.layerwise(network)
    return Partition.from_ids(network, connected_parts(network, range(len(network.layers))))


def test_the_chain_of_the_model_in_a_shared_memory():
    """Tile 64: x 2048, a 4096, b 1024 and weights 3456, then b 1024, c 2048 and weights 512."""
    cut = Partition.from_groups(chain(), [["a", "b"], ["c"]])
    free = plan_of(chain(), cut, Accelerator(shared_buffer=16 * KiB))
    assert [(b.id, b.lower, b.upper, b.size) for b in free.buffers["shared"]] == [
        ("0/a/main", 0, 1, 4096), ("0/b/main", 0, 1, 1024), ("0/x/main", 0, 1, 2048), ("0/weights", 0, 1, 3456),
        ("1/c/main", 1, 2, 2048), ("1/b/main", 1, 2, 1024), ("1/weights", 1, 2, 512),
    ]  # fmt: skip
    assert lower_bound(free.buffers["shared"]) == 10624
    separate = plan_of(chain(), cut, Accelerator(global_buffer=16 * KiB, weight_buffer=8 * KiB))
    assert {memory: lower_bound(each) for memory, each in separate.buffers.items()} == {"global": 7168, "weight": 3456}


def test_side_stands_behind_main_in_the_buffer_of_its_tensor():
    """Tile 2 of a residual block 12x14, 600 bytes: x holds MAIN 3x3 and SIDE 1x14, both of 8 bytes an element."""
    plan = plan_of(residual(), parts(residual(), 1), Accelerator(global_buffer=620, weight_buffer=64))
    sizes = {buffer.id: buffer.size for buffer in plan.buffers["global"]}
    regions = plan.holdings[0].regions
    assert sizes["0/0/main"] == regions[3].main_bytes + regions[3].side_bytes
    assert regions[3].side_bytes > 0 and sizes["0/3/main"] == regions[2].main_bytes


@each_seed(30, 60)
def test_regions_of_single_layers_sum_to_what_was_priced(seed):
    network = random_network(seed, whole=True)
    for capacity in (40, 160, 600, 4000):
        rules = PricingRules(Geometry(network), Accelerator(shared_buffer=capacity), "exact")
        for v in range(len(network.layers)):
            model = SubgraphModel(rules, [v])
            price = model.price(capacity, 0)
            if isinstance(price, Shortage):
                assert price.needed_bytes > capacity
                continue
            assert activation_bytes(model.residency(price).regions) == price.activation_bytes


@each_seed(20, 40)
def test_random_plans_run_in_one_array_of_bytes(seed):
    """At the addresses of the construction, whose height is the bound."""
    network = random_network(seed, whole=seed % 2 == 1)
    machine = Accelerator(shared_buffer=(96, 400, 1600, 8000)[seed % 4], batch=1 + seed % 2)
    plan = plan_buffers(network, parts(network, seed), machine)
    if plan is None or lower_bound(plan.buffers["shared"]) > plan.capacity("shared"):
        plan = plan_of(network, Partition.layerwise(network), machine := Accelerator(shared_buffer=8000))
    partition = Partition.from_groups(network, [holding.names for holding in plan.holdings])
    assert verify(network, partition, machine, addresses=stacked(plan)).message == ""


@pytest.mark.parametrize("seed", first_of(range(40), 16))
def test_an_overlap_fails(seed):
    """Any two buffers that live together, the second moved onto the first."""
    network = random_network(seed)
    machine = Accelerator(shared_buffer=64 * KiB)
    partition = parts(network, seed)
    if plan_buffers(network, partition, machine) is None:  # paths of different stride
        partition = Partition.layerwise(network)
    plan = plan_of(network, partition, machine)
    addresses = stacked(plan)
    assert verify(network, partition, machine, addresses=addresses).verified
    together = [live for step in range(len(plan.holdings)) if len(live := plan.live("shared", step)) > 1]
    first, second = together[seed % len(together)][:2]
    addresses["shared"][second.id] = addresses["shared"][first.id]
    failed = verify(network, partition, machine, addresses=addresses)
    assert not failed.verified and failed.message


def test_a_shift_of_one_word_into_the_neighbour_fails():
    """The weights of the first subgraph, 3456 bytes, lie below its maps."""
    cut = Partition.from_groups(chain(), [["a", "b"], ["c"]])
    machine = Accelerator(shared_buffer=16 * KiB)
    addresses = stacked(plan_of(chain(), cut, machine))
    lowest = min(
        (name for name in addresses["shared"] if name.startswith("0/") and name != "0/weights"),
        key=lambda name: addresses["shared"][name],
    )
    assert (addresses["shared"]["0/weights"], addresses["shared"][lowest]) == (0, 3456)
    addresses["shared"][lowest] -= 8
    assert "overwritten" in verify(chain(), cut, machine, addresses=addresses).message


def test_a_region_beyond_the_memory_fails():
    machine = Accelerator(shared_buffer=16 * KiB)
    addresses = stacked(plan_of(chain(), parts(chain(), 1), machine))
    addresses["shared"]["0/c/main"] = 16 * KiB - 8
    assert (
        "no address within the shared memory"
        in verify(chain(), parts(chain(), 1), machine, addresses=addresses).message
    )


def on_cores(seed):
    """Return a random network, a partition of it that fits several cores, the machine and the plan of its buffers."""
    network = random_network(seed, whole=seed % 2 == 1)
    many = {"cores": (2, 3, 4, 7)[seed % 4], "batch": 1 + seed % 2}
    machine, partition = Accelerator(shared_buffer=(400, 1600, 8000)[seed % 3], **many), parts(network, seed)
    plan = plan_buffers(network, partition, machine)
    if plan is None or lower_bound(plan.buffers["shared"]) > plan.capacity("shared"):
        machine, partition = Accelerator(shared_buffer=64 * KiB, **many), Partition.layerwise(network)
        plan = plan_of(network, partition, machine)
    return network, Partition.from_groups(network, [each.names for each in plan.holdings]), machine, plan


@pytest.mark.parametrize("seed", first_of(range(40), 16))
def test_random_plans_run_in_an_array_of_bytes_for_each_core(seed):
    network, partition, machine, plan = on_cores(seed)
    assert verify(network, partition, machine, addresses=stacked(plan)).message == ""


@each_seed(20, 24)
def test_an_overlap_fails_on_several_cores(seed):
    network, partition, machine, plan = on_cores(seed)
    addresses = stacked(plan)
    together = [live for step in range(len(plan.holdings)) if len(live := plan.live("shared", step)) > 1]
    first, second = together[seed % len(together)][:2]
    addresses["shared"][second.id] = addresses["shared"][first.id]
    failed = verify(network, partition, machine, addresses=addresses)
    assert not failed.verified and failed.message


@pytest.mark.parametrize("core", range(3))
def test_an_overlap_in_any_core_fails(core):
    """Columns of three cores: bytes of one core changed behind its back, in the step that uses them."""
    machine = Accelerator(shared_buffer=16 * KiB, cores=3)
    partition = parts(chain(), 1)
    plan = plan_of(chain(), partition, machine)
    priced = price_partition(chain(), partition, machine)
    scale, (model,), (price,) = Scaled(chain(), 1, 3), priced.models, priced.prices
    for is_changed in (False, True):
        memory = AddressedCores(plan, stacked(plan))
        memory.begin(0)
        run_subgraph(model, price, scale, memory)
        if is_changed:
            arrays = (memory, *memory.others)[core].bytes["shared"]
            arrays[max(stacked(plan)["shared"].values())] ^= 1
            with pytest.raises(Miss, match="overwritten"):
                memory.end()
        else:
            memory.end()
