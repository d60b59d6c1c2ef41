"""Workers solve memories and points of fronts at the same time: the same bytes for any number of them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from typing import Any

import pytest

import cocco
import workloads
from cocco.bounds.floors.least_kept import Floors
from cocco.exploration import answer
from cocco.exploration.searching import front
from cocco.exploration.workers import jobs, worker
from cocco.problem.problem import on_hardware
from simulator import Accelerator
from tests.helpers.command_line import ROOT
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain
from tests.helpers.workers_here import workers_here

SPACE = cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 256 * 2**10)
ASKED: dict[str, Any] = {"space": SPACE, "samples": 300, "seed": 3}
QUESTIONS = {
    "explore": lambda network, **more: cocco.explore(network, metric="ema", alpha=0.05, **ASKED, **more),
    "pareto": lambda network, **more: cocco.pareto(network, **ASKED, **more),
    "minimize": lambda network, **more: cocco.minimize(network, "capacity", {"ema": 145e6}, **ASKED, **more),
}


@pytest.fixture
def here(monkeypatch):
    """Let workers be this process, and count what they are given; let no proof over all layers finish."""
    for module in (answer, front):
        monkeypatch.setattr(module, "KEPT_STEPS", 64)
    return workers_here(monkeypatch)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("workers", first_of([5, 2], 1))
def test_any_number_of_workers_gives_the_same_answer(name, workers, here):
    network = workloads.load("vgg16")
    one, many = (QUESTIONS[name](network, workers=count) for count in (1, workers))
    assert many.to_json() == one.to_json()
    assert many.points.equals(one.points)
    if name != "minimize":
        assert here and max(here) > 1


def test_a_proof_that_finishes_is_the_same_too(monkeypatch, here):
    monkeypatch.undo()
    monkeypatch.setattr(jobs, "_jobs", lambda *_: lambda function, asked: [function(*each) for each in asked])
    network = workloads.load("vgg16")
    one, many = (QUESTIONS["explore"](network, workers=count) for count in (1, 3))
    assert one.status == "optimal" and many.to_json() == one.to_json()


FORKED = """
import os, signal
from contextlib import ExitStack
from threading import Thread, Event
from cocco.exploration.workers.processes import Processes, may_fork
from cocco.effort.stages import PROGRESS, tell, watched_by

def seen(number):
    tell("a stage that nobody is to hear")
    return number, os.getpid(), signal.getsignal(signal.SIGINT) is signal.SIG_IGN

if __name__ == "__main__":
    end = Event()
    with ExitStack() as stack:
        stack.enter_context(watched_by(lambda stage: print(stage.name)))
        run = Processes(2, stack).run
        answers = [*run(seen, [(1,), (2,)]), *run(seen, [(3,), (4,)])]
    processes = {process for _, process, _ in answers}
    print([number for number, *_ in answers], os.getpid() in processes, len(processes) <= 2)
    print(all(is_ignored for *_, is_ignored in answers), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    print(may_fork())
    for name in (PROGRESS, "another"):
        Thread(target=end.wait, name=name).start()
        print(may_fork())
    end.set()
"""


@pytest.mark.skipif(multiprocessing.get_all_start_methods()[0] != "fork", reason="processes are not copied here")
def test_workers_that_are_copies_answer_in_order_and_leave_ctrl_c_and_stages_alone(tmp_path):
    """They stay from one call to the next; with threads that nobody knows there are none."""
    (tmp_path / "forked.py").write_text(FORKED)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "forked.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[1, 2, 3, 4] False True", "True True", "True", "True", "False"]


@pytest.mark.slow
def test_processes_give_the_same_answer():
    network = workloads.load("googlenet")
    one, two = (cocco.explore(network, samples=300, workers=count) for count in (1, 2))
    assert one.to_json() == two.to_json()


def test_a_worker_remembers_problems_and_what_it_worked_out():
    first, again, other = (on_hardware(chain(4), Accelerator(shared_buffer=size)) for size in (4096, 4096, 8192))
    seen = [worker.in_worker(Floors, (each,)).problem for each in (first, again, other)]
    assert seen[0] is seen[1] and seen[1] is not seen[2]


def test_workers_are_counted():
    with pytest.raises(ValueError, match="workers"):
        cocco.explore(chain(4), workers=0)
