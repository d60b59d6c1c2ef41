"""--mapper in the commands that choose a memory: what they answer is what evaluate says with that mapper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import answer, cocco
from tests.helpers.tiny_network import write_tiny

SEARCH = ("--range", "64KB:256KB:64KB", "--samples", "60", "--mapper", "tiled", "--json")


@pytest.fixture
def network(tmp_path: Path) -> str:
    return write_tiny(tmp_path / "tiny.json")


def totals(network: str, point: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What evaluate says of the plan and the memory of a point."""
    plan = folder / "plan.json"
    keep = [{key: each[key] for key in ("tensor", "from", "until")} for each in point.get("keep", [])]
    plan.write_text(json.dumps({"subgraphs": point["partition"], "keep": keep}))
    words = ("--partition", plan, "--shared-buffer", point["shared_buffer_bytes"], "--mapper", "tiled", "--json")
    found: dict[str, Any] = answer(cocco("evaluate", network, *words))["totals"]
    return found


def test_a_front_is_priced_with_the_mapper(network: str, tmp_path: Path):
    found = answer(cocco("pareto", network, "--objectives", "capacity,latency", *SEARCH))
    for point in found["front"]:
        assert point["latency_cycles"] == totals(network, point, tmp_path)["latency_cycles"]
    assert ", mapper tiled" in cocco("pareto", network, *SEARCH[:-1]).stdout.splitlines()[0]


def test_the_least_under_a_limit_is_priced_with_the_mapper(network: str, tmp_path: Path):
    limit = ("--minimize", "energy", "--limit", "capacity=128KB")
    point = answer(cocco("explore", network, *limit, *SEARCH))
    assert point["energy_pj"] == totals(network, point, tmp_path)["energy_pj"]
    alone = answer(cocco("evaluate", network, "--partition", "layerwise", "--mapper", "tiled", "--json"))
    assert point["accelerator"]["mapper"] == alone["accelerator"]["mapper"]


def test_the_least_capacity_of_a_plan_is_one_on_which_it_runs_with_the_mapper(network: str):
    found = answer(cocco("capacity", network, "layerwise", "--mapper", "tiled", "--json"))
    words = ("--partition", "layerwise", "--mapper", "tiled", "--json", "--shared-buffer")
    assert cocco("evaluate", network, *words, found["runs"]["shared_buffer"]).returncode == 0
