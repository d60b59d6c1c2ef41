"""The scheduling experiments on a tiny network: their tables, their pictures, and that both ways meet at the bound."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import cocco
import workloads
from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import graph_of
from experiments import kept_tensors, nas_schedules, network_traffic, tensor_schedules, tensors_or_tiles
from experiments.common import schedules
from experiments.common.whole_tensors import plan_of
from simulator.accelerator import Accelerator
from simulator.evaluate import evaluate
from simulator.partition.partition import Partition
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import compulsory_bytes
from simulator.technology import KiB, MiB
from tests.helpers.tiny_network import write_tiny


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_tiny(tmp_path_factory.mktemp("networks") / "tiny.json")


def test_tensor_schedules_have_a_proof_in_each_row_and_a_mean(network: str, tmp_path: Path):
    table = tensor_schedules.run(quick=True, seed=0, folder=tmp_path / "a", networks=[network])
    rows = table[table["network"] == network]
    assert set(rows["status"]) == {"optimal"} and (rows["offchip_bytes"] == rows["lower_bound_bytes"]).all()
    assert rows["budget"].str.contains("minimum").any() and rows["budget"].str.contains("peak").any()
    assert (rows[rows["budget"].str.contains("peak")]["offchip_bytes"] == 0).all()
    for order, method in schedules.BASELINES:
        assert (rows[f"{order}_{method}_bytes"] >= rows["offchip_bytes"]).all()
    assert len(tensor_schedules.plot(rows).axes) == 2


def test_equal_budgets_are_one_row(network: str):
    """VGG16's largest layer stands alone: M_R = M_H = M_P."""
    (point,) = schedules.points(["vgg16"], (False,))
    assert (point["budget"], point["bytes"], point["budget_proved"]) == ("minimum = half = peak", 6_422_528, True)


def test_nas_schedules_order_their_methods(network: str, tmp_path: Path):
    table = nas_schedules.run(quick=False, seed=0, folder=tmp_path / "a", networks=[network])
    assert set(table["method"]) == set(nas_schedules.METHODS)
    for _, rows in table.groupby("budget"):
        moved = rows.set_index("method")["offchip_bytes"]
        assert moved["free"] <= min(moved["fixed default"], moved["fixed MPMF"])
        assert moved["divide"] <= moved["fixed MPMF"]
    assert nas_schedules.plot(table).axes


def test_whole_tensors_and_tiles_meet_at_the_floor_and_kept_tensors_are_below_both(network: str, tmp_path: Path):
    """In a memory that holds all, each moves what every plan must; below that, never less."""
    table = tensors_or_tiles.run(quick=True, seed=0, folder=tmp_path / "a", networks=[network], samples=200)
    for column in ("tensors_bytes", "tiles_bytes", "kept_bytes"):
        known = table[table[column].notna()]
        assert len(known) and (known[column] >= known["floor_bytes"]).all()
    assert tensors_or_tiles.above(table).empty
    assert (table["tensors_bytes"].isna() == (table["bytes"] < table["minimum_bytes"])).all()
    assert tensors_or_tiles.plot(pandas.DataFrame(table)).axes


@pytest.mark.parametrize("budget", ["minimum", "peak"])
@pytest.mark.parametrize("name", ["resnet50", "googlenet", "densenet121", "vit_b16", "randwire_a"])
def test_a_schedule_of_whole_tensors_is_a_plan_that_moves_as_much(name: str, budget: str):
    """In the very same memory; concatenations, which are no copies there, and rounding make no difference here."""
    loaded = workloads.load(name)
    budgets = budgets_of(graph_of(operators_of(loaded, parameters=True)))
    size = -(-budgets.bytes_of(budget) // 8) * 8
    found = cocco.schedule(loaded, size, parameters=True)
    assert found.schedule is not None and found.offchip_bytes is not None
    priced = evaluate(loaded, plan_of(loaded, found.schedule), Accelerator(shared_buffer=size))
    assert priced.ema_bytes == found.compulsory_bytes + found.offchip_bytes


def test_a_plan_reads_an_input_again_that_its_schedule_spills():
    """GPT's tokens, 393,216 bytes: in COSMA's model a model input has no copy on the host, in a plan it has."""
    loaded = workloads.load("gpt")
    found = cocco.schedule(loaded, 6_291_456, parameters=True)
    assert found.schedule is not None and found.offchip_bytes is not None
    assert [each.tensor for each in found.schedule.segments if each.leaves == "spilled"].count("tokens") == 1
    priced = evaluate(loaded, plan_of(loaded, found.schedule), Accelerator(shared_buffer=6_291_456))
    assert priced.ema_bytes == found.compulsory_bytes + found.offchip_bytes - 393_216


def test_kept_tensors_does_not_depend_on_the_workers(network: str, tmp_path: Path):
    def table(workers: int) -> pandas.DataFrame:
        folder = tmp_path / str(workers)
        return kept_tensors.run(folder, networks=[network], samples=100, kilobytes=(8, 16), workers=workers)

    one = table(1)
    assert one.equals(table(2))
    chosen = one[one["memory"] == kept_tensors.MEMORY].set_index("keep")
    assert chosen["verified"].all() and chosen.loc["auto", "cost"] <= chosen.loc["none", "cost"]
    given = one[one["memory"] == "given"]
    for what in ("ema_bytes", "energy_pj"):
        none, auto = (given[given["keep"] == keep][what].to_numpy() for keep in ("none", "auto"))
        assert (auto <= none).all()
    assert kept_tensors.plot(one).axes


def test_network_traffic_has_a_row_for_each_network_and_capacity(network: str, tmp_path: Path):
    table = network_traffic.run(tmp_path, networks=[network], samples=100)
    assert list(table["bytes"] // KiB) == list(network_traffic.KILOBYTES)
    assert (table["kept_bytes"] <= table["tiles_bytes"]).all()
    assert network_traffic.plot(table).axes


@pytest.mark.parametrize("name", ["resnet50", "googlenet", "gpt"])
def test_compulsory_bytes_are_those_of_one_subgraph(name: str):
    loaded = workloads.load(name)
    whole = Partition.from_groups(loaded, [[layer.name for layer in loaded.layers]])
    chip = Accelerator(shared_buffer=1024 * MiB, max_regions=None)
    must = evaluate(loaded, whole, chip).ema_bytes
    assert must == compulsory_bytes(operators_of(loaded, parameters=True))
    assert cocco.schedule(loaded, 1024 * MiB, parameters=True).compulsory_bytes == must


def test_networks_of_cosma_are_built_in():
    assert {*schedules.HUMAN, *schedules.NAS} <= set(workloads.names())
