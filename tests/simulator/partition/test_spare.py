"""Bytes that a subgraph leaves free: a smaller room for it, at the energy of the whole buffer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import workloads
from cocco.plans.files import load_partition
from simulator import Accelerator, Partition, PartitionError, evaluate
from simulator.execution import verify
from simulator.model.price import Price
from simulator.model.priced import price_partition
from tests.helpers.judged import random_chip, random_network_of
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_problems import random_net
from workloads import Builder

MiB = 2**20


def classifier() -> workloads.Network:
    b = Builder("classifier")
    x = b.fc("one", b.input("x", 1, 1, 1024), 1024)
    b.fc("two", x, 1024)
    return b.build()


def test_a_layer_takes_pieces_of_its_weights_where_it_must_leave_room():
    """1 MiB of weights in 1.25 MiB are held; with 1 MiB left free they pass in pieces, and move as much."""
    network, chip = classifier(), Accelerator(shared_buffer=MiB + MiB // 4)
    plain = Partition.from_groups(network, [["one"], ["two"]], keep=["one"])
    held, pieces = (
        evaluate(network, plain, chip).subgraphs[1],
        Partition.from_groups(network, [["one"], ["two"]], keep=["one"], spare=[0, MiB]),
    )
    found = evaluate(network, pieces, chip)
    assert held.weight_bytes == MiB and found.subgraphs[1].weight_bytes <= MiB // 4
    assert found.subgraphs[1].ema_bytes == held.ema_bytes == MiB + 1024
    assert found.subgraphs[1].to_json()["spare_bytes"] == MiB and "spare_bytes" not in found.subgraphs[0].to_json()
    assert verify(network, pieces, chip).verified


@pytest.mark.parametrize("shared", [True, False])
def test_all_that_is_left_free_is_an_answer(shared: bool):
    chip = Accelerator(shared_buffer=MiB) if shared else Accelerator(global_buffer=MiB, weight_buffer=MiB)
    network = classifier()
    found = evaluate(network, Partition.from_groups(network, [["one"], ["two"]], spare=[0, MiB]), chip)
    assert not found.fits and len(found.infeasible) == 1 and found.infeasible[0].layers == ("two",)
    least = found.infeasible[0].needed_bytes
    assert least is not None
    if shared:  # a byte less left free than leaves what it needs
        spare = 2 * MiB - least
        for size, fits in ((spare, True), (spare + 1, False)):
            plan = Partition.from_groups(network, [["one"], ["two"]], spare=[0, size])
            assert evaluate(network, plan, chip).fits == fits


@pytest.mark.parametrize("seed", first_of(range(60), 8))
def test_what_runs_beside_spare_bytes_is_what_runs_in_a_smaller_memory(seed: int):
    """EMA is that of a memory smaller by as much, where it is minimized; the run equals the price."""
    rng = Random(seed)
    network = random_net(seed)
    size, spare = rng.choice((2**14, 2**16)), rng.choice((100, 2**12, 2**13))
    groups = [[v] for v in range(len(network.layers))]
    whole = Accelerator(shared_buffer=size + spare, plans="all")
    plan = Partition.from_ids(network, groups, "ema", spare=[spare] * len(groups))
    smaller = price_partition(network, Partition.from_ids(network, groups, "ema"), Accelerator(shared_buffer=size))
    priced = price_partition(network, plan, whole)
    for each, other in zip(priced.prices, smaller.prices):
        assert isinstance(each, Price) == isinstance(other, Price)
        if isinstance(each, Price) and isinstance(other, Price):
            assert each.ema_bytes == other.ema_bytes
            assert each.activation_bytes + each.weight_bytes <= size
    if priced.fits:
        assert verify(network, plan, whole).verified


def test_files_say_what_is_left_free(tmp_path: Path):
    network = classifier()
    plan = Partition.from_groups(network, [["two"], ["one"]], spare=[5, 7])
    assert plan.names == (("one",), ("two",)) and plan.spare == (7, 5)
    plan.save(tmp_path / "plan.json")
    assert Partition.load(tmp_path / "plan.json", network) == plan == load_partition(tmp_path / "plan.json", network)
    assert Partition.from_groups(network, [["two"], ["one"]], spare=[0, 0]).spare == ()


@pytest.mark.parametrize(
    ("spare", "said"), [([1], "1 entries for 2"), ([0, -1], "spare 1 is -1"), ([0, True], "spare 1 is True")]
)
def test_what_is_no_size_is_refused(spare: list[int], said: str):
    network = classifier()
    with pytest.raises(PartitionError, match=said):
        Partition.from_groups(network, [["one"], ["two"]], spare=spare)


@each_seed(30, 60)
def test_a_plan_runs_whatever_may_come_ahead(seed: int):
    """With nothing ahead every run ends; what is held beside a step is at most what the plan says."""
    rng = Random(seed)
    network, chip = random_network_of(seed), random_chip(seed, rng.choice((2**13, 2**15, 10**6)))
    plan = random_kept_plan(network, seed)
    free = evaluate(network, plan, chip)
    for most in (0, 99) if free.fits else ():
        found = evaluate(network, replace(plan, ahead=(most,) * len(plan)), chip)
        assert found.ema_bytes == free.ema_bytes and found.energy_pj == free.energy_pj
        beside = (each.row_bytes + each.next_weight_bytes * chip.is_shared for each in found.simulation.uses)
        assert max(beside) <= most


def test_files_say_how_much_may_come_ahead(tmp_path: Path):
    network = classifier()
    plan = Partition.from_groups(network, [["two"], ["one"]], ahead=[None, 0])
    assert plan.ahead == (0, None) != Partition.from_groups(network, [["two"], ["one"]], ahead=[None, None]).ahead
    plan.save(tmp_path / "plan.json")
    assert Partition.load(tmp_path / "plan.json", network) == plan == load_partition(tmp_path / "plan.json", network)
    with pytest.raises(PartitionError, match="ahead 1 is -1"):
        Partition.from_groups(network, [["one"], ["two"]], ahead=[None, -1])
