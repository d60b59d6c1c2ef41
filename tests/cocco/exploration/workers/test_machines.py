"""Workers of a dask scheduler: the same answer, from workers made as this machine is, or one line."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import cocco
import workloads
from cocco.candidates.code import difference, made_by
from cocco.exploration.memories.solved import Solved, solve
from cocco.exploration.searching.founders import greedy_in
from cocco.exploration.searching.improve import first_plans, improve_plans
from cocco.exploration.workers import machines
from cocco.exploration.workers.machines import Machines, MachinesError
from cocco.exploration.workers.outside import refuted
from cocco.problem.problem import in_memory, on_hardware, over_space
from simulator import Accelerator
from tests.helpers.command_line import ROOT
from tests.helpers.dask_cluster import another_build, scheduler, worker
from tests.helpers.search_graphs import chain


@pytest.fixture
def patient(monkeypatch):
    """Wait for workers, which take their time to begin on a busy machine."""
    pytest.importorskip("distributed", reason="needs the extra 'dask'")
    monkeypatch.setattr(machines, "ANSWER_SECONDS", 60.0)


def test_what_differs_is_named():
    ours = made_by()
    assert difference(dict(ours)) == ""
    assert difference({**ours, "numpy": "0", "compiled": "not built"}).startswith("compiled not built (here ")
    assert f"numpy 0 (here {ours['numpy']})" in difference({**ours, "numpy": "0"})
    assert difference(ModuleNotFoundError("no cocco")).startswith("no cocco that says what made it")


def test_workers_of_a_scheduler_give_the_same_answer_and_another_build_is_refused(patient, tmp_path: Path):
    """One that is there when a search starts, and one that joins while it runs; then one that knows no fingerprints."""
    network, build = workloads.load("vgg16"), another_build(tmp_path)
    asked = {"space": cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 256 * 2**10), "samples": 300, "seed": 3}
    one = cocco.explore(network, **asked)
    refusal = (
        r"^dask scheduler \S+: worker \S+ has code [0-9a-f]{8} \(here [0-9a-f]{8}\); install the same there as here$"
    )
    with scheduler() as (address, cluster):
        worker(cluster, address)
        assert cocco.explore(network, workers=2, dask=address, **asked).to_json() == one.to_json()
        with ExitStack() as search:
            run = Machines(address, search).run
            other = worker(cluster, address, build)
            with pytest.raises(MachinesError, match=refusal):
                run(time.sleep, [(60.0,)])
        with pytest.raises(MachinesError, match=refusal):
            cocco.explore(network, workers=2, dask=address, **asked)
        other.kill()
        other.wait()
        (build / "cocco" / "candidates" / "code.py").unlink()
        worker(cluster, address, build)
        with ExitStack() as search, pytest.raises(MachinesError, match="has no cocco that says what made it"):
            Machines(address, search).run(time.sleep, [(60.0,)])


@pytest.mark.slow
def test_workers_and_a_scheduler_that_go_away_are_one_line(patient, monkeypatch):
    with scheduler() as (address, cluster), ExitStack() as search:
        only = worker(cluster, address)
        first, second = (Machines(address, search).run for _ in range(2))
        monkeypatch.setattr(machines, "ANSWER_SECONDS", 2.0)
        threading.Timer(0.5, only.kill).start()
        with pytest.raises(MachinesError, match=r"^dask scheduler \S+: has no workers any more$"):
            first(time.sleep, [(60.0,)])
        threading.Timer(0.5, cluster.close).start()
        with pytest.raises(MachinesError, match=r"^dask scheduler \S+: went away$"):
            second(time.sleep, [(60.0,)])
        with pytest.raises(MachinesError, match="does not answer"):
            cocco.explore(chain(4), workers=2, dask=address)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_address_with_certificates_is_taken(patient, tmp_path: Path, monkeypatch):
    """The configuration of dask names them; without them nobody answers."""
    files = {"ca-file": tmp_path / "ca.pem", "cert": tmp_path / "ca.pem", "key": tmp_path / "key.pem"}
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=cocco"]
    subprocess.run([*command, "-keyout", files["key"], "-out", files["cert"]], capture_output=True, check=True)
    tls = {"ca-file": str(files["ca-file"])}
    tls |= {f"{who}.{name}": str(files[name]) for who in ("scheduler", "worker", "client") for name in ("cert", "key")}
    for name, value in tls.items():
        key = name.upper().replace("-", "_").replace(".", "__")
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{key}", value)
    with scheduler("tls") as (address, cluster):
        worker(cluster, address)
        words = ["explore", "vgg16", "--keep", "none", "--samples", "300", "--workers", "2", "--dask", address]
        command = [sys.executable, "-m", "cocco.cli", *words]
        assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=False).returncode == 0
        with pytest.raises(MachinesError, match="does not answer"):
            cocco.explore(chain(4), workers=2, dask=address)


def test_prices_and_proofs_that_do_not_hold_are_refuted():
    problem = over_space(chain(4), cocco.SharedBuffer(4096, 16384, 4096), metric="ema", alpha=1.0, keep="auto")
    asked = (problem, (1,), "reference", 10**6, float("inf"))
    true = solve(*asked)
    best = true.best
    assert best is not None and true.is_decided and refuted(asked, true) == ""
    lies = {
        "cost of its plan": true._replace(best=best._replace(cost=best.cost - 1)),
        "value of its plan": true._replace(best=best._replace(value=best.value + 1)),
        "is of memory": true._replace(best=best._replace(memory=(2,))),
        "no plan is to cost less than inf": Solved(None, True, 1),
        "no plan is to cost less than": Solved(None, False, 1, 1e12),
    }
    for words, lie in lies.items():
        assert words in refuted(asked, lie)
    assert refuted(asked, Solved(None, False, 1, 1.0)) == ""


def test_improved_plans_are_priced_again():
    problem = on_hardware(chain(4), Accelerator(shared_buffer=8192))
    asked = (problem, first_plans(problem, engine="reference"), 1000, 0, "reference")
    true = improve_plans(*asked)
    assert refuted(asked, true) == ""
    assert "cost of its plan" in refuted(asked, true._replace(cost=true.cost - 1))
    assert refuted((problem, (), "reference", 100), greedy_in(in_memory(problem, ()), (), "reference", 10**6)) == ""
