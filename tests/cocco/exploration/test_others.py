"""Methods of others: from an installed package, and from a file; their plans are priced here."""

from __future__ import annotations

from pathlib import Path

import pytest

import cocco
import workloads
from simulator import Accelerator, Partition, evaluate
from tests.helpers.command_line import answer, assert_malformed
from tests.helpers.command_line import cocco as command
from tests.helpers.packages import install_package

KB = 2**10
CODE = """
def blocks(problem, samples, seed):
    (network,) = problem.networks
    names = [layer.name for layer in network.layers]
    for size in range(1, 5):
        groups = [names[at : at + size] for at in range(0, len(names), size)]
        if problem.buffers:
            for each in problem.buffers["shared_buffer"]:
                yield (each,), groups
        else:
            yield groups
def strange(problem, samples, seed):
    yield [["nothing"]]
def broken(problem, samples, seed):
    yield {}["here"]
def nothing(problem, samples, seed):
    return []
def leaves(problem, samples, seed):
    import sys
    sys.exit(0)
def talks(problem, samples, seed):
    print("on my way")
    yield from blocks(problem, samples, seed)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install_package(
        tmp_path,
        monkeypatch,
        CODE,
        methods={each: each for each in ("blocks", "strange", "broken", "nothing", "leaves")},
    )
    return tmp_path


def test_the_best_plan_of_a_package_is_the_answer(package: Path):
    """Of four ways to cut a chain, priced one by one, the cheapest; and the same as a method of a file."""
    network, chip = workloads.load("vgg16"), Accelerator(shared_buffer=1024 * KB)
    names = [layer.name for layer in network.layers]
    plans = [[names[at : at + size] for at in range(0, len(names), size)] for size in range(1, 5)]
    priced = [evaluate(network, Partition.from_groups(network, each), chip) for each in plans]
    least = min(each.ema_bytes for each in priced if each.fits)
    found = cocco.partition(network, chip, method="blocks", metric="ema", keep="none")  # type: ignore[arg-type]
    assert found.evaluation.ema_bytes <= least and (found.method, found.samples) == ("blocks", 4)
    assert found.status == "feasible" and found.lower_bound is not None
    asked = ("partition", "vgg16", "--shared-buffer", "1MB", "--metric", "ema", "--keep", "none", "--json")
    said = answer(command(*asked, "--method", f"{package / 'my_package.py'}:blocks"))
    assert said["totals"]["ema_bytes"] == found.evaluation.ema_bytes


def test_a_method_may_choose_the_memory(package: Path):
    space = cocco.SharedBuffer(512 * KB, 1024 * KB, 256 * KB)
    found = cocco.explore(workloads.load("vgg16"), space=space, method="blocks", keep="none")  # type: ignore[arg-type]
    assert found.samples == 12 and found.accelerator.shared_buffer in (512 * KB, 768 * KB, 1024 * KB)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("strange", ["strange: sample 1: ", "'nothing'"]),
        ("broken", ["broken: sample 1: raises KeyError: 'here'"]),
        ("nothing", ["nothing: yields no plan"]),
        ("leaves", ["leaves: sample 1: raises SystemExit: 0"]),
        ("missing", ["--method", "'missing'"]),
    ],
)
def test_what_is_no_plan_is_one_line(name: str, said: list[str], package: Path):
    assert_malformed(command("partition", "vgg16", "--shared-buffer", "1MB", "--method", name, "--keep", "none"), said)


def test_what_code_of_others_prints_goes_to_stderr(package: Path):
    """So the object of --json is all there is on stdout."""
    asked = ("partition", "vgg16", "--shared-buffer", "1MB", "--metric", "ema", "--keep", "none", "--json")
    ran = command(*asked, "--method", f"{package / 'my_package.py'}:talks")
    assert answer(ran)["method"] and "on my way" in ran.stderr


def test_a_file_that_ends_the_process_is_one_line(tmp_path: Path):
    (tmp_path / "script.py").write_text("import sys\ndef plan():\n    return 1\nsys.exit(0)\n")
    ran = command("evaluate", "vgg16", f"{tmp_path / 'script.py'}:plan", "--shared-buffer", "1MB")
    assert_malformed(ran, ["script.py:plan: raises SystemExit: 0"])
