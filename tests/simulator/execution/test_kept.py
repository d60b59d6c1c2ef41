"""Plans with kept tensors, counted and run with values over all their steps, and plans that lie."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from simulator import Accelerator, Partition, Technology
from simulator.execution import verify
from simulator.execution.judge import judge
from simulator.metrics import METRIC_NAMES
from simulator.model.buffer_plan import make_plan
from simulator.model.priced import price_partition
from tests.helpers.judged import layer_with_tensors_on_chip
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_layers import random_layer
from tests.helpers.random_tables import random_technology, shared_technology


def random_priced(seed):
    """Return a random plan with its prices in a memory of any size; None where it does not fit."""
    rng, network = random.Random(seed), random_network(seed, whole=seed % 2 == 1)
    plan = replace(random_kept_plan(network, seed), metric=rng.choice(METRIC_NAMES))
    buffers = {"shared_buffer": rng.choice((512, 1024, 4096, 16384))}
    if rng.random() < 0.5:
        buffers = {"global_buffer": rng.choice((512, 1024, 4096, 16384)), "weight_buffer": rng.choice((256, 512, 8192))}
    batch, technology = rng.choice((1, 1, 2, 3)), Technology()
    if seed % 3 == 0:
        of_buffers = shared_technology if len(buffers) == 1 else random_technology
        technology = of_buffers(random.Random(seed))
    found = price_partition(network, plan, Accelerator(**buffers, batch=batch, technology=technology))
    return found if found.fits else None


@each_seed(60, 120)
def test_every_number_of_a_plan_is_what_is_counted(seed):
    found = random_priced(seed)
    if found is None:
        return
    checks, message = judge(found.network, found.accelerator, found.partition, found.prices)
    assert not message
    names = {"ema_bytes", "global_buffer_bytes", "global_written_bytes", "kept_bytes"}
    exact = [each for each in checks if each.name in names]
    assert found.accelerator.has_tables == any(each.name == "global_written_bytes" for each in exact)
    assert exact and all(each.status == "equal" for each in exact)


@each_seed(150, 300)
def test_every_number_of_a_layer_is_what_is_counted(seed):
    """Loops with some operands on chip before, some kept from here on, and results that stay, are written, or both."""
    rng = random.Random(seed)
    layer_with_tensors_on_chip(random_layer(rng), rng, batches=(1, 1, 2, 3, 8), shared=0.5)


def shorter(partition, network, position):
    """Return the plan with an interval that ends at the reader before its last, or is gone if there is none."""
    spans = [each.span for each in partition.keep]
    tensor, first, last = spans.pop(position)
    reads = {i for i, group in enumerate(partition.subgraphs) for v in group if tensor in network.producers[v]}
    before = [step for step in reads if first < step < last]
    if before:
        spans.append((tensor, first, max(before)))
    if not spans:
        return None  # then the order is no longer given
    return Partition.from_ids(network, partition.subgraphs, partition.metric, spans)


@each_seed(40, 80)
def test_a_step_less_in_any_interval_fails(seed):
    """The price is that of the longer interval: a load that it does not have is counted, and its bytes are missed."""
    found = random_priced(seed)
    if found is None:
        return
    for position in range(len(found.partition.keep)):
        lie = shorter(found.partition, found.network, position)
        if lie is not None:
            assert judge(found.network, found.accelerator, lie, found.prices)[1]


@each_seed(30, 60)
def test_a_byte_less_of_memory_fails(seed):
    """A memory of just what its fullest step holds; one byte less is noticed by the judge."""
    found = random_priced(seed)
    if found is None or not found.partition.keep:
        return
    chip = found.accelerator
    most = max(p.kept_bytes + p.activation_bytes + p.weight_bytes * chip.is_shared for p in found.prices)
    name = "shared_buffer" if chip.is_shared else "global_buffer"
    if any(price.loops and price.loops.order in ("TP", "KP", "BC", "CT", "RS") for price in found.prices):
        return  # they may use less of their room than they have
    full = judge(found.network, replace(chip, **{name: most}), found.partition, found.prices)[0]
    less = judge(found.network, replace(chip, **{name: most - 1}), found.partition, found.prices)[0]
    memory = name.removesuffix("_buffer") + "_memory_bytes"
    assert [each.status for each in full if each.name == memory] == ["within"]
    assert [each.status for each in less if each.name == memory] != ["within"]


@pytest.mark.parametrize(
    "name", ["kept_bytes", "ema_input_bytes", "ema_output_bytes", "global_buffer_bytes", "global_written_bytes"]
)
def test_every_number_that_a_price_changes_is_noticed(name):
    found = next(each for each in map(random_priced, range(100)) if each and each.partition.keep)
    step = next(i for i, price in enumerate(found.prices) if price.kept_bytes)
    for change in (-1, 7, -getattr(found.prices[step], name)):
        wrong = found.prices[step]._replace(**{name: getattr(found.prices[step], name) + change})
        if wrong == found.prices[step]:
            continue
        prices = [*found.prices[:step], wrong, *found.prices[step + 1 :]]
        assert judge(found.network, found.accelerator, found.partition, prices)[1]


def stacked(plan):
    """Return addresses that place each buffer in the first gap; None where a memory is too small for that."""
    addresses = {}
    for memory, buffers in plan.buffers.items():
        placed = addresses[memory] = {}
        done = []
        for buffer in sorted(buffers, key=lambda each: (each.lower, -each.upper)):
            start = 0
            for other in sorted(done, key=lambda each: placed[each.id]):
                if other.upper > buffer.lower and other.lower < buffer.upper and start + buffer.size > placed[other.id]:
                    start = max(start, placed[other.id] + other.size)
            if start + buffer.size > plan.capacity(memory):
                return None
            placed[buffer.id] = start
            done.append(buffer)
    return addresses


@pytest.mark.parametrize("seed", first_of(range(60), 8))
def test_values_are_those_of_the_layers_one_by_one_at_addresses_too(seed):
    """What is kept lies at one address over its steps; on top of another buffer that lives, it is overwritten."""
    found = random_priced(seed)
    if found is None:
        return
    plan, chip = make_plan(found), found.accelerator
    assert verify(found.network, found.partition, chip).verified
    addresses = stacked(plan)
    if addresses is None:
        return
    assert verify(found.network, found.partition, chip, addresses=addresses).verified
    memory = next(iter(plan.buffers))
    wholes = [each for each in plan.buffers[memory] if each.id.endswith("/whole")]
    for one in wholes[:1]:
        others = [each for each in plan.buffers[memory] if each.lower < one.upper and one.lower < each.upper]
        for other in (each for each in others if each != one):
            moved = addresses | {memory: addresses[memory] | {one.id: addresses[memory][other.id]}}
            assert not verify(found.network, found.partition, chip, addresses=moved).verified
