"""Run folders where a network, a plan or hardware is asked for; plans that know their hardware; two runs compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from simulator import Accelerator, Partition, evaluate
from tests.helpers.command_line import answer, assert_malformed, cocco, write_json
from tests.helpers.pages import data_of
from tests.helpers.tiny_network import write_tiny
from workloads import load

pytestmark = pytest.mark.usefixtures("undrawn")

SEARCH = ("--samples", 60, "--method", "ga", "--keep", "none")
RANGE = ("--range", "512KB:1536KB:256KB")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of one run on one core, one on two cores, one for two networks, one front, one of a decoding step."""
    folder = tmp_path_factory.mktemp("runs")
    for words in (
        ("explore", "vgg16", *SEARCH, *RANGE, "-o", folder / "one"),
        (
            "explore",
            "vgg16",
            *SEARCH,
            "--cores",
            2,
            "--separate",
            *RANGE,
            "--range",
            "144KB:2304KB:720KB",
            "--seed",
            5,
            "-o",
            folder / "two",
        ),
        ("explore", "vgg16", "googlenet", *SEARCH, *RANGE, "-o", folder / "both"),
        ("pareto", "vgg16", "--samples", 40, "--keep", "none", *RANGE, "-o", folder / "front"),
        ("explore", "gpt2", "--phase", "decode", "--layers", 1, *SEARCH, *RANGE, "-o", folder / "step"),
    ):
        assert cocco(*words).returncode == 0
    return folder


def result(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text())["result"]


@pytest.mark.parametrize("name", ["one", "two", "step"])
def test_a_run_is_priced_as_it_was_found(runs: Path, name: str):
    """The network, with the step of a language model, the plan and the hardware are those of the run."""
    found = answer(cocco("evaluate", runs / name, "--json"))
    assert found["totals"] == result(runs / name)["totals"]
    assert found["accelerator"] == result(runs / name)["accelerator"]


@pytest.mark.parametrize(
    "words", [("{}",), ("--partition", "{}"), ("{}/partition.json",), ("layerwise", "--hardware", "{}")]
)
def test_a_plan_and_hardware_may_be_a_run(runs: Path, words: tuple[str, ...]):
    told = [word.format(runs / "two") for word in words]
    found = answer(cocco("evaluate", "vgg16", *told, "--json"))
    assert found["accelerator"] == result(runs / "two")["accelerator"]
    if "layerwise" not in words:
        assert found["totals"] == result(runs / "two")["totals"]


def test_the_network_of_a_run_is_shown(runs: Path):
    assert answer(cocco("show", runs / "step", "--json"))["name"] == "gpt2_decode_layers1"
    assert_malformed(cocco("show", runs / "both"), ["both", "vgg16, googlenet"])


def test_a_page_shows_networks_that_are_not_built_in(runs: Path, tmp_path: Path):
    """A step of a language model, bits of one's own, a file: with picture and regions, as the run priced them."""
    network = write_tiny(tmp_path / "tiny.json")
    for name, words in (("file", (network,)), ("bits", ("vgg16", "--bits", "weights=4"))):
        words = (*words, "--range", "64KB:1MB:64KB", *SEARCH, "-o", tmp_path / name)
        assert cocco("explore", *words).returncode == 0
    for folder in (runs / "step", tmp_path / "file", tmp_path / "bits"):
        assert cocco("report", folder).returncode == 0
        assert data_of(folder)["networks"][0]["drawn"] and any(data_of(folder)["choices"][0]["plans"][0]["needs"])
        assert "MAIN: windows" in (folder / "report.html").read_text()
    (tmp_path / "tiny.json").unlink()
    assert cocco("report", tmp_path / "file").returncode == 0
    assert data_of(tmp_path / "file")["networks"][0]["drawn"] is None
    assert "cannot be read from here" in (tmp_path / "file" / "report.html").read_text()


def test_a_page_links_no_plan_that_is_not_there(runs: Path, tmp_path: Path):
    folder = shutil.copytree(runs / "one", tmp_path / "one")
    assert cocco("report", folder).returncode == 0 and 'href="partition.json"' in (folder / "report.html").read_text()
    (folder / "partition.json").unlink()
    assert cocco("report", folder).returncode == 0 and "partition.json" not in (folder / "report.html").read_text()


