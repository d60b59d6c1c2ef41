"""Partition and hardware files with bytes changed, cut or doubled: they load, or one line says why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
import workloads
from simulator import Accelerator, Partition, load_accelerator
from simulator.hardware_files import hardware_text

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"
NETWORK = workloads.load("resnet50")
CHIP = Accelerator(shared_buffer=2**20)
PIECES = [
    b"*",
    b"..",
    b"?",
    b"[",
    b"]",
    b"-",
    b":",
    b"{",
    b"null",
    b"greedy",
    b"keep",
    b"until",
    b"1e999",
    b"\x00",
    b"\xff",
    b"s1b1_a",
    b"9",
]


def mutated(data: bytes, draw) -> bytes:
    for _ in range(draw(st.integers(0, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
        piece = draw(st.sampled_from([*PIECES, data[at : at + 40]]))
        data = data[:at] + piece + data[at + length :]
    return data


def check(load, kind: type) -> None:
    """The file gives one of these, or is refused in one line that a terminal can show."""
    try:
        found = load()
    except ValueError as error:
        assert str(error) and "\n" not in str(error) and len(str(error)) < 20_000
    else:
        assert isinstance(found, kind)


@pytest.mark.slow
@settings(deadline=None, max_examples=5000)
@given(st.data())
def test_many_mutated_files_load_or_say_why_not(tmp_path_factory, data):
    fuzz(tmp_path_factory.getbasetemp(), data)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_mutated_files_load_or_say_why_not(tmp_path_factory, data):
    fuzz(tmp_path_factory.getbasetemp(), data)


def fuzz(folder: Path, data) -> None:
    suffix = data.draw(st.sampled_from([".yaml", ".json"]))
    if data.draw(st.booleans()):
        path = folder / f"plan{suffix}"
        source = EXAMPLES / data.draw(st.sampled_from(["deep.yaml", "kept.yaml"]))
        path.write_bytes(mutated(source.read_bytes(), data.draw))
        check(lambda: cocco.load_partition(path, NETWORK, CHIP), Partition)
    else:
        path = folder / f"chip{suffix}"
        path.write_bytes(mutated(hardware_text(CHIP).encode(), data.draw))
        check(lambda: load_accelerator(path), Accelerator)
