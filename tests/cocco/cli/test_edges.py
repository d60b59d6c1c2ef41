"""What the command line says of the range that it searched."""

from __future__ import annotations

import json

import pytest

import workloads
from tests.helpers.command_line import answer, cocco
from tests.helpers.search_graphs import chain

pytestmark = pytest.mark.usefixtures("undrawn")

SEARCH = ("--samples", "60", "--effort", "quick")


@pytest.fixture
def small(tmp_path):
    """Return the path of a network whose optimum is below the smallest default size."""
    workloads.save(chain(4), tmp_path / "small.json")
    return str(tmp_path / "small.json")


def test_the_default_range_goes_on_and_a_given_one_says_what_to_ask(small, tmp_path):
    found = cocco("explore", small, *SEARCH)
    assert "  range           " in found.stdout and "it went on beyond 128 KB to 3072 KB" in found.stdout
    given = cocco("explore", small, *SEARCH, "--range", "128KB:3072KB:64KB")
    assert (
        "  range           128 KB is the smallest asked, smaller ones may be better: --range 32KB:128KB:4KB"
        in given.stdout
    )
    both = cocco("explore", small, *SEARCH, "--separate", "--range", "128KB:256KB:64KB", "--range", "4KB:8KB:4KB")
    assert "global buffer: 128 KB is the smallest asked" in both.stdout
    assert "--separate --range 32KB:128KB:4KB --range 4096:8192:4096" in " ".join(both.stdout.split())
    plain = answer(cocco("explore", small, "--samples", "2000", "--plain", "--json"))
    assert plain["shared_buffer_bytes"] == 131072 and [each["end"] for each in plain["edges"]] == ["low"]


def test_a_run_beyond_the_default_range_is_read_and_proved_again(small, tmp_path):
    """Its memory is a candidate of the range that the answer names; a range that lacks it is refused."""
    run = tmp_path / "run"
    cocco("explore", small, *SEARCH, "-o", run)
    assert cocco("evaluate", run, "--prove").returncode == 0
    path = run / "result.json"
    content = json.loads(path.read_text())
    del content["result"]["searched"]["shared_buffer"]["least"]
    path.write_text(json.dumps(content))
    refused = cocco("evaluate", run)
    assert refused.returncode == 2 and "none of its candidates" in refused.stderr


def test_the_range_is_asked_whether_its_unit_was_forgotten(small):
    finished = cocco("explore", small, "--range", "128:3072:64", *SEARCH)
    assert (
        "cocco: note: --range 128:3072:64 is 128:3072:64 bytes, because a number without a unit is one of bytes; "
        "128KB:3072KB:64KB would be 128:3072:64 KB"
    ) in finished.stderr
    assert "note: --range" not in cocco("explore", small, "--range", "8192:65536:8192", *SEARCH).stderr
