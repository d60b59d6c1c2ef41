"""cocco explore --axis: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

import cocco as library
import workloads
from cocco.chips.sensitivity import is_firm
from cocco.effort.status import Interrupted
from simulator import Machine, Technology, evaluate
from simulator.chip.logic import NVDLA
from simulator.execution import verify
from simulator.hardware_files import load_accelerator
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.parts import first_of

SPACE = ("--range", "256KB:1MB:256KB", "--keep", "none", "--samples", 200)
AXES = ("--axis", "pe=4x4,8x8", "--axis", "dram=lpddr5,hbm2e", "--axis", "clock=0.8,1.0")
CHIP = ("--logic", "nvdla", "--exchange", "0.5mJ/mm2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("chip") / "run"
    run = cocco("explore", "vgg16", *AXES, *CHIP, *SPACE, "-o", found)
    assert run.returncode == 0, run.stderr
    return found


def test_the_chip_is_a_file_that_gives_its_numbers_again(folder: Path):
    said = json.loads((folder / "result.json").read_text())["result"]
    chip = load_accelerator(folder / "chip.yaml")
    network = workloads.load("vgg16")
    judged = verify(network, library.load_partition(folder / "partition.json", network), chip)
    assert judged.verified
    found = evaluate(network, library.load_partition(folder / "partition.json", network), chip)
    assert said["totals"]["energy_pj"] == found.energy_pj
    assert said["chip"]["area_mm2"]["total"] == chip.chip_area.total
    assert said["cost"] == pytest.approx(found.energy_pj + 0.5e9 * chip.chip_area.total, rel=1e-12)
    assert {"chips.png", "chips.svg"} <= {path.name for path in folder.iterdir()}
    table = pandas.read_csv(folder / "chips.csv")
    assert len(table) == 8 and table["verdict"].iloc[0] == "best" and set(table["pe"]) == {"4x4", "8x8"}


def test_the_folder_tells_the_same_as_python(folder: Path):
    machine = Machine(technology=Technology(logic=NVDLA))
    space = library.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    axes = {"pe": [(4, 4), (8, 8)], "dram": ["lpddr5", "hbm2e"], "clock": [0.8, 1.0]}
    found = library.explore_chips(
        workloads.load("vgg16"), axes, machine=machine, exchange="0.5mJ/mm2", space=space, keep="none", samples=200
    )
    said = json.loads((folder / "result.json").read_text())["result"]
    assert {name: said[name] for name in ("cost", "machines", "axes", "partition")} == {
        name: json.loads(json.dumps(found.to_json()))[name] for name in ("cost", "machines", "axes", "partition")
    }


def test_a_folder_is_not_written_over_by_another_question(folder: Path):
    again = cocco("explore", "vgg16", *AXES[:2], *CHIP, *SPACE, "-o", folder)
    assert_malformed(again, "holds the run of another question")
    assert_malformed(cocco("explore", "vgg16", *SPACE, "-o", folder), "holds the run of another question")
    plan = ("--partition", folder / "partition.json", "--hardware", folder / "chip.yaml", "--verify")
    assert cocco("evaluate", "vgg16", *plan).returncode == 0


@pytest.mark.parametrize("other", first_of(["gpt", "resnet50"], 1))
def test_limits_and_rates_are_printed(other):
    run = cocco("explore", "vgg16", other, *AXES, "--logic", "nvdla", *SPACE, "--rate",
                f"vgg16=5fps,{other}=10fps", "--limit", "area=6mm2", "--limit", "vgg16.latency=40ms")  # fmt: skip
    assert run.returncode == 0 and "mW on average, busy" in run.stdout and "optimum         proved" in run.stdout
    assert "of the paper's sum over subgraphs; as it is executed vgg16 takes" in run.stdout.replace("\n", " ")


def test_what_nothing_keeps_is_infeasible_with_the_nearest():
    run = cocco("explore", "vgg16", *AXES, *CHIP, *SPACE, "--limit", "area=1mm2")
    assert run.returncode == 1
    assert "Infeasible: no chip of the axes keeps the limits. Nearest is pe 4x4" in run.stdout.replace("\n", " ")
    found = answer(cocco("explore", "vgg16", *AXES, *CHIP, *SPACE, "--limit", "area=1mm2", "--json"), 1)
    assert found["status"] == "infeasible" and found["nearest"]["limit"] == "area" and found["nearest"]["factor"] > 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--axis", "pe=4"), "axis pe must be a pair such as 4x4"),
        (("--axis", "dram=sdram"), "dram must be one of"),
        (("--axis", "pe=4x4", "--axis", "pe=8x8"), "--axis pe is given twice"),
        (("--axis", "pe=4x4,8x8", "--alpha", 0.1), "--alpha not allowed with --axis"),
        (("--axis", "pe=4x4,8x8", "--cores", "1,2"), "take --axis cores=1,2,4"),
        (("--axis", "pe=4x4,8x8", "--limit", "power=400mW"), "power is an average over the work"),
        (("--axis", "pe=4x4,8x8", "--limit", "resnet.latency=4ms"), "the networks are vgg16"),
        (("--axis", "pe=4x4,8x8", "--limit", "area=4mm2", "--limit", "area=5mm2"), "--limit area is given twice"),
        (("--axis", "pe=4x4,8x8", "--rate", "resnet=3fps"), "a rate is of one of vgg16"),
        (("--axis", "pe=4x4,8x8", "--rate", "vgg16"), "rates are NETWORK=N"),
        (("--axis", "pe=4x4,8x8", "--exchange", "5mJ/acre"), "exchange must be a number of"),
        (("--axis", "pe=4x4,8x8", "--minimize", "area"), "the least area needs a limit of"),
        (("--axis", "banks=2"), "axis banks needs a table of SRAM"),
        (("--axis", "pe=4x4,8x8", "--mapper", "cosa"), "knows the paper's PE array only"),
        (("--rate", "vgg16=3fps"), "--rate needs an --axis"),
    ],
)
def test_malformed_questions_are_one_line(words: tuple[str, ...], message: str):
    assert_malformed(cocco("explore", "vgg16", *SPACE, *words), message)


def test_a_price_that_nobody_says_is_no_price():
    run = cocco("explore", "vgg16", *AXES, "--logic", "nvdla", "--exchange", "0.1mJ/$", *SPACE)
    assert run.returncode == 0 and "the price of its DRAM, lpddr5, is not known" in run.stdout.replace("\n", " ")
    run = cocco("explore", "vgg16", "--axis", "pe=4x4,8x8", "--exchange", "0.1mJ/$", *SPACE)
    assert_malformed(run, "the price of its DRAM, of no kind, is not known")


def test_limits_on_energy_are_of_a_sample():
    words = ("--axis", "batch=1,4", "--minimize", "capacity", "--limit", "energy=17mJ", *SPACE, "--json")
    found = answer(cocco("explore", "vgg16", *words))
    assert found["totals"]["energy_pj"] / found["axes"]["batch"] <= 17e9 and found["axes"]["batch"] == 4


def test_without_axes_nothing_changes():
    plain = answer(cocco("explore", "vgg16", *SPACE, "--json"))
    assert "machines" not in plain and plain["alpha"] == 0.002


def test_the_largest_and_the_smallest_array_win_where_nothing_asks_otherwise():
    space = library.SharedBuffer(512 * 2**10, 512 * 2**10, 1024)
    machine = Machine(technology=Technology(logic=NVDLA))
    found = library.explore_chips(
        workloads.load("vgg16"), {"pe": [(4, 4), (4, 8), (8, 8)]}, machine=machine, space=space, keep="none",
        minimized="latency",
    )  # fmt: skip
    assert found.chip is not None and found.chip.name == "pe 8x8"
    assert any("costs anything here" in each for each in found.remarks)
    numbers = {row["pe"]: row["least"] for row in found.machines}
    assert len(set(numbers.values())) == 3  # each array has its own latency


def test_a_number_that_leaves_no_chip_is_named_and_makes_none_firm():
    machine = Machine(technology=Technology(logic=NVDLA))
    found = library.explore_chips(
        workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, machine=machine, keep="none", limits={"area": 2.2},
        space=library.SharedBuffer(512 * 2**10, 512 * 2**10, 1024), sensitivity=True,
    )  # fmt: skip
    shifts = {(each.number, each.factor): each for each in found.shifts}
    assert found.status == "optimal" and not is_firm(found.shifts)
    lost = shifts["mm2 of a MAC", 2.0]
    assert (lost.chip, lost.memory_bytes, lost.regret) == ("none within the limits", None, None)
    assert shifts["energy of a DRAM byte", 2.0].regret == 0


def test_an_interrupt_keeps_what_there_is():
    def press(stage: library.Stage) -> None:
        if stage.name == "chips" and stage.done > 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        library.explore_chips(workloads.load("vgg16"), {"pe": [(4, 4), (8, 8)]}, exchange="0.5mJ/mm2", stages=press)
    assert stop.value.result.status == "stopped" and len(stop.value.result.machines) == 2


@pytest.mark.parametrize("name", first_of(["vgg16", "resnet50"], 1))
def test_cores_as_an_axis_are_the_best_of_several_numbers_of_cores(name):
    """500 pJ for a byte of all cores are alpha 0.002 with count="all"; the other numbers are ruled out by bounds."""
    network, space = workloads.load(name), library.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    each = library.explore_cores(network, [1, 2, 4], count="all", alpha=0.002, space=space, keep="none")
    best = min(each.results, key=lambda result: result.cost)
    found = library.explore_chips(network, {"cores": [1, 2, 4]}, exchange="500pJ/B", space=space, keep="none")
    assert found.accelerator == best.accelerator and found.status == each.status == "optimal"
    assert found.evaluations[0].energy_pj == best.evaluation.energy_pj
    assert found.cost == pytest.approx(500 * best.cost, rel=1e-12)
    costs = {result.accelerator.cores: 500 * result.cost for result in each.results}
    assert all(row["bound"] <= costs[row["cores"]] * (1 + 1e-9) for row in found.machines)
