"""--mapper of partition and explore, and the report of such a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workloads
from cocco import explore
from cocco.mapping import MAPPERS, Rules
from cocco.mapping.mapper import Cosa, mapper_from_json
from simulator import Accelerator
from tests.helpers.command_line import answer, cocco
from workloads import Builder

pytestmark = pytest.mark.usefixtures("undrawn")

FEW = ("--samples", "20", "--seed", "1")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    b = Builder("small")
    x = b.conv("first", b.input("x", 24, 24, 16), 16, 3, padding=1)
    b.conv("second", x, 16, 3, padding=1)
    workloads.save(b.build(), tmp_path / "small.json")
    return tmp_path / "small.json"


@pytest.mark.parametrize("name", ["tiled", "cosa"])
def test_explore_searches_with_the_mapper_and_report_reads_the_folder(small: Path, tmp_path: Path, name: str):
    run = tmp_path / "run"
    finished = cocco("explore", small, *FEW, "--mapper", name, "-o", run, "--json")
    found = answer(finished)
    same = explore(workloads.load(str(small)), samples=20, seed=1, mapper=MAPPERS[name])
    assert found["totals"]["energy_pj"] == same.evaluations[0].energy_pj
    assert mapper_from_json(found["accelerator"]["mapper"]) == MAPPERS[name]
    kept = json.loads((run / "result.json").read_text())
    assert (kept["settings"]["mapper"], kept["engine"]) == (name, "reference")
    assert f"--mapper {name}" in finished.stderr.split("Prove it by execution:")[1]
    assert cocco("report", run).returncode == 0
    assert f"mapper {name}" in (run / "report.html").read_text()


def test_partition_prices_with_the_mapper_and_the_default_is_not_mentioned(small: Path, tmp_path: Path):
    plan = tmp_path / "p.json"
    found = answer(cocco("partition", small, *FEW, "--metric", "energy", "--mapper", "cosa", "-o", plan, "--json"))
    again = answer(cocco("evaluate", small, "--partition", plan, "--mapper", "cosa", "--json"))
    assert (found["totals"], found["accelerator"]) == (again["totals"], again["accelerator"])
    assert "mapper cosa" in cocco("evaluate", small, "--partition", plan, "--mapper", "cosa").stdout
    default = cocco("partition", small, *FEW, "--json")
    assert "mapper" not in default.stdout and "--mapper" not in default.stderr


def test_a_mapper_is_read_as_it_was_written():
    for mapper in (MAPPERS["tiled"], Cosa(Rules(halo="exact", multicast=True), 3.0)):
        content = json.loads(json.dumps(Accelerator(shared_buffer=1, mapper=mapper).to_json()))["mapper"]
        assert mapper_from_json(content) == mapper
        for bad in (content | {"name": "mine"}, content | {"more": 1}, {}):
            with pytest.raises(ValueError, match="mapper must be one of enumerate, tiled, cosa"):
                mapper_from_json(bad)
    rules = {"halo": "exact", "multicast": []}
    for limit, wrong in ((0, {}), ("x", {}), (1.0, {"halo": "near"}), (1.0, rules), (1.0, {"depth": 1})):
        with pytest.raises((TypeError, ValueError)):
            mapper_from_json({"rules": wrong, "limit": limit, "name": "cosa"})
