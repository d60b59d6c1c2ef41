"""What a search saw: rows in arrays that grow, tables that are made when they are read."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cocco
from cocco.exploration.searching import divided_search
from cocco.search.pricing.samples import Rows
from simulator import Accelerator
from tests.helpers.search_graphs import chain


def test_rows_are_those_appended_in_order():
    rows = Rows({"one": np.zeros(0, np.int32), "two": np.zeros((0, 2))})
    added = [(np.arange(n), np.full((n, 2), float(n))) for n in (0, 3, 1, 7, 0, 40)]
    for each in added:
        rows.append(*each)
    expected = {"one": np.concatenate([one for one, _ in added]), "two": np.concatenate([two for _, two in added])}
    assert rows.count == 51 and rows.columns.keys() == expected.keys()
    for name, column in rows.columns.items():
        assert (column == expected[name]).all()
    assert rows.columns["one"].dtype == np.int32


class Pressed:
    """A column of a row in which Ctrl-C is pressed."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise KeyboardInterrupt


@pytest.mark.parametrize("before", [0, 1, 5])
def test_ctrl_c_in_the_midst_of_a_row_leaves_it_out(before):
    rows = Rows({"one": np.zeros(0), "two": np.zeros(0)})
    for value in range(before):
        rows.append(np.array([value]), np.array([value]))
    with pytest.raises(KeyboardInterrupt):
        rows.append(np.array([7.0]), Pressed())  # type: ignore[arg-type]
    rows.append(np.array([8.0]), np.array([9.0]))
    assert rows.columns["one"].tolist() == [*range(before), 8]
    assert rows.columns["two"].tolist() == [*range(before), 9]


def test_nothing_is_made_of_the_samples_that_nobody_reads(monkeypatch):
    """Of millions of samples that would take seconds after Ctrl-C. A search in one process packs nothing either."""
    monkeypatch.setattr(divided_search, "LEAST_DIVIDED", 100)
    with monkeypatch.context() as patched:
        patched.setattr(json, "dumps", None)
        chip = Accelerator(shared_buffer=4096)
        result = cocco.partition(chain(4), chip, method="ga", keep="none", samples=600)
    result.to_json()
    assert not {"points", "history"} & vars(result.seen).keys()
    assert result.points is result.points and len(result.points) > 300
    assert result.history is result.history and int(result.history["samples"].iloc[-1]) <= 600
