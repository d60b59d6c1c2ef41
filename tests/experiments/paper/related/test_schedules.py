"""The scheduling experiments on a tiny network: their tables and their pictures, and what must move in any schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

import cocco
import workloads
from experiments.paper.related import nas_schedules, schedules, tensor_schedules
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.partition.partition import Partition
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import compulsory_bytes
from simulator.technology import MiB
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
