"""cocco partition and cocco explore: the JSON of the design, the files, the same bytes twice, Ctrl-C."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import pty
import shlex
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest

import workloads
from cocco.output.folders.written.about import FEW_ROWS
from simulator import Accelerator, KiB, MiB, Partition, evaluate
from tests.helpers.command_line import COMMAND, ENVIRONMENT, answer, assert_malformed, cocco, cocco_process

pytestmark = pytest.mark.usefixtures("undrawn")

EVALUATION = {"network", "accelerator", "tile_rule", "totals", "subgraphs", "verified"}
SEARCH = {"method", "metric", "seed", "samples", "status", "lower_bound", "gap", "partition"}
EXPLORE = ("explore", "vgg16", "--shared", "--samples", "400")
OF_FIVE = (*EXPLORE, "--range", "512KB:1536KB:256KB")
FILES = {
    "result.json", "partition.json", "history.csv", "samples.csv",
    "cost.png", "cost.svg", "samples.png", "samples.svg",
}  # fmt: skip


def files_in(folder: Path) -> set[str]:
    """The files of a run; beside them are folders, of the plans of other sizes and to go on from a Ctrl-C."""
    assert all(path.is_file() or path.name in ("sizes", ".resume") for path in folder.iterdir())
    return {path.name for path in folder.iterdir() if path.is_file()}


def test_partition_prints_what_the_design_promises():
    arguments = ("--method", "ga", "--samples", 300, "--metric", "energy", "--seed", 7, "--keep", "none", "--json")
    content = answer(cocco("partition", "vgg16", *arguments))
    assert content.keys() >= EVALUATION | SEARCH
    assert (content["method"], content["metric"], content["seed"]) == ("ga", "energy", 7)
    assert 200 < content["samples"] <= 300
    assert (content["status"], content["verified"]) == ("feasible", None)
    assert content["partition"] == [subgraph["layers"] for subgraph in content["subgraphs"]]


def test_partition_is_priced_by_the_simulator():
    """The defaults are the paper's hardware and energy; the search is never worse than running layer by layer."""
    content = answer(cocco("partition", "vgg16", "--samples", 300, "--json"))
    network, accelerator = workloads.load("vgg16"), Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)
    keep = [{"tensor": each["tensor"], "from": each["from"], "until": each["until"]} for each in content["keep"]]
    judged = evaluate(network, Partition.from_groups(network, content["partition"], keep=keep), accelerator)
    assert content["metric"] == "energy"
    assert content["totals"] == judged.to_json()["totals"]
    assert judged.energy_pj <= evaluate(network, Partition.layerwise(network), accelerator).energy_pj