def test_each_network_of_a_run_has_its_plan(runs: Path):
    for place, name in enumerate(("vgg16", "googlenet")):
        found = answer(cocco("evaluate", name, runs / "both", "--json"))
        assert found["totals"] == result(runs / "both")["networks"][place]["totals"]
    assert_malformed(cocco("evaluate", runs / "both"), ["both", "vgg16, googlenet", "name the network"])
    assert_malformed(cocco("evaluate", "resnet50", runs / "both"), ["both", "'resnet50'", "vgg16, googlenet"])


def test_a_front_has_many_plans_and_each_knows_its_memory(runs: Path):
    assert_malformed(cocco("evaluate", runs / "front"), ["front of several plans", "partitions"])
    assert_malformed(cocco("evaluate", "vgg16", "layerwise", "--hardware", runs / "front"), ["front of several plans"])
    first = min((runs / "front" / "partitions").glob("*.json"))
    found = answer(cocco("evaluate", "vgg16", first, "--json"))
    point = result(runs / "front")["front"][0]
    assert found["accelerator"]["shared_buffer"] == point["shared_buffer_bytes"]
    assert found["totals"]["energy_pj"] == point["energy_pj"]


def test_options_take_precedence_over_what_a_plan_was_made_for_and_it_is_said(runs: Path):
    finished = cocco("evaluate", "vgg16", runs / "two", "--shared-buffer", "2MB", "--batch", 2, "--json")
    found = answer(finished)["accelerator"]
    assert (found["shared_buffer"], found["global_buffer"], found["batch"], found["cores"]) == (2 << 20, None, 2, 2)
    (note,) = finished.stderr.splitlines()
    assert "was made for other hardware" in note and "batch 2 (made for 1)" in note and "cores" not in note
    assert "a shared buffer of 2048 KB in place of a global buffer" in note


def test_it_is_said_where_the_hardware_comes_from(runs: Path):
    """In words below the answer, on stderr beside JSON; with an option that says it, nothing."""
    words = cocco("evaluate", "vgg16", "layerwise")
    assert words.stdout.splitlines()[-1].startswith("Hardware: default, no option given: a global buffer of 1024 KB")
    assert words.stderr == ""
    assert (
        "hardware: default, no buffer option given"
        in cocco("evaluate", "vgg16", "layerwise", "--json", "--cores", 2).stderr
    )
    assert cocco("evaluate", "vgg16", "layerwise", "--shared-buffer", "1MB", "--json").stderr == ""
    assert f"for which {runs / 'one'} was made." in cocco("evaluate", runs / "one").stdout
    assert "cores 2, for which" in cocco("capacity", runs / "two").stdout


def test_plans_of_different_hardware_are_compared_on_the_default_and_said(runs: Path):
    finished = cocco("compare", "vgg16", runs / "one", runs / "two", "--json")
    assert answer(finished)["accelerator"]["global_buffer"] == 1 << 20
    assert [line.partition(" was made")[2] != "" for line in finished.stderr.splitlines()] == [False, True, True]
    alike = cocco("compare", "vgg16", runs / "two", "layerwise", "--json")
    assert answer(alike)["accelerator"] == result(runs / "two")["accelerator"]


def test_two_runs_are_compared_by_their_answers_and_questions(runs: Path):
    found = answer(cocco("compare", runs / "one", runs / "two", "--json"))
    assert [run["run"] for run in found["runs"]] == ["one", "two"]
    for run in found["runs"]:
        said = result(runs / run["run"])
        assert (run["cost"], run["energy_pj"]) == (said["cost"], said["totals"]["energy_pj"])
    changed = {each["setting"]: each["values"] for each in found["asked_differently"]}
    assert changed["cores"] == [1, 2] and changed["seed"] == [0, 5] and "samples" not in changed
    assert changed["space.weight_buffer.low"] == [None, 147456]
    text = cocco("compare", runs / "one", runs / "two").stdout
    change = 100 * (found["runs"][1]["energy_pj"] / found["runs"][0]["energy_pj"] - 1)
    assert f"{change:+.2f} %" in text and "Asked differently" in text
    assert answer(cocco("report", runs / "one", runs / "two", "--json")) == {"page": "compare-two.html", **found}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("compare", "one"), ["PLAN"]),
        (("compare", "one", "two", "both"), ["one other", "2"]),
        (("compare", "one", "front"), ["front", "no run"]),
        (("compare", "one", "one"), ["'one'", "twice"]),
        (("evaluate", "vgg16", "nowhere"), ["nowhere: is not there", ".json", "folder of a run"]),
        (("evaluate", "vgg16", "layerwise", "--hardware", "nowhere"), ["nowhere: is not there", "folder of a run"]),
        (("compare", "one", "nowhere"), ["nowhere", "no directory"]),
        (("compare", "one", "two", "--cores", "2"), ["--cores", "two runs"]),
        (("compare", "one", "two", "--hardware", "one"), ["--hardware", "two runs"]),
        (("evaluate", "one", "two"), ["'two'", "the run one"]),
        (("evaluate", "vgg16", "one", "--partition", "two"), ["--partition two", "'one'"]),
        (("evaluate", "vgg16"), ["vgg16", "--partition", "layerwise"]),
        (("evaluate", "empty"), ["empty", "result.json"]),
        (("evaluate", "torn"), ["torn", "result.json"]),
        (("evaluate", "moved"), ["moved", "nowhere.json", "name it"]),
        (("partition", "vgg16", "--from", "front"), ["front of several plans"]),
    ],
    ids=" ".join,
)
def test_what_is_no_run_or_contradicts_itself_is_one_line(
    runs: Path, words: tuple[str, ...], told: list[str], tmp_path
):
    for name in ("one", "two", "both", "front"):
        (tmp_path / name).symlink_to(runs / name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "result.json").write_text('{"result": ')
    shutil.copytree(runs / "one", tmp_path / "moved")
    about = json.loads((runs / "one" / "result.json").read_text())
    write_json(tmp_path / "moved" / "result.json", about | {"command": "cocco explore nowhere.json"})
    assert_malformed(cocco(*words, folder=tmp_path), told)


