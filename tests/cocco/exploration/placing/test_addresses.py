"""Plans with kept tensors whose bytes fit, and which have no addresses until they are changed."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import cocco
import workloads
from cocco.allocation.address_map import AddressMap, address_map, map_of
from cocco.allocation.windows import Windows, clip
from cocco.exploration.answers.result import Result
from cocco.exploration.placing import other_memories
from cocco.exploration.placing.addresses import with_addresses
from cocco.exploration.placing.changes import changes
from cocco.exploration.placing.repair import Repair
from cocco.output.folders.written.addresses import maps_of, save
from cocco.output.text.plans.addresses import changes_text
from cocco.problem.problem import on_hardware
from simulator import Accelerator, KiB, evaluate
from simulator.allocation.buffers import Buffer
from simulator.execution import verify
from simulator.model.buffer_plan import BufferPlan
from simulator.model.priced import price_partition
from tests.helpers.command_line import answer
from tests.helpers.command_line import cocco as run
from tests.helpers.parts import each_seed
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.small_spaces import question_of, small_space
from workloads.network.network import Network

#: four bytes are live in every step, and five are needed
TIGHT = [("p0", 0, 1, 3), ("p1", 0, 3, 1), ("p2", 1, 2, 2), ("p3", 1, 4, 1), ("p4", 2, 3, 1), ("p5", 2, 5, 1),
         ("p6", 3, 4, 2), ("p7", 4, 5, 3)]  # fmt: skip


def test_a_plan_that_keeps_nothing_is_split_at_its_own_prices():
    """Its subgraphs have no addresses in five regions; its parts are priced as they are, with nothing kept."""
    b = workloads.Builder("parts")
    x = b.input("x", 6, 6, 12)
    turned = b.rearrange("turned", x, 6, 6, 12)
    b.mul("gated", [turned, b.global_avgpool("mean", turned)])
    b.conv("last", [turned, x], 24, 1, 3)
    chip = Accelerator(shared_buffer=2280, max_regions=5)
    for seed in range(4):
        found = cocco.partition(b.build(), chip, metric="ema", samples=100, seed=seed, check_addresses=True)
        assert found.evaluation.ema_bytes == found.cost and verify(b.build(), found.plan, chip).verified


def test_the_window_without_addresses_is_found():
    """Four bytes are live in each step, and none of its five steps can be left out of the proof; later ones can."""
    buffers = [Buffer(name, lower + 2, upper + 2, size) for name, lower, upper, size in TIGHT]
    buffers += [Buffer("before", 0, 2, 4), Buffer("after", 7, 9, 3)]
    windows = Windows(4, 2_000)
    assert windows.first_open(buffers) == range(2, 7)
    assert Windows(5, 2_000).first_open(buffers) is None
    assert windows.missing(clip(buffers, range(2, 6))) == 0 < windows.missing(clip(buffers, range(2, 7)))


@pytest.fixture(scope="module", autouse=True)
def _plans_as_they_are_found() -> Iterator[None]:
    """Ties are broken afterwards, by plans that have addresses (tests/cocco/exploration/test_settled.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cocco.exploration.explore.SETTLED", {"auto": (), "none": ()})
        yield


@pytest.fixture(scope="module")
def small() -> tuple[Network, Accelerator, Result]:
    """The proven least traffic of a graph of 8 layers in 900 bytes, which fits, but not as it is found."""
    network, chip = random_network(228), Accelerator(shared_buffer=900)
    return network, chip, cocco.partition(network, chip, metric="ema", samples=60, keep="auto")


def test_an_answer_is_changed_until_it_has_addresses(small: tuple[Network, Accelerator, Result]):
    """Another order, and a region in two pieces, cost the same, so the answer stays proven."""
    network, chip, found = small
    assert [each.what for each in found.moved] == ["reordered", "split"] and found.placed and found.splits == 1
    check_changed(network, chip, found)


@pytest.mark.slow  # 5 and 10 s
@pytest.mark.parametrize(
    ("kilobytes", "cost", "made"),
    [(224, 8_245_672, {"reordered", "replanned"}), (256, 7_944_616, {"reordered", "replanned", "split"})],
)
def test_an_answer_of_googlenet_is_changed_until_it_has_addresses(kilobytes: int, cost: int, made: set[str]):
    """In 256 KB other orders and what is given up cost more; some steps take less room, and three subgraphs are split,
    at no more cost.
    """
    network, chip = workloads.load("googlenet"), Accelerator(shared_buffer=kilobytes * KiB)
    found = cocco.partition(network, chip, metric="ema", samples=300, keep="auto")
    assert {each.what for each in found.moved or ()} == made and found.placed
    assert found.cost == cost and (found.splits != 0) == ("split" in made)
    check_changed(network, chip, found)


def check_changed(network: Network, chip: Accelerator, found: Result) -> None:
    """The changed answer costs what the bound says, runs at its addresses, and says what was changed."""
    assert found.status == "optimal" and found.cost == found.lower_bound == found.evaluation.ema_bytes
    placed = address_map(network, found.plan, chip)
    assert placed is not None and placed.fits
    addresses = {each.memory: each.addresses for each in placed.memories}
    assert verify(network, found.plan, chip, addresses=addresses).verified
    content = found.to_json()
    assert content["placed"] is True and content["moved"][0]["what"] in ("reordered", "replanned")
    (text,) = changes_text(found)
    assert "still reaches the lower bound" in text and found.moved[0].text in text


def test_an_answer_with_addresses_is_not_changed_again(small: tuple[Network, Accelerator, Result]):
    network, chip, found = small
    again = with_addresses(on_hardware(network, chip, metric="ema", keep="auto"), found)
    assert (again.moved, again.placed, again.plans, again.status) == ((), True, found.plans, "optimal")


def test_a_dearer_answer_is_no_longer_optimal(monkeypatch: pytest.MonkeyPatch):
    """A word less than the fullest step takes: something is given up; the bound stays, the status does not."""
    network, chip = workloads.load("resnet50"), Accelerator(shared_buffer=1152 * KiB)
    plain = cocco.partition(network, chip, metric="ema", samples=300, keep="auto")
    assert (plain.moved, plain.placed, plain.status) == ((), True, "optimal") and changes_text(plain) == []
    first = address_map(network, plain.plan, chip)
    assert first is not None
    room = first.memories[0].lower_bound_bytes - 8

    def in_less(plan: BufferPlan) -> AddressMap:
        found = map_of(plan)
        (memory,) = found.memories
        height = memory.height_bytes
        return replace(found, memories=(replace(memory, height_bytes=height if height and height <= room else None),))

    monkeypatch.setattr("cocco.exploration.placing.repair.map_of", in_less)
    monkeypatch.setattr("cocco.exploration.placing.repair.Windows", lambda _, nodes: Windows(room, nodes))
    found = with_addresses(on_hardware(network, chip, metric="ema", keep="auto"), plain)
    assert found.moved and found.cost > plain.cost == found.lower_bound
    assert found.status == "feasible" and found.gap == pytest.approx(1 - plain.cost / found.cost)
    assert found.evaluation == evaluate(network, found.plan, chip) and found.placed
    assert f"it is {100 * found.gap:.2g} % above the lower bound" in changes_text(found)[0]
    without = [c for c in changes(network, plain.plan, range(len(plain.plan))) if c.moved.what != "reordered"]
    costs = [evaluate(network, each.plan, chip) for each in without]
    assert len(found.moved) > 1 or found.cost in {each.ema_bytes for each in costs if each.fits}


@each_seed(20, 40)
def test_every_change_is_a_plan_that_runs(seed: int):
    """Priced as the simulator prices it, and executed."""
    network = random_network(seed)
    plan = random_kept_plan(network, seed)
    chip = Accelerator(shared_buffer=16 * KiB)
    repair = Repair(on_hardware(network, chip), False)
    found = list(changes(network, plan, range(len(plan))))
    names = {each.moved.what for each in found}
    assert names <= {"reordered", "dropped", "shortened", "cut", "split"}
    if plan.keep:
        assert names & {"dropped", "shortened", "cut"}
    for each in random.Random(seed).sample(found, min(4, len(found))):
        assert each.plan != plan and each.moved.text
        assert repair.priced(each.plan).prices == price_partition(network, each.plan, chip).prices
        if each.moved.what in ("dropped", "shortened", "cut"):
            before, after = (sum(k.until_step - k.from_step for k in p.keep) for p in (plan, each.plan))
            assert after < before
    if found and repair.priced(found[0].plan).fits:
        assert verify(network, found[0].plan, chip).verified


def test_plans_are_ranked_by_what_they_cost_or_do_not_fit():
    """In memories that kept tensors fill: to the bit what `evaluate` says, in the metric that is asked for."""
    fits = short = 0
    for seed in range(20):
        network = random_network(seed)
        plan = random_kept_plan(network, seed)
        for size in (512, 1024, 2048, 4096):
            chip = Accelerator(shared_buffer=size)
            repair = Repair(replace(on_hardware(network, chip, metric="latency-sum"), chosen_by=plan.metric), False)
            found = evaluate(network, plan, chip)
            assert repair.cost(plan) == found.latency_cycles
            assert found.fits == (found.latency_cycles < math.inf)
            without = replace(plan, keep=()) if plan.keep else plan
            fits += found.fits
            short += not found.fits and evaluate(network, without, chip).fits
    assert fits > 10 and short > 3


def test_the_command_line_gives_the_map_of_a_plan_that_keeps_tensors(tmp_path: Path):
    """And evaluates and executes the saved plan in it."""
    asked = ("partition", "resnet50", "--shared-buffer", "896KB", "--samples", 300, "--keep", "auto", "-o", "plan.json")
    found = answer(run(*asked, "--json", folder=tmp_path))
    assert found["addresses"]["fits"] and (found["moved"], found["placed"]) == ([], True)
    kinds = {p["kind"] for step in found["addresses"]["memories"][0]["regions"] for p in step}
    assert "kept" in kinds
    assert "Every region has its address" in run(*asked, folder=tmp_path).stdout
    words = ("evaluate", "resnet50", "--partition", "plan.json", "--shared-buffer", "896KB", "--addresses", "--verify")
    again = answer(run(*words, "--json", "-o", "map.csv", folder=tmp_path))
    assert again["verified"] is True and again["addresses"]["fits"] and again["totals"] == found["totals"]
    assert "kept" in {row["kind"] for row in csv.DictReader((tmp_path / "map.csv").open())}


def test_a_map_with_kept_tensors_is_saved_with_its_picture(tmp_path: Path):
    network, chip = workloads.load("resnet50"), Accelerator(shared_buffer=896 * KiB)
    found = cocco.partition(network, chip, samples=300, keep="auto")
    paths = save(tmp_path, maps_of([network], found))
    assert [path.name for path in paths] == ["addresses.csv", "addresses-shared.png", "addresses-shared.svg"]
    assert all(path.stat().st_size for path in paths)


def test_another_memory_is_chosen_where_changes_cost_more(monkeypatch: pytest.MonkeyPatch):
    """The cheapest of six memories by bytes has no addresses for what it keeps; a larger one has, for less."""
    problem = small_space(489)
    assert problem is not None
    asked = question_of(problem) | {"metric": problem.objective.metric, "alpha": problem.objective.alpha}
    found = cocco.explore(**asked, samples=60)
    monkeypatch.setattr(other_memories, "OTHER_MEMORIES", 0)
    stayed = cocco.explore(**asked, samples=60)
    assert found.placed and stayed.placed and stayed.lower_bound == found.lower_bound
    assert stayed.lower_bound < found.cost < stayed.cost
    assert found.moved[0].what == "resized" and "bytes of buffer in place of" in changes_text(found)[0]
    assert found.accelerator != stayed.accelerator
    for network, plan in zip(problem.networks, found.plans):
        placed = address_map(network, plan, found.accelerator, problem.tile_rule)
        assert placed is None or placed.fits
