"""Every number that is printed of a plan is counted, or is named as not executed; none can be changed unnoticed."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from typing import Any

import pytest

from simulator import Accelerator, Evaluation, KiB, Partition, evaluate
from simulator.execution import verify
from tests.helpers.graphs import chain, resnet_block
from tests.helpers.random_tables import random_technology

VERIFYING = sys.modules["simulator.execution.verify"]  #: the package has a function of this name
CHIP = Accelerator(shared_buffer=64 * KiB)
#: of a subgraph: which layers, and how they run. It is executed like this; anything else would be another plan
CHOICES = {"layers", "tile", "loops", "scheme"}
NOT_EXECUTED = {"area_mm2", "leakage_mw", "rereads"}


def kept_block() -> tuple[Any, Partition]:
    """Return a block and a plan of it that keeps a tensor."""
    network = resnet_block()
    names = [layer.name for layer in network.layers]
    return network, Partition.from_groups(network, [[name] for name in names], keep=[names[0]])


CASES = {
    "one": (chain(), Partition.layerwise(chain()), CHIP),
    "batch": (chain(), Partition.layerwise(chain()), Accelerator(shared_buffer=16 * KiB, batch=5)),
    "cores": (chain(), Partition.layerwise(chain()), replace(CHIP, cores=2, batch=3)),
    "kept": (*kept_block(), Accelerator(global_buffer=1024 * KiB, weight_buffer=512 * KiB)),
    "kept on cores": (*kept_block(), Accelerator(shared_buffer=1024 * KiB, cores=2)),
}


@pytest.mark.parametrize("case", CASES)
def test_every_key_of_the_answer_is_counted_or_named_as_not_executed(case: str):
    network, plan, chip = CASES[case]
    content, found = evaluate(network, plan, chip).to_json(), verify(network, plan, chip)
    assert found.verified, found.message
    totals = found.totals()
    for name, value in content["totals"].items():
        assert totals[name].claimed == value
        assert totals[name].status == ("not executed" if name in NOT_EXECUTED else "equal"), name
    kept = sum(each["bytes"] for each in content.get("keep", ()))
    assert not kept or (totals["keep_bytes"].claimed, totals["keep_bytes"].status) == (kept, "equal")
    for i, subgraph in enumerate(content["subgraphs"]):
        parts = {f"energy_{name}_pj": value for name, value in subgraph.pop("energy_breakdown").items()}
        for name, value in (subgraph | parts).items():
            if name not in CHOICES:
                check = found.check(name, i)
                assert (check.claimed, check.status) == (value, "equal"), name
    assert {each.name for each in found.checks if each.status == "not executed"} <= NOT_EXECUTED


def test_what_a_table_says_of_a_memory_is_named():
    chip = Accelerator(global_buffer=64 * KiB, weight_buffer=64 * KiB, technology=random_technology(random.Random(3)))
    content, found = (
        evaluate(chain(), Partition.layerwise(chain()), chip),
        verify(chain(), Partition.layerwise(chain()), chip),
    )
    said, totals = content.to_json()["memory"], found.totals()
    assert found.verified
    for name in ("area_mm2", "leakage_mw"):
        assert (totals[name].claimed, totals[name].status) == (said[name], "not executed")


def fields_of(change: float) -> dict[str, Any]:
    """Return lies of an evaluation: what it says instead."""
    return {
        "compulsory_bytes": lambda said: {"compulsory_bytes": said.compulsory_bytes + change},
        "bandwidth_mean_bytes_per_cycle": lambda said: {
            "bandwidth_mean_bytes_per_cycle": said.bandwidth_mean_bytes_per_cycle + change
        },
        "bandwidth_peak_bytes_per_cycle": lambda said: {
            "bandwidth_peak_bytes_per_cycle": said.bandwidth_peak_bytes_per_cycle + change
        },
        "keep_bytes": lambda said: {
            "keep": (said.keep[0]._replace(size_bytes=said.keep[0].size_bytes + change), *said.keep[1:])
        },
        "subgraphs": lambda said: {
            "subgraphs": said.subgraphs[1:] if change < 0 else (*said.subgraphs, said.subgraphs[0])
        },
    }


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("name", fields_of(1))
def test_a_number_that_is_printed_otherwise_is_named(monkeypatch: pytest.MonkeyPatch, name: str, change: int):
    summarize, lie = VERIFYING.summarize, fields_of(change)[name]
    monkeypatch.setattr(VERIFYING, "summarize", lambda priced: replace(said := summarize(priced), **lie(said)))
    network, plan, chip = CASES["kept"]
    found = verify(network, plan, chip)
    assert not found.verified and found.message.startswith(f"in total: {name} is ")
    assert [each.name for each in found.checks if each.status == "different"] == [name]


@pytest.mark.parametrize("case", CASES)
def test_a_lie_of_how_busy_a_subgraph_is_is_named(monkeypatch: pytest.MonkeyPatch, case: str):
    """Counted from the shapes of the layers and the counted cycles."""
    summarize = VERIFYING.summarize

    def lie(priced: Any) -> Evaluation:
        said = summarize(priced)
        first, *others = said.subgraphs
        return replace(said, subgraphs=(replace(first, utilization=first.utilization * 1.01), *others))

    monkeypatch.setattr(VERIFYING, "summarize", lie)
    found = verify(*CASES[case])
    assert not found.verified and "utilization is " in found.message


@pytest.mark.parametrize("change", [-1, 1])
def test_a_lie_of_what_kept_tensors_save_is_named(monkeypatch: pytest.MonkeyPatch, change: int):
    """Counted as the difference between two runs: with them and without."""
    network, plan, chip = CASES["kept"]
    right = evaluate(network, plan, chip).kept_saved_bytes
    assert right is not None and right > 0
    assert verify(network, plan, chip).check("kept_saved_bytes").counted == right
    monkeypatch.setattr(Evaluation, "kept_saved_bytes", property(lambda _: right + change))
    found = verify(network, plan, chip)
    assert not found.verified and f"kept_saved_bytes is {right + change:,}, counted {right:,}" in found.message


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("is_held", [False, True])
def test_a_lie_of_the_samples_at_once_is_named(monkeypatch: pytest.MonkeyPatch, is_held: bool, change: int):
    """Loop orders say it a second time. Of what is held it is the bytes that betray it, or that no sample is left."""
    network, plan, chip = CASES["batch"]
    if is_held:
        plan, chip = Partition.from_ids(network, [range(3)]), replace(chip, shared_buffer=40 * KiB)
    price_partition = VERIFYING.price_partition

    def lie(*asked: Any) -> Any:
        priced = price_partition(*asked)
        first, *others = priced.prices
        assert is_held == (first.loops is None) and first.at_once > 1
        return replace(priced, prices=(first._replace(at_once=first.at_once + change), *others))

    assert verify(network, plan, chip).verified
    monkeypatch.setattr(VERIFYING, "price_partition", lie)
    found = verify(network, plan, chip)
    assert not found.verified
    if not is_held:
        assert found.message.startswith("subgraph [a]: at_once is ")
        assert [each.name for each in found.checks if each.status == "different"] == ["at_once"]
