"""docs/experiments.md shows what experiments/reference/ holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import tables
from experiments.traffic_tables import PAGES

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


@pytest.mark.parametrize("place", range(len(tables.TABLES)))
def test_page_has_the_table_of_the_reference(place: int):
    assert tables.TABLES[place]() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "table"), [(page, each) for page, found in PAGES.items() for each in found])
def test_pages_on_kept_tensors_have_the_tables_of_the_reference(page: str, table: Callable[[], str]):
    assert table() in PAGE.with_name(page).read_text(encoding="utf-8")


def test_every_reference_is_finite_and_ours_is_beside_the_papers():
    """A difference is ours / the paper's - 1."""
    for name in ("coexploration_separate", "coexploration_shared"):
        table = tables.reference(name)
        told = table[table["paper_cost"].notna()]
        assert len(told) > 10
        assert (told["cost_difference"] - (told["cost"] / told["paper_cost"] - 1)).abs().max() < 1e-12
