"""The bank: what is a plan for which question, what stays, where a search starts; nothing without one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocco
import workloads
from cocco.bank import bank as banks
from cocco.bank.entry import MOST_PLANS, Entry, Stored, network_name, question_name, question_of, read_entry
from cocco.candidates.spread import spread
from cocco.problem.problem import on_hardware, over_space
from simulator import Accelerator, KiB, Partition, evaluate
from tests.helpers.command_line import answer, write_json
from tests.helpers.command_line import cocco as command
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.tiny_network import write_tiny
from workloads.network.layers.layer import Layer
from workloads.network.network import Network

GOOGLENET = workloads.load("googlenet")
SPACE = cocco.SharedBuffer(128 * KiB, 1024 * KiB, 128 * KiB)
FEW = {"method": "ga", "keep": "none", "samples": 300, "space": SPACE, "ranges": False}


def renamed(network: Network, layers: tuple[Layer, ...] | None = None) -> Network:
    """Return the network with other names of everything."""

    def new(name: str) -> str:
        return f"my_{name}"

    inputs = tuple(replace(each, name=new(each.name)) for each in network.inputs)
    changed = tuple(
        replace(each, name=new(each.name), inputs=tuple(map(new, each.inputs))) for each in layers or network.layers
    )
    return Network("mine", inputs, changed)


def test_a_network_is_known_by_its_layers_and_not_by_names():
    assert network_name(renamed(GOOGLENET)) == network_name(GOOGLENET)
    wider = (replace(GOOGLENET.layers[0], bits=workloads.Bits(weights=4)), *GOOGLENET.layers[1:])
    assert network_name(renamed(GOOGLENET, wider)) != network_name(GOOGLENET)
    names = {network_name(workloads.load(name)) for name in ("vgg16", "resnet50", "resnet152", "googlenet")}
    assert len(names) == 4


def test_a_question_is_all_that_decides_a_price_but_the_memory():
    chip = Accelerator(shared_buffer=256 * KiB)
    same = [on_hardware(GOOGLENET, chip), on_hardware(GOOGLENET, replace(chip, shared_buffer=KiB)),
            over_space(GOOGLENET, SPACE, alpha=0.1), over_space(GOOGLENET, cocco.SeparateBuffers())]  # fmt: skip
    assert len({question_name(question_of(each)) for each in same}) == 1
    others = [on_hardware(GOOGLENET, chip, metric="ema"), on_hardware(GOOGLENET, chip, keep="auto"),
              on_hardware(GOOGLENET, chip, tile_rule="paper"), on_hardware(GOOGLENET, replace(chip, cores=2)),
              on_hardware(GOOGLENET, replace(chip, plans="paper"))]  # fmt: skip
    assert len({question_name(question_of(each)) for each in [*same, *others]}) == 6


def priced(size: int, value: float, cut: int = 0) -> Stored:
    return Stored((size,), value, ((cut,),), ())


def test_an_entry_keeps_the_front_of_memory_and_price():
    """By hand: (2, 9) and (4, 5) stay; (4, 6) and (5, 5) are beaten; a known plan takes its new price."""
    entry = Entry({}, ()).with_plans([priced(4, 6.0), priced(2, 9.0), priced(5, 5.0, 1), priced(4, 5.0, 2)])
    assert [(each.sizes, each.value) for each in entry.plans] == [((2,), 9.0), ((4,), 5.0)]
    again = entry.with_plans([priced(4, 7.0, 2)])
    assert [each.value for each in again.plans] == [9.0, 7.0]
    assert spread(5, 1) == [0] and spread(0, 3) == []


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=30), st.floats(0.01, 100))
def test_the_least_cost_of_any_alpha_stays(plans: list[tuple[int, int]], alpha: float):
    """In whatever order the plans come."""
    found = [priced(size, value, place) for place, (size, value) in enumerate(plans)]
    entry, at_once = Entry({}, ()), Entry({}, ()).with_plans(reversed(found))
    for each in found:
        entry = entry.with_plans([each])
    least = min(each.sizes[0] + alpha * each.value for each in found)
    assert min(each.sizes[0] + alpha * each.value for each in entry.plans) == least
    assert [each[:2] for each in entry.plans] == [each[:2] for each in at_once.plans]


def test_an_entry_is_bounded():
    entry = Entry({}, ()).with_plans(priced(size, 1000.0 - size) for size in range(1, 500))
    assert len(entry.plans) == MOST_PLANS
    assert [entry.plans[0].sizes, entry.plans[-1].sizes] == [(1,), (499,)]


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_is_read_as_it_was_written(seed: int, tmp_path: Path):
    network = random_network(seed, most_layers=7, whole=True)
    plan = replace(random_kept_plan(network, seed), metric="ema")
    chip = Accelerator(shared_buffer=2**20)
    problem = on_hardware(network, chip, metric="ema", keep="auto")
    cocco.Bank(tmp_path).keep(problem, [(chip, [plan], [evaluate(network, plan, chip)])])
    starts = cocco.Bank(known=(tmp_path,)).starts(problem, 5)
    assert starts.plans == [(plan,)] and len(starts.entries) == 1


def test_a_neighbour_starts_from_the_bank_and_costs_no_more(tmp_path: Path):
    """Another alpha; another metric on the chosen hardware; the price there, whatever the bank says."""
    bank = cocco.Bank(tmp_path)
    first = cocco.explore(GOOGLENET, alpha=0.001, bank=bank, **FEW)
    assert first.bank == ()
    (path,) = tmp_path.glob("*/*.json")
    content = json.loads(path.read_text())
    content["plans"][0]["value"] = 1.0  # a lie
    path.write_text(json.dumps(content))
    second = cocco.explore(GOOGLENET, alpha=0.002, bank=bank, **FEW)
    assert len(second.bank) == 1
    assert second.cost == pytest.approx(
        second.accelerator.buffer_bytes + 0.002 * evaluate(GOOGLENET, second.plan, second.accelerator).energy_pj
    )
    assert second.cost <= first.accelerator.buffer_bytes + 0.002 * first.evaluation.energy_pj
    third = cocco.partition(
        GOOGLENET, first.accelerator, metric="ema", keep="none", method="ga", samples=300, bank=bank
    )
    assert third.cost <= evaluate(GOOGLENET, replace(first.plan, metric="ema"), first.accelerator).ema_bytes


def test_the_same_question_with_the_same_bank_has_the_same_bytes(tmp_path: Path):
    """And without one, those of a search that has never seen one."""
    cocco.explore(GOOGLENET, alpha=0.001, bank=cocco.Bank(tmp_path), **FEW)
    known = cocco.Bank(known=(tmp_path,))  # nothing is added
    found = [cocco.explore(GOOGLENET, bank=known, **FEW).to_json() for _ in range(2)]
    assert found[0] == found[1] and len(found[0]["bank"]) == 1
    fresh = cocco.explore(GOOGLENET, **FEW).to_json()
    assert "bank" not in fresh
    for _ in range(2):  # what it has left itself is nothing new
        assert cocco.explore(GOOGLENET, bank=cocco.Bank(tmp_path / "own"), **FEW).to_json() == fresh
    assert cocco.explore(GOOGLENET, bank=cocco.Bank(tmp_path / "empty"), **FEW).to_json() == fresh


def test_an_entry_that_is_none_is_said_once_and_ignored(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    bank = cocco.Bank(tmp_path)
    first = cocco.explore(GOOGLENET, bank=bank, **FEW)
    (path,) = tmp_path.glob("*/*.json")
    good = json.loads(path.read_text())
    for bad in ("x", "{}", json.dumps(good | {"plans": [{"bytes": [1]}]}), json.dumps(good | {"format": "other/1"})):
        path.write_text(bad)
        assert read_entry(path) is None
    caplog.clear()
    assert cocco.explore(GOOGLENET, bank=bank, **FEW).to_json() == first.to_json()
    (record,) = caplog.records
    assert "\n" not in record.getMessage() and str(path) in record.getMessage()
    assert read_entry(path) is not None  # written anew


def test_plans_of_another_network_or_machine_are_no_starts(tmp_path: Path):
    """A lying entry: it names layers that are not there, or joins layers that the paper's rule does not."""
    problem = on_hardware(GOOGLENET, Accelerator(shared_buffer=2**20, plans="paper"))
    apart = [0, next(v for v in range(2, 72) if 0 not in GOOGLENET.producers[v])]
    rest = [[v] for v in range(72) if v not in apart]
    plans = [[[v] for v in range(71)], [[v] for v in range(73)], [apart, *rest], [[-1], *([v] for v in range(72))]]
    content = {
        "format": "cocco-bank/1", "question": question_of(problem),
        "plans": [{"bytes": [2**20], "value": 1.0, "asked": "", "groups": groups, "keep": []} for groups in plans],
    }  # fmt: skip
    folder = tmp_path / network_name(GOOGLENET)
    folder.mkdir()
    write_json(folder / f"{question_name(question_of(problem))}.json", content)
    assert cocco.Bank(tmp_path).starts(problem, 9).plans == []