def test_a_search_starts_from_the_plans_of_a_run(runs: Path):
    words = ("vgg16", "googlenet", "--from", runs / "both", "--range", "2MB:2MB:64KB", *SEARCH, "--json")
    assert answer(cocco("explore", *words))["status"] == "feasible"
    found = cocco("partition", "vgg16", "--from", runs / "one", "--samples", 10, "--keep", "none", "--json")
    assert answer(found)["accelerator"] == result(runs / "one")["accelerator"]
    assert answer(found)["totals"]["energy_pj"] >= 0


def test_plans_of_other_sizes_know_theirs(runs: Path):
    for path in (runs / "one" / "sizes").glob("*.json"):
        content = json.loads(path.read_text())
        assert f"{content['accelerator']['shared_buffer'] // 1024}KB" == path.stem


@pytest.mark.parametrize(
    ("accelerator", "told"),
    [
        ("1MB", ["'accelerator'", "'1MB'", "mapping"]),
        ({"cores": 2}, ["accelerator", "no buffers"]),
        ({"shared_buffer": -1}, ["plan.json", "accelerator", "shared_buffer", "-1"]),
        ({"shared_buffer": "1MB", "coers": 2}, ["plan.json", "'coers'"]),
        ({"shared_buffer": "1MB", "mapper": {"name": "magic"}}, ["plan.json", "mapper", "magic"]),
    ],
    ids=str,
)
def test_a_plan_of_malformed_hardware_is_one_line(accelerator: object, told: list[str], tmp_path: Path):
    path = write_json(tmp_path / "plan.json", {"network": "vgg16", "subgraphs": [], "accelerator": accelerator})
    assert_malformed(cocco("evaluate", "vgg16", path), told)


def test_a_hand_written_plan_may_name_its_hardware(tmp_path: Path):
    """In the words of a hardware file; the price is that on this hardware."""
    path = tmp_path / "plan.yaml"
    path.write_text("subgraphs:\n- [conv1_1, conv1_2]\naccelerator: {shared_buffer: 1.5MB, cores: 2}\n")
    network = load("vgg16")
    chip = Accelerator(shared_buffer=3 << 19, cores=2)
    expected = evaluate(network, Partition.load(path, network), chip)
    assert (
        answer(cocco("evaluate", "vgg16", path, "--json"))["totals"]
        == json.loads(json.dumps(expected.to_json()))["totals"]
    )


def test_a_plan_of_a_tiled_mapper_is_priced_with_it(tmp_path: Path):
    words = ("vgg16", "--mapper", "tiled", "--shared-buffer", "1MB", "--method", "greedy", "--keep", "none")
    searched = answer(cocco("partition", *words, "-o", tmp_path / "plan.json", "--json"))
    assert answer(cocco("evaluate", "vgg16", tmp_path / "plan.json", "--json"))["totals"] == searched["totals"]
    flat = answer(cocco("evaluate", "vgg16", tmp_path / "plan.json", "--mapper", "enumerate", "--json"))
    assert flat["totals"] != searched["totals"]
