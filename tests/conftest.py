"""Settings of the property tests: no time limit per example, because the machine may be shared. Memory comes back."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """Set all that was collected apart, so that looking for what is no longer used passes over it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _free_what_a_file_leaves() -> Iterator[None]:
    """Pricers and their memos refer to each other; few as they are, Python would look for them after gigabytes."""
    yield
    gc.collect()
