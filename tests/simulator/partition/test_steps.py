"""Where the tensors of every step lie: by hand, and by a literal replay of chip and DRAM, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Partition
from simulator.model.subgraph.subgraph import Geometry, Subgraph
from simulator.partition.intervals import Span
from simulator.partition.steps import Step, steps_of
from tests.helpers.graphs import add, conv
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_plans import random_plan
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

SHAPE = (4, 4, 8)


class Missing(Exception):
    """A step reads what lies neither on chip nor in DRAM."""


def replay(network: Network, plan: Partition, steps: Sequence[Step], spans: Sequence[Span]) -> None:
    """Run the steps with two sets: what lies whole on chip over these intervals, and what DRAM holds."""
    chip: set[int] = set()
    dram = set(range(len(network.layers), len(network.tensors)))
    for step, (group, says) in enumerate(zip(plan.subgraphs, steps)):
        inputs = {p for v in group for p in network.producers[v]} - set(group)
        if set(says.loaded) | set(says.on_chip) != inputs or set(says.loaded) & set(says.on_chip):
            raise Missing(f"step {step} reads other tensors than its inputs")
        if not set(says.loaded) <= dram or not set(says.on_chip) <= chip:
            raise Missing(f"step {step} reads what is not there")
        begun = {tensor for tensor, start, _ in spans if start == step}
        if not begun <= set(says.loaded) | set(group) or begun & chip:
            raise Missing(f"step {step} keeps what it neither makes nor loads")
        chip |= begun
        if not set(says.written) <= set(group):
            raise Missing(f"step {step} writes what it does not make")
        dram |= set(says.written)
        chip -= {tensor for tensor, _, end in spans if end == step}
    if not set(network.outputs) <= dram or chip:
        raise Missing("a model output is not in DRAM, or something is left on chip")


def residual() -> Network:
    """x -> a -> b -> c -> d (add of c and a), e reads a and d."""
    layers = (
        conv("a", "x", SHAPE, 8),
        conv("b", "a", SHAPE, 8),
        conv("c", "b", SHAPE, 8),
        add("d", ("c", "a"), SHAPE),
        add("e", ("d", "a"), SHAPE),
    )
    return Network("residual", (Tensor("x", *SHAPE),), layers)


ALONE = [["a"], ["b"], ["c"], ["d"], ["e"]]
A, B, C, D, E, X = range(6)


def test_a_tensor_kept_to_its_last_reader_never_crosses():
    """a is on chip in all steps; the others cross as ever."""
    steps = steps_of(residual(), Partition.from_groups(residual(), ALONE, keep=["a"]))
    assert [each.kept for each in steps] == [(A,)] * 5
    assert [each.loaded for each in steps] == [(X,), (), (B,), (C,), (D,)]
    assert [each.on_chip for each in steps] == [(), (A,), (), (A,), (A,)]
    assert [each.written for each in steps] == [(), (B,), (C,), (D,), (E,)]
    assert [set(each.touched) for each in steps] == [{A}, {A}, set(), {A}, {A}]


def test_a_tensor_that_is_dropped_before_a_reader_is_written_too():
    """a is kept for b, and again, loaded by d, for e: its maker writes it, d alone loads it."""
    keep = [{"tensor": "a", "until": "b"}, {"tensor": "a", "from": "d"}]
    steps = steps_of(residual(), Partition.from_groups(residual(), ALONE, keep=keep))
    assert [each.kept for each in steps] == [(A,), (A,), (), (A,), (A,)]
    assert [each.loaded for each in steps] == [(X,), (), (B,), (C, A), (D,)]
    assert [each.on_chip for each in steps] == [(), (A,), (), (), (A,)]
    assert steps[0].written == (A,)


def test_a_model_output_is_written_though_it_is_all_that_is_left():
    steps = steps_of(residual(), Partition.from_groups(residual(), [["a", "b", "c", "d"], ["e"]], keep=["a", "d"]))
    assert [each.written for each in steps] == [(), (E,)]


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6))
def test_every_step_finds_what_it_reads_and_nothing_is_written_in_vain(seed):
    network = random_network(seed, most_layers=9, whole=True)
    plan = random_kept_plan(network, seed)
    steps = steps_of(network, plan)
    replay(network, plan, steps, [each.span for each in plan.keep])
    loaded = {tensor for each in steps for tensor in each.loaded}
    for group, says in zip(plan.subgraphs, steps):
        assert set(says.written) == {v for v in group if v in loaded or v in network.outputs}
        around = set(group) | {p for v in group for p in network.producers[v]}
        assert says.touched == around & set(says.kept)
    assert [each.kept for each in steps] == [
        tuple(sorted(each.tensor_id for each in plan.keep if each.from_step <= step <= each.until_step))
        for step in range(len(plan))
    ]


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6))
def test_without_intervals_steps_load_and_write_what_the_model_says(seed):
    network = random_network(seed, most_layers=9, whole=True)
    plan, geometry = random_plan(network, seed), Geometry(network)
    for group, says in zip(plan.subgraphs, steps_of(network, plan)):
        subgraph = Subgraph(geometry, group)
        assert (says.loaded, says.written) == (subgraph.inputs, subgraph.outputs)
        assert says.kept == says.on_chip == () and not says.touched


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6), st.data())
def test_the_replay_notices_what_is_dropped_or_not_written(seed, data):
    """One interval ends a step early, or one write is left out: some step reads what is not there."""
    network = random_network(seed, most_layers=9)
    plan = random_kept_plan(network, seed)
    steps, spans = list(steps_of(network, plan)), [each.span for each in plan.keep]
    writes = [(step, v) for step, says in enumerate(steps) for v in says.written]
    replay(network, plan, steps, spans)
    if spans and data.draw(st.booleans()):
        tensor, start, end = spans.pop(data.draw(st.integers(0, len(spans) - 1)))
        spans.append((tensor, start, end - 1))
    else:
        step, tensor = data.draw(st.sampled_from(writes))
        steps[step] = steps[step]._replace(written=tuple(v for v in steps[step].written if v != tensor))
    with pytest.raises(Missing):
        replay(network, plan, steps, spans)
