"""Fronts with kept tensors where no proof finishes: never above the front without."""

from __future__ import annotations

import cocco
import workloads
from cocco.exploration.searching import front as kept_pareto

SPACE = cocco.SharedBuffer(512 * 2**10, 1024 * 2**10, 256 * 2**10)


def test_a_front_is_never_above_the_one_without(monkeypatch):
    monkeypatch.setattr(kept_pareto, "KEPT_STEPS", 64)
    network = workloads.load("resnet50")
    plain, found = (cocco.pareto(network, space=SPACE, samples=500, keep=keep) for keep in ("none", "auto"))
    assert found.status == "feasible"
    for point in plain.found:
        assert any(all(a <= b for a, b in zip(each.values, point.values)) for each in found.found)
    assert any(plan.keep for point in found.found for plan in point.plans)
    assert found.to_json()["front"][-1]["keep"]


def test_three_objectives_and_separate_buffers():
    small = cocco.Range(256 * 2**10, 512 * 2**10, 256 * 2**10)
    asked = {"space": cocco.SeparateBuffers(small, small), "objectives": ("capacity", "energy", "latency-sum")}
    network = workloads.load("vgg16")
    plain, found = (cocco.pareto(network, **asked, samples=300, keep=keep) for keep in ("none", "auto"))
    for point in plain.found:
        assert any(all(a <= b for a, b in zip(each.values, point.values)) for each in found.found)
    assert found.status == "feasible", "three criteria are not proven"
