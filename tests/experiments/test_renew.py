"""One command makes all tables anew: scripts in full, one after another, and none twice by the same code."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import cocco
import workloads
from cocco.candidates.code import made_by
from experiments import renew
from experiments.common import least_traffic, searches
from simulator import Accelerator


@pytest.fixture()
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "production_centric.csv").write_text("old\n")
    monkeypatch.setattr(renew, "REFERENCE", folder)
    monkeypatch.setattr(renew, "MADE", folder / "made.json")
    monkeypatch.setattr(renew, "AIMED", {})
    monkeypatch.setattr(renew.least_known, "lower", lambda plans: iter([f"lowered with {plans.name}"]))
    monkeypatch.setattr(renew.pages, "write", lambda: iter([]))
    monkeypatch.setattr(renew.pages, "PICTURES", tmp_path)
    monkeypatch.setenv(searches.LEFT, "")
    return folder


def test_each_reference_table_has_a_script_and_the_quickest_is_first():
    """Of the tables of today, most by the script of their name alone; made.json names what would make them again."""
    found = renew.scripts()
    seconds = [importlib.import_module(f"experiments.{words[0]}").EXPERIMENT.seconds.full for words in found.values()]
    assert seconds == sorted(seconds) and len(found) > 20
    assert {name for name, words in found.items() if words != (name,)} == {*renew.AIMED}
    for name, made in json.loads(renew.MADE.read_text(encoding="utf-8")).items():
        assert made["command"] == f"python -m experiments.{' '.join(found[name])}"


def test_a_table_is_made_once_by_one_code(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    out = str(tmp_path / "out")
    monkeypatch.setattr(renew.cross_check, "beaten", list)
    assert renew.main(["-o", out]) == 0
    text = (reference / "production_centric.csv").read_text()
    assert text.startswith("network,tile,block,") and "lowered with plans" in capsys.readouterr().out
    assert json.loads((reference / "made.json").read_text()) == {
        "production_centric": {"command": "python -m experiments.production_centric", "code": made_by()["code"]}
    }
    (reference / "production_centric.csv").write_text("of this code, some rows lowered\n")
    assert renew.main(["-o", out]) == 0
    assert (reference / "production_centric.csv").read_text().startswith("of this code")
    (reference / "made.json").write_text('{"production_centric": {"code": "another"}}')
    assert renew.main(["-o", out]) == 0
    assert (reference / "production_centric.csv").read_text() == text


def test_a_row_that_is_beaten_and_a_script_that_fails_are_heard_of(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(renew.cross_check, "beaten", lambda: ["a row"])
    monkeypatch.setattr(renew.cross_check, "shown", lambda: "a row is beaten")
    assert renew.main(["-o", str(tmp_path / "out")]) == 1
    (reference / "made.json").unlink()
    (tmp_path / "file").write_text("")
    assert renew.main(["-o", str(tmp_path / "file")]) == 2 and not (reference / "made.json").exists()


def test_scripts_leave_their_plans_and_start_from_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same row with plans beside it as without; the plan is in the bank then."""
    point = {"network": "randwire_a", "bytes": 512 * 1024, "samples": 100, "seed": 0}
    alone = least_traffic.tiled(point)
    monkeypatch.setenv(searches.LEFT, str(tmp_path))
    assert least_traffic.tiled(point) == least_traffic.tiled({**point}) == alone
    network, chip = workloads.load("randwire_a"), Accelerator(shared_buffer=512 * 1024)
    found = cocco.partition(
        network, chip, metric="ema", keep="none", method="ga", samples=101, bank=cocco.Bank(None, (tmp_path,))
    )
    assert len(found.bank) == 1 and found.evaluation.ema_bytes <= alone["tiles_bytes"]