def test_partition_file_can_be_evaluated(tmp_path: Path):
    found = answer(cocco("partition", "vgg16", "--samples", 200, "-o", "deep/plan.json", "--json", folder=tmp_path))
    again = answer(cocco("evaluate", "vgg16", "--partition", "deep/plan.json", "--json", folder=tmp_path))
    assert again["totals"] == found["totals"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["plan.json"]


def test_explore_prints_what_the_design_promises():
    content = answer(cocco(*EXPLORE, "--alpha", "0.004", "--json"))
    assert content.keys() >= EVALUATION | SEARCH | {"alpha", "cost", "shared_buffer_bytes"}
    assert not content.keys() & {"global_buffer_bytes", "weight_buffer_bytes"}
    size = content["shared_buffer_bytes"]
    assert size in range(128 * KiB, 3072 * KiB + 1, 64 * KiB)
    assert content["accelerator"]["shared_buffer"] == size
    assert content["alpha"] == 0.004
    assert content["cost"] == pytest.approx(size + 0.004 * content["totals"]["energy_pj"], rel=1e-12)


def test_separate_buffers_have_the_paper_s_candidates():
    words = ("--separate", "--samples", 100, "--keep", "none", "--method", "sa")  # without the proofs, which take 10 s
    content = answer(cocco("explore", "vgg16", *words, "--json"))
    assert content["global_buffer_bytes"] in range(128 * KiB, 2048 * KiB + 1, 64 * KiB)
    assert content["weight_buffer_bytes"] in range(144 * KiB, 2304 * KiB + 1, 72 * KiB)
    assert "shared_buffer_bytes" not in content


def test_one_shared_buffer_is_the_default():
    assert cocco(*EXPLORE, "--json").stdout == cocco("explore", "vgg16", "--samples", 400, "--json").stdout


def test_ranges_are_kept():
    ranges = ("--range", "512KB:1MB:256KB", "--range", "100000:100002:1")
    content = answer(cocco("explore", "vgg16", "--separate", *ranges, "--samples", 100, "--json"))
    assert content["global_buffer_bytes"] in (512 * KiB, 768 * KiB, 1024 * KiB)
    assert content["weight_buffer_bytes"] in (100_000, 100_001, 100_002)


def test_explore_writes_all_files(tmp_path: Path):
    finished = cocco(*EXPLORE, "--keep", "none", "-o", "deep/run", "--json", folder=tmp_path)
    content, folder = answer(finished), tmp_path / "deep" / "run"
    assert files_in(folder) == FILES
    saved = json.loads((folder / "result.json").read_text())
    assert saved["result"] == content
    assert saved["command"] == "cocco explore vgg16 --shared --samples 400 --keep none -o deep/run --json"
    assert saved["seed"] == 0 and saved["engine"] in ("fast", "reference") and saved["seconds"] > 0
    assert saved["versions"].keys() == {"python", "cocco", "numpy", "deap"}
    paper = {"low": 131072, "high": 3145728, "step": 65536, "extends": True}
    assert saved["settings"]["space"] == content["searched"] == {"shared_buffer": paper}
    samples = list(csv.DictReader((folder / "samples.csv").open()))
    numbers = [int(row["sample"]) for row in samples]  # founders and steps of annealing in vain have no row
    assert numbers == sorted(set(numbers)) and 150 < len(numbers) <= numbers[-1] <= content["samples"] <= 400
    assert float(samples[-1]["best_cost"]) == min(float(row["cost"]) for row in samples) >= content["cost"]
    assert content["status"] == "optimal" and content["lower_bound"] == content["cost"]
    history = list(csv.DictReader((folder / "history.csv").open()))
    assert int(history[-1]["samples"]) == numbers[-1]


def test_recommended_partition_runs(tmp_path: Path):
    content = answer(cocco(*OF_FIVE, "-o", "run", "--json", folder=tmp_path))
    finished = cocco(
        "evaluate", "vgg16", "--partition", "run/partition.json", "--shared-buffer", content["shared_buffer_bytes"],
        "--verify", "--json", folder=tmp_path,
    )  # fmt: skip
    again = answer(finished)
    assert again["verified"] is True and again["totals"] == content["totals"]


def test_several_networks_share_one_memory(tmp_path: Path):
    space = ("--range", "512KB:2048KB:768KB", "--alpha", "0.002")
    arguments = ("explore", "vgg16", "gpt", "--weights", "1", "0.5", *space, "--samples", "20")
    finished = cocco(*arguments, "-o", "run", folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    first = finished.stdout.splitlines()[0]
    assert first.startswith("Build a shared buffer of ") and "for 2 networks" in first
    names = FILES - {"partition.json"} | {"partition-vgg16.json", "partition-gpt.json"}
    assert files_in(tmp_path / "run") == names
    for name in ("vgg16", "gpt"):
        plan = json.loads((tmp_path / "run" / f"partition-{name}.json").read_text())
        assert plan["network"] == name
    content = answer(cocco(*arguments, "--json"))
    assert [(each["network"], each["weight"]) for each in content["networks"]] == [("vgg16", 1.0), ("gpt", 0.5)]
    total = sum(each["weight"] * each["totals"]["energy_pj"] for each in content["networks"])
    assert content["cost"] == pytest.approx(content["shared_buffer_bytes"] + 0.002 * total, rel=1e-12)


def test_names_of_network_files_cannot_leave_the_folder(tmp_path: Path):
    """Two networks whose names differ in signs that a file name should not have."""
    for name, path in (("../up", "a.json"), ("..:up", "b.json")):
        builder = workloads.Builder(name)
        builder.conv("conv", builder.input("x", 8, 8, 8), 8)
        workloads.save(builder.build(), tmp_path / path)
    finished = cocco("explore", "./a.json", "./b.json", "--samples", 20, "-o", "run", folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "b.json", "run"}
    plans = sorted(path.name for path in (tmp_path / "run").glob("partition*"))
    assert plans == ["partition-.._up-2.json", "partition-.._up.json"]


@pytest.mark.parametrize(
    ("keep", "table", "work"),
    [("auto", "The optima of the sizes that were solved", "steps"), ("none", "cheapest samples by size", "samples")],
)
def test_explore_for_people_recommends_first(keep: str, table: str, work: str):
    finished = cocco(*OF_FIVE, "--keep", keep)
    assert finished.returncode == 0
    first = finished.stdout.splitlines()[0]
    assert first.startswith("Build a shared buffer of ") and "mJ" in first and "ms" in first
    for part in ("lower bound", "layer by layer", "DRAM", table):
        assert part in finished.stdout
    assert finished.stderr.count("\n") == 1 and f" {work} in " in finished.stderr  # no progress bar: no terminal


def test_the_same_question_has_the_same_bytes():
    command = ("partition", "vgg16", "--samples", "200", "--seed", "3", "--json")
    first, second = (cocco_process(*command).stdout for _ in range(2))
    assert first == second and first
    assert "reference" not in first  # no engine, no time, no path


@pytest.mark.usefixtures("with_pictures")
def test_output_and_files_of_two_runs_are_equal_but_for_the_time(tmp_path: Path):
    first, second = (
        run(*OF_FIVE, "-o", name, "--json", folder=tmp_path) for run, name in ((cocco, "a"), (cocco_process, "b"))
    )
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout and "reference" not in first.stdout
    for name in FILES - {"result.json"}:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_an_existing_folder_is_written_over_where_it_is_forced(tmp_path: Path):
    for seed in (1, 2):
        assert cocco(*OF_FIVE, "--seed", seed, "-o", tmp_path, "--force").returncode == 0
    assert json.loads((tmp_path / "result.json").read_text())["seed"] == 2
    assert files_in(tmp_path) == FILES


def test_the_command_that_is_named_as_a_proof_runs(tmp_path: Path):
    """The last line of the output is a command line; hardware that is not the default is in it."""
    machine = ("--batch", "2", "--max-regions", "none")
    found = cocco("partition", "vgg16", *machine, "--samples", 50, "-o", "plan.json", folder=tmp_path)
    proof = shlex.split(found.stdout.splitlines()[-1])
    assert proof[:2] == ["cocco", "evaluate"] and all(word in proof for word in machine)
    verified = answer(cocco(*proof[1:], "--json", folder=tmp_path))
    assert verified["verified"] is True
    searched = answer(cocco("partition", "vgg16", *machine, "--samples", 50, "--json"))
    assert verified["totals"] == searched["totals"]


@pytest.mark.parametrize("command", [("partition", "vgg16", "-o", "{}.json"), ("explore", "vgg16", "-o", "{}")])
def test_unwritable_place_is_found_before_the_search(command: tuple[str, ...], tmp_path: Path):
    """Ten million samples would take hours: the error comes at once. A file is no folder."""
    (tmp_path / "file").write_text("")
    arguments = [word.replace("{}", "file/out") for word in command]
    start = time.monotonic()
    finished = cocco(*arguments, "--samples", 10_000_000, folder=tmp_path)
    assert_malformed(finished, ["file", "cannot be written"])
    assert time.monotonic() - start < 20
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_in_place_of_a_file_is_found_before_the_search(tmp_path: Path):
    (tmp_path / "samples.csv").mkdir()
    finished = cocco(*EXPLORE, "--samples", 10_000_000, "-o", tmp_path)
    assert_malformed(finished, ["samples.csv", "cannot be written"])
    (tmp_path / "plan.json").mkdir()
    assert_malformed(cocco("partition", "vgg16", "-o", tmp_path / "plan.json"), ["plan.json", "cannot be written"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(tmp_path: Path):
    tmp_path.chmod(0o500)
    assert_malformed(cocco(*EXPLORE, "-o", tmp_path / "run"), ["run", "cannot be written", "Permission denied"])


def test_nothing_stays_behind_when_the_search_refuses_its_input(tmp_path: Path):
    finished = cocco(*EXPLORE, "--alpha=-1", "-o", "new/run", folder=tmp_path)
    assert_malformed(finished, ["alpha", "-1"])
    assert not list(tmp_path.iterdir())


def interrupted(arguments: list[str], folder: Path, until: Path) -> tuple[int, str, str]:
    """Start a search, press Ctrl-C a moment after this path appears, return (exit code, stdout, stderr)."""
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while not until.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_ctrl_c_keeps_and_saves_the_best_so_far(tmp_path: Path):
    arguments = ["explore", "resnet50", "--shared", "--samples", "10000000", "--keep", "none", "-o", "run", "--json"]
    code, out, err = interrupted(arguments, tmp_path, tmp_path / "run")
    assert code == 130, err
    content: dict[str, Any] = json.loads(out)
    assert content["status"] == "stopped" and 0 < content["samples"] < 10_000_000
    assert "stopped" in err and "Traceback" not in err
    pictures = {name for name in FILES if name.endswith((".png", ".svg"))}
    assert files_in(tmp_path / "run") == FILES - pictures  # within a second; the page of `cocco report` has charts
    with (tmp_path / "run" / "samples.csv").open() as samples:
        assert sum(1 for _ in samples) < FEW_ROWS + 1_000
    assert cocco("report", "run", folder=tmp_path).returncode == 0
    plan = Partition.load(tmp_path / "run" / "partition.json", workloads.load("resnet50"))
    assert [list(group) for group in plan.names] == content["partition"]


def test_progress_is_shown_on_a_terminal_only():
    """Standard error is a terminal here, standard output is not."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *EXPLORE, "--keep", "none", "--json"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        assert process.stdout is not None
        out, shown = process.stdout.read(), b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so at the end of a terminal
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert b"400" in shown and b"samples" in shown and b"best" in shown
    assert 300 < json.loads(out)["samples"] <= 400 and out.count(b"\n") == 1


def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        finished = subprocess.run(
            [*COMMAND, "networks"], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert finished.returncode == 2
    assert finished.stderr == "cocco: error: standard output: cannot be written: No space left on device\n"


def test_buffers_of_all_cores_may_count(tmp_path: Path):
    """Four cores: the cost has four times the buffer; capacity of a limit is that of all."""
    asked = ("vgg16", "--cores", 4, "--keep", "none", "--samples", 100, "--range", "256KB:768KB:256KB")
    one = answer(cocco("explore", *asked, "--json"))
    every = answer(cocco("explore", *asked, "--count", "all", "--json", "-o", tmp_path))
    assert "count" not in one and every["count"] == "all"
    for found, cores in ((one, 1), (every, 4)):
        energy = found["totals"]["energy_pj"]
        assert found["cost"] == pytest.approx(cores * found["shared_buffer_bytes"] + 0.002 * energy)
    assert json.loads((tmp_path / "result.json").read_text())["result"]["count"] == "all"
    said = cocco("explore", *asked, "--count", "all").stdout
    assert f"{4 * every['shared_buffer_bytes']:,} bytes of buffer of 4 cores" in said
    limits = ("--minimize", "energy", "--limit", "capacity=1MB")
    limited = answer(cocco("explore", *asked, "--count", "all", "--json", *limits))
    assert (limited["shared_buffer_bytes"], limited["capacity_bytes"]) == (256 * KiB, 1 * MiB)