def test_several_networks_start_from_plans_of_each(tmp_path: Path):
    bank, vgg = cocco.Bank(tmp_path), workloads.load("vgg16")
    chip = Accelerator(shared_buffer=2**20)
    for network in (GOOGLENET, vgg):
        cocco.partition(network, chip, method="greedy", bank=bank)
    starts = bank.starts(over_space([GOOGLENET, vgg]), 5)
    assert [[plan.network_name for plan in plans] for plans in starts.plans] == [["googlenet", "vgg16"]]
    assert bank.starts(over_space([GOOGLENET, workloads.load("resnet50")]), 5).plans == []


def test_a_front_starts_from_the_bank(tmp_path: Path):
    bank = cocco.Bank(tmp_path)
    best = cocco.partition(GOOGLENET, Accelerator(shared_buffer=512 * KiB), keep="none", bank=bank)
    front = cocco.pareto(GOOGLENET, space=SPACE, keep="none", samples=300, bank=bank)
    assert len(front.bank) == 1
    (value,) = front.front.query("shared_buffer_bytes == 512 * 1024")["energy_pj"]
    assert value <= best.cost
    limit = {"energy": best.cost}
    found = cocco.minimize(GOOGLENET, "capacity", limit, space=SPACE, keep="none", samples=300, bank=bank)
    assert found.value is not None and found.value <= 512 * KiB and found.bank


