"""A tensor that reaches a layer twice is read once: by the model, by both engines, and by the judge that counts."""

from __future__ import annotations

import pytest

import cocco
import workloads
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.technology import OPERATION_PJ
from tests.helpers.parts import first_of
from workloads import Builder

BYTES = 16 * 16 * 8  #: of each tensor of 8 channels


def network(name: str) -> workloads.Network:
    """Return a layer "a", and one that has its result twice (in the last, beside that of "b")."""
    b = Builder(name)
    x = b.conv("a", b.input("x", 16, 16, 8), 8, 3, padding=1)
    if name in ("add", "mul"):
        getattr(b, name)("twice", [x, x])
        return b.build()
    joined = b.concat("joined", [x, b.conv("b", x, 8, 1), x] if name == "between" else [x, x])
    if name != "concat":
        b.conv("twice", joined, 8, 3, padding=1)
    return b.build()


@pytest.mark.parametrize("samples", first_of([6, 20], 1))
@pytest.mark.parametrize("capacity", [2**20, 4000])
@pytest.mark.parametrize("name", ["add", "mul", "concat", "conv", "between"])
def test_a_tensor_that_reaches_a_layer_twice_is_read_once(name: str, capacity: int, samples: int):
    """Layer by layer, in memories that hold each layer with its weights (the last of "between": 1728 bytes of them)."""
    twice, chip = network(name), Accelerator(shared_buffer=capacity)
    plan = Partition.layerwise(twice)
    found = evaluate(twice, plan, chip)
    assert found.fits and verify(twice, plan, chip).verified
    assert found.subgraphs[-1].ema_input_bytes == (2 if name == "between" else 1) * BYTES
    costs = [
        cocco.partition(twice, chip, method="ga", metric=metric, samples=samples, engine=engine, initial=plan).cost
        for metric in ("ema", "energy", "latency-sum")
        for engine in ("fast", "reference")
    ]
    assert costs[::2] == costs[1::2]


@pytest.mark.parametrize("name", ["add", "mul", "concat", "conv", "between"])
def test_in_one_subgraph_it_is_held_once(name: str):
    """Its rows are one region: as many bytes as with a reader that has it once."""
    twice, chip = network(name), Accelerator(shared_buffer=2**20)
    plan = Partition.from_groups(twice, [[layer.name for layer in twice.layers]])
    found = evaluate(twice, plan, chip)
    assert verify(twice, plan, chip).verified
    assert (found.ema_input_bytes, found.fits) == (BYTES, True)
    if name == "add":
        b = Builder("once")
        b.softmax("once", b.conv("a", b.input("x", 16, 16, 8), 8, 3, padding=1))
        once = evaluate(b.build(), Partition.from_groups(b.build(), [["a", "once"]]), chip)
        assert found.subgraphs[0].activation_bytes == once.subgraphs[0].activation_bytes
        assert found.energy_pj == pytest.approx(once.energy_pj + BYTES * OPERATION_PJ)  # an operation more, not a byte
