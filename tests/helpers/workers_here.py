"""Workers that are this process: what they would be given, packed and checked as on its way to another one."""

from __future__ import annotations

from typing import Any

import pytest

from cocco.exploration.workers import jobs, worker
from cocco.exploration.workers.outside import refuted


def workers_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let workers be this process, and return a list that gets how many work units each call gives them."""
    given: list[int] = []

    def run(function: Any, asked: Any) -> list[Any]:
        given.append(len(asked))
        found = [worker.in_worker(function, each) for each in asked]
        assert [refuted(each, answer) for each, answer in zip(asked, found)] == [""] * len(asked)
        return found

    monkeypatch.setattr(jobs, "_jobs", lambda *_: run)
    return given