def test_a_small_search_finds_its_own(tmp_path: Path):
    assert [banks.most_starts(samples, 100, 1) for samples in (99, 250, 10**4)] == [0, 2, banks.MOST_STARTS]


def test_too_many_questions_of_a_network_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(banks, "MOST_ENTRIES", 2)
    plan = Partition.layerwise(GOOGLENET)
    for cores in (1, 2, 3):
        chip = Accelerator(shared_buffer=2**20, cores=cores)
        cocco.Bank(tmp_path).keep(on_hardware(GOOGLENET, chip), [(chip, [plan], [evaluate(GOOGLENET, plan, chip)])])
    kept = [json.loads(path.read_text())["question"]["cores"] for path in tmp_path.glob("*/*.json")]
    assert sorted(kept) == [2, 3]


def test_the_command_line_has_a_bank_unless_it_is_to_start_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And for the default method alone: one that is asked by name answers for itself."""
    tiny = write_tiny(tmp_path / "tiny.json")
    asked = ("partition", tiny, "--shared-buffer", "64KB", "--keep", "none", "--samples", 300, "--json")
    fresh = answer(command(*asked))
    monkeypatch.setenv("COCCO_BANK", str(tmp_path / "bank"))
    assert answer(command(*asked, "--fresh")) == fresh and not (tmp_path / "bank").exists()
    assert answer(command(*asked)) == fresh
    assert len([*(tmp_path / "bank").glob("*/*.json")]) == 1
    assert answer(command(*asked)) == fresh  # the same search has nothing to learn from itself
    other = command(*asked, "--seed", 1)
    assert len(answer(other)["bank"]) == 1 and "--fresh starts anew" in other.stderr
    assert answer(other)["totals"] == fresh["totals"]
    assert "bank" not in answer(command(*asked, "--method", "greedy"))
    assert answer(command(*asked, "--fresh")) == fresh


def test_fronts_and_limits_say_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The limits start from what the front has left; again, from the same."""
    monkeypatch.setenv("COCCO_BANK", str(tmp_path / "bank"))
    tiny = write_tiny(tmp_path / "tiny.json")
    few = (tiny, "--range", "32KB:128KB:32KB", "--samples", 300, "--json")
    fronts = [answer(command("pareto", *few)) for _ in range(2)]
    assert fronts[0] == fronts[1] and "bank" not in fronts[0]
    limited = answer(command("explore", *few, "--minimize", "capacity", "--limit", "energy=1J"))
    assert len(limited["bank"]) == 1


def test_the_users_bank_is_in_the_cache_directory(monkeypatch: pytest.MonkeyPatch):
    assert banks.users_bank() is None  # tests have none
    monkeypatch.delenv("COCCO_BANK")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert banks.users_bank() == cocco.Bank("/somewhere/cocco/bank")
