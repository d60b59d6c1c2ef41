"""Limits with kept tensors where no proof finishes: searched as `explore` searches."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.exploration.memories import limits as of_memories
from tests.helpers.parts import first_of

LIMITS = {"latency-sum": 12_000_000.0}


@pytest.mark.parametrize(("most", "samples"), first_of([(768, 100), (1024, 300)], 1))
def test_the_least_energy_is_searched_with_kept_tensors(
    most: int, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a proof it is what keeps the limits, at less energy than with nothing kept, and never below the bound."""
    network = workloads.load("resnet50")
    asked = {"space": cocco.SharedBuffer(512 * 2**10, most * 2**10, 256 * 2**10), "samples": samples}
    proven, plain = (cocco.minimize(network, "energy", LIMITS, **asked, keep=keep) for keep in ("auto", "none"))
    monkeypatch.setitem(of_memories.PROOF_STEPS, "auto", (64, *of_memories.PROOF_STEPS["auto"][1:]))
    found = cocco.minimize(network, "energy", LIMITS, **asked)
    assert proven.status == "optimal" and found.status == "feasible"
    for each in (plain, found, proven):
        assert each.best is not None and each.lower_bound is not None
        assert each.best.values[found.objectives.index("latency-sum")] <= LIMITS["latency-sum"]
    energies = [each.best.values[each.objectives.index("energy")] for each in (proven, found, plain) if each.best]
    assert energies[0] * (1 - 1e-9) <= energies[1] < 0.9 * energies[2]
    assert found.lower_bound is not None and found.lower_bound <= energies[0] * (1 + 1e-9)
    assert found.samples > plain.samples
    assert any(plan.keep for plan in found.best.plans)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", first_of(["vgg16", "googlenet"], 1))
def test_nothing_is_kept_where_nothing_may_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the proof ends early: what is searched then would keep tensors."""
    network = workloads.load(name)
    space = cocco.SharedBuffer(256 * 2**10, 256 * 2**10, 2**10)
    monkeypatch.setitem(of_memories.PROOF_STEPS, "none", (64, *of_memories.PROOF_STEPS["none"][1:]))
    found = cocco.minimize(network, "energy", {"latency-sum": 1e8}, space=space, samples=100, keep="none")
    assert found.status == "feasible" and found.best is not None
    assert not any(plan.keep for plan in found.best.plans)
